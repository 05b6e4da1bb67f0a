"""JSON values in command text: exact, strict, and never silently changed."""

from __future__ import annotations

import json

import pytest

from kip.errors import KipError
from kip.lang import ast, parse


def read(text: str) -> ast.Json:
    command = parse(f'UPSERT {{ CONCEPT {{ {{id: "C:1"}} SET ATTRIBUTES {{ v: {text} }} }} }}')
    assert isinstance(command, ast.Upsert)
    block = command.statements[0].blocks[0]
    assert isinstance(block.attributes, ast.Literal)
    assert isinstance(block.attributes.value, dict)
    return block.attributes.value["v"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-0", 0),
        ("-12", -12),
        ("1.0", 1.0),
        ("-0.5e-3", -0.0005),
        ("1E+2", 100.0),
        ("18446744073709551617", 18446744073709551617),
        ("-9223372036854775809", -9223372036854775809),
        ("9007199254740993", 9007199254740993),
        ("1" + "0" * 3999, 10**3999),
        ("1.7976931348623157e308", 1.7976931348623157e308),
        ("1e-999", 0.0),
        ("0." + "1" * 5000, 0.1111111111111111),
        ("true", True),
        ("false", False),
        ("null", None),
        ('""', ""),
        ('"caf\\u00e9 \\ud83d\\ude00 \\"\\\\\\/\\b\\f\\n\\r\\t"', 'café 😀 "\\/\b\f\n\r\t'),
        ('"\u2028 \u00a0 \ufeff \u007f"', "\u2028 \u00a0 \ufeff \u007f"),
        ('"// no comment :p ?x { "', "// no comment :p ?x { "),
        ("[]", []),
        ("[1, [2.5], ]", [1, [2.5]]),
        ('{a: 1, "b c": {_x9: []}, "": null, }', {"a": 1, "b c": {"_x9": []}, "": None}),
        ("{a:true,b:false,c:null}", {"a": True, "b": False, "c": None}),
        ("{ // one\n a: 1 // two\n }", {"a": 1}),
        ('{true: 1, FIND: 2, null: "x"}', {"true": 1, "FIND": 2, "null": "x"}),
    ],
)
def test_values(text: str, value: ast.Json) -> None:
    found = read(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "code", "message", "hint"),
    [
        ("01", "KIP_1001", "malformed number '01'", "leading zero"),
        ("-01", "KIP_1001", "malformed number", "leading zero"),
        ("+1", "KIP_1001", "malformed number", "'+'"),
        (".5", "KIP_1001", "malformed number", "both sides of the point"),
        ("1.", "KIP_1001", "malformed number", "both sides of the point"),
        ("1e", "KIP_1001", "malformed number", "JSON numbers"),
        ("0x1F", "KIP_1001", "malformed number", "JSON numbers"),
        ("1_000", "KIP_1001", "malformed number", "JSON numbers"),
        ("1e999", "KIP_2003", "too large", "1.8e308"),
        ("-1e999", "KIP_2003", "too large", "1.8e308"),
        ("1" * 4001, "KIP_2003", "more than 4000 digits", "as a string"),
        ("-" + "1" * 4001, "KIP_2003", "more than 4000 digits", "as a string"),
        ("9" * 1_000_000 + ".5", "KIP_2003", "too large", "1.8e308"),
        ("NaN", "KIP_1001", "found 'NaN'", "null or a string"),
        ("-Infinity", "KIP_1001", "found '-'", "no -Infinity"),
        ('"\\ud83d"', "KIP_2003", "half of a surrogate pair", "both halves"),
        ('"\\ude00\\ud83d"', "KIP_2003", "half of a surrogate pair", "both halves"),
        ('{"\\ud83d": 1}', "KIP_2003", "half of a surrogate pair", "both halves"),
        ('"\ud83d"', "KIP_2003", "half of a surrogate pair", "U+FFFD"),
        ('"a\nb"', "KIP_1001", "a line break inside a string", "\\n"),
        ('"a\tb"', "KIP_1001", "a tab inside a string", "\\t"),
        ('"a\x00b"', "KIP_1001", "a control character inside a string", "\\u"),
        ('"\\x41"', "KIP_1001", "escape that JSON does not know", "\\uXXXX"),
        ('"\\u12G4"', "KIP_1001", "escape that JSON does not know", "\\uXXXX"),
        ('"open', "KIP_1001", "a string without its closing quote", "'\"'"),
        ('"open\\', "KIP_1001", "a string without its closing quote", "'\"'"),
        ("{a: 1, a: 2}", "KIP_1001", "'a' stands twice", "Keep one"),
        ('{a: 1, "\\u0061": 2}', "KIP_1001", "'a' stands twice", "Keep one"),
        ("[{b: {c: 1, c: 2}}]", "KIP_1001", "'c' stands twice", "Keep one"),
        ("[1,,2]", "KIP_1001", "expected a value, found ','", ""),
        ("[,]", "KIP_1001", "expected a value, found ','", ""),
        ("{,}", "KIP_1001", "expected a key, found ','", ""),
        ("[1 2]", "KIP_1001", "expected ',' or ']'", "closed by ']'"),
        ("{a 1}", "KIP_1001", "expected ':'", "colon"),
        ("{1a: 1}", "KIP_1002", "illegal key '1a'", '"1a"'),
        ("{a-b: 1}", "KIP_1002", "illegal key 'a-b'", '"a-b"'),
        ("{é: 1}", "KIP_1002", "illegal key 'é'", '"é"'),
        ("{:p: 1}", "KIP_1001", "expected a key, found :p", "cannot be a placeholder"),
        (":1p", "KIP_1002", "illegal placeholder ':1p'", ":limit"),
        (":a-b", "KIP_1002", "illegal placeholder ':a-b'", ":limit"),
        ("?x", "KIP_1001", "expected a value, found ?x", "variable cannot stand here"),
    ],
)
def test_refused_values(text: str, code: str, message: str, hint: str) -> None:
    with pytest.raises(KipError) as raised:
        read(text)
    assert raised.value.code == code
    assert message in raised.value.message
    assert hint in raised.value.hint


def test_json_text_of_any_shape_is_read_as_json_reads_it() -> None:
    value = {"a": [1, -2.5e3, 'x\u0000\u001f\u007f😀\\"', None, True, {"": {}}], "b c": [[], {}], "é": "//"}
    assert read(json.dumps(value)) == value
    assert read(json.dumps(value, ensure_ascii=False, indent=2)) == value
