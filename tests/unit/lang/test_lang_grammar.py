"""grammar.ebnf is complete and speaks of the language that the parser reads."""

from __future__ import annotations

import re

from kip.lang import slips, words
from tests.conftest import ROOT

TEXT = re.sub(r"\(\*.*?\*\)", "", (ROOT / "kip" / "lang" / "grammar.ebnf").read_text(encoding="utf-8"), flags=re.DOTALL)
RULES = {rule.split("=", 1)[0].strip(): rule.split("=", 1)[1] for rule in re.split(r";\s*\n", TEXT) if "=" in rule}


def used_names() -> set[str]:
    bodies = " | ".join(re.sub(r"\"[^\"]*\"|'[^']*'|\?[^?]*\?", " , ", body) for body in RULES.values())
    return {" ".join(name.split()) for name in re.split(r"[\[\]{}()|,;*-]", pad_terms(bodies)) if name.strip()}


def pad_terms(text: str) -> str:
    """Rule names may hold blanks, and stand beside one another without a comma: mark each with a comma."""
    for name in sorted(RULES, key=len, reverse=True):
        text = re.sub(rf"(?<![\w~]){re.escape(name)}(?![\w~])", lambda match: f",{match[0].replace(' ', '~')},", text)
    return text.replace("~", " ")


def test_every_rule_that_is_used_is_defined_and_every_rule_is_used() -> None:
    assert used_names() <= RULES.keys()
    assert RULES.keys() - used_names() == {"command", "blank", "comment"}


def test_the_keywords_of_the_grammar_are_those_of_the_parser() -> None:
    terminals = set(re.findall(r"\"([A-Z_]+)\"", re.sub(r"(hex|escape)  .*", "", TEXT)))
    functions = {*words.AGGREGATES, *words.TESTS, *words.UPDATE_FUNCTIONS}
    assert terminals - {"E"} == words.KEYWORDS | functions


def test_every_place_that_the_parser_names_has_hints_or_is_general() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "kip" / "lang").glob("parse*.py"))
    named = set(re.findall(r"place=\"([^\"]+)\"", sources)) | set(
        re.findall(r", \"(condition|operand|describe|search)\"\)", sources)
    )
    general = {"argument", "after projection", "block", "filter", "link"}
    assert named - slips._PLACES.keys() <= general
    assert slips._PLACES.keys() - named <= {"colon"}
