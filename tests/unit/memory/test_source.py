"""Files and values become records; what cannot be read is reported in its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kip.errors import KipError
from kip.memory.adapters.source import records

RUN = {"goal": "g", "trace": []}
MESSAGES = [{"role": "user", "content": "x"}]


def values(source: Any) -> list[Any]:
    return [record.value for record in records(source)]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (RUN, [RUN]),
        ([RUN, RUN], [RUN, RUN]),
        (MESSAGES, [MESSAGES]),
        (json.dumps(RUN), [RUN]),
        (json.dumps([RUN, RUN], indent=1), [RUN, RUN]),
        (json.dumps(RUN, indent=1), [RUN]),
        (json.dumps(RUN).encode(), [RUN]),
        (f"{json.dumps(RUN)}\n\n{json.dumps(RUN)}\n", [RUN, RUN]),
        (f"{json.dumps(MESSAGES)}\n{json.dumps(MESSAGES)}", [MESSAGES, MESSAGES]),
        ("\n".join(json.dumps(message) for message in MESSAGES * 3), [MESSAGES * 3]),
        ("[\n1,\n2\n]", [1, 2]),
        (b"\xef\xbb\xbf" + json.dumps(RUN).encode(), [RUN]),
    ],
)
def test_shapes_of_a_source(source: Any, expected: list[Any]) -> None:
    assert values(source) == expected


def test_a_path_and_its_text_read_alike(tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    file.write_text(json.dumps([RUN]), encoding="utf-8")
    assert values(file) == values(str(file)) == [RUN]
    assert [record.where for record in records(file)] == ["runs.json[0]"]


@pytest.mark.parametrize(
    ("data", "code", "words"),
    [
        (b'{"goal": "x", "trace": [', "KIP_1001", "ends before"),
        (b'[{"goal": "x"}, {"goal": ', "KIP_1001", "ends before"),
        (b'{"goal": "x",, }', "KIP_1001", "line 1, column 14"),
        (b'["goal": "x"]', "KIP_1001", "not JSON"),
        (b"\xff\xfe{\x00}\x00", "KIP_1001", "not UTF-8 text (byte 0)"),
        (b"", "KIP_1001", "empty"),
        (b"  \n ", "KIP_1001", "empty"),
        (b'{"n": NaN}', "KIP_2003", "NaN"),
        (b'{"n": ' + b"9" * 5000 + b"}", "KIP_2003", "digits"),
        (b"[" * 100_000 + b"]" * 100_000, "KIP_2003", "nested"),
    ],
)
def test_a_source_that_cannot_be_read(tmp_path: Path, data: bytes, code: str, words: str) -> None:
    file = tmp_path / "bad.json"
    file.write_bytes(data)
    with pytest.raises(KipError) as caught:
        list(records(file))
    assert caught.value.code == code
    assert words in caught.value.message
    assert "bad.json" in caught.value.message


def test_one_bad_line_does_not_take_the_others_with_it(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    good = json.dumps(RUN).encode()
    file.write_bytes(b"\n".join([good, b'{"goal": "cut', b'{"goal": "\xff"}', good, b'{"goal":']))
    found = list(records(file))
    assert [record.value for record in found if record.error is None] == [RUN, RUN]
    assert [record.where for record in found if record.error] == [
        "runs.jsonl line 2",
        "runs.jsonl line 3",
        "runs.jsonl line 5",
    ]


@pytest.mark.parametrize("source", [[], "[]", b" [ ] "])
def test_a_source_without_records(source: Any) -> None:
    with pytest.raises(KipError, match="holds no record") as caught:
        list(records(source))
    assert caught.value.code == "KIP_2002"


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    for source in (tmp_path / "none.json", str(tmp_path / "none.json"), tmp_path):
        with pytest.raises(KipError) as caught:
            list(records(source))
        assert caught.value.code == "KIP_3002"


@given(st.binary())
def test_any_bytes_give_records_or_a_clean_error(data: bytes) -> None:
    try:
        codes = {record.error.code for record in records(data) if record.error}
    except KipError as error:
        codes = {error.code}
    assert codes <= {"KIP_1001", "KIP_2002", "KIP_2003"}
