"""Every fenced code block of SPECIFICATION.md that is KIP parses and, on a store that knows its types, runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from kip.errors import KipError
from kip.lang import parse
from tests.cases.runner import FACTORIES, Execute
from tests.conftest import ROOT, shared_path

_SPECIFICATION = ("reference", "kip-1.0-rc11", "SPECIFICATION.md")

STATEMENTS = ("FIND", "UPSERT", "UPDATE", "MERGE", "DELETE", "DESCRIBE", "SEARCH", "EXPORT")

SKETCHES = {
    "3.1 1",  # the skeleton of a query
    "4.1 1",  # the skeleton of UPSERT
    "4.3 1",  # the skeleton of UPDATE
    "4.4 1",  # the skeleton of MERGE
    "5.1.3 1",  # LIMIT N
    "5.1.5 1",  # LIMIT N
    "5.2 1",  # the grammar of SEARCH
    "5.3 1",  # the skeleton of EXPORT
}
"""Blocks that show a form with "..", <..> or N in it; no other block fails to parse, and all of these do."""

NO_KIP = {"text", "mermaid", "js", "json"}
"""Languages of blocks that are diagrams, requests and responses."""

REFUSED = {
    # It would change the definitions that the store was made with.
    "Appendix 2 1": "KIP_3004",
}
"""Blocks that run into an error of the store's state, with its code."""

PRELUDE = {
    "drug": '?drug {type: "Drug"}',
    "event": '?event {type: "Event"}',
    "node": '?node {type: "Drug"}',
}
"""What binds the variables of a block that is a piece of a WHERE clause, by name."""

PARAMETERS = {
    "v": 1,
    "merged_preferences": {"tone": "plain"},
    "decay_factor": 0.95,
    "timestamp": "2026-01-15T18:00:00Z",
    "stale_cutoff": "2026-01-01T00:00:00Z",
    "cycle_start": "2026-01-15T00:00:00Z",
    "pref_name": "short answers",
}

SETUP = """
UPSERT {
  CONCEPT ?t1 { {type: "$ConceptType", name: "Drug"} SET ATTRIBUTES { description: "A medicine." } }
  CONCEPT ?t2 { {type: "$ConceptType", name: "Symptom"} SET ATTRIBUTES { description: "A complaint." } }
  CONCEPT ?t3 { {type: "$ConceptType", name: "DrugClass"} SET ATTRIBUTES { description: "A family of medicines." } }
  CONCEPT ?t4 { {type: "$ConceptType", name: "Product"} SET ATTRIBUTES { description: "Something sold." } }
  CONCEPT ?t5 { {type: "$ConceptType", name: "SkillTopic"} SET ATTRIBUTES { description: "A field of skill." } }
  CONCEPT ?p1 { {type: "$PropositionType", name: "treats"} SET ATTRIBUTES { description: "Relieves." } }
  CONCEPT ?p2 { {type: "$PropositionType", name: "has_side_effect"} SET ATTRIBUTES { description: "May cause." } }
  CONCEPT ?p3 { {type: "$PropositionType", name: "belongs_to_class"} SET ATTRIBUTES { description: "Is one of." } }
  CONCEPT ?p4 { {type: "$PropositionType", name: "stated"} SET ATTRIBUTES { description: "Asserted." } }
  CONCEPT ?p5 { {type: "$PropositionType", name: "is_subclass_of"} SET ATTRIBUTES { description: "Is a kind of." } }
  CONCEPT ?p6 { {type: "$PropositionType", name: "manufactured_by"} SET ATTRIBUTES { description: "Made by." } }
}
UPSERT {
  CONCEPT ?c1 { {type: "DrugClass", name: "NSAID"} }
  CONCEPT ?c2 { {type: "DrugClass", name: "Nootropic"} }
  CONCEPT ?s1 { {type: "Symptom", name: "Headache"} }
  CONCEPT ?s2 { {type: "Symptom", name: "Fever"} }
  CONCEPT ?s3 { {type: "Symptom", name: "Brain Fog"} }
  CONCEPT ?s4 { {type: "Symptom", name: "Stomach Upset"} }
  CONCEPT ?maker { {type: "Person", name: "Bayer"} }
  CONCEPT ?alice { {type: "Person", name: "Alice"} }
  CONCEPT ?john { {type: "Person", name: "John Doe"} }
  CONCEPT ?medical { {type: "Domain", name: "Medical"} SET ATTRIBUTES { description: "Health." } }
  CONCEPT ?aspirin {
    {type: "Drug", name: "Aspirin"}
    SET ATTRIBUTES { risk_level: 3, risk_category: "low", old_id: 7 }
    SET PROPOSITIONS {
      ("treats", ?s1) WITH METADATA { confidence: 0.95, source: "untrusted_source_v1" }
      ("treats", ?s2)
      ("belongs_to_class", ?c1)
      ("has_side_effect", ?s4)
      ("belongs_to_domain", ?medical)
    }
  }
  CONCEPT ?vitamin { {type: "Drug", name: "Vitamin C"} SET ATTRIBUTES { risk_level: 1 } }
  CONCEPT ?old { {type: "Drug", name: "OutdatedDrug"} SET PROPOSITIONS { ("treats", ?s2) } }
  CONCEPT ?js { {type: "SkillTopic", name: "JS"} }
  CONCEPT ?javascript { {type: "SkillTopic", name: "JavaScript"} }
  CONCEPT ?taste { {type: "Preference", name: "short answers"} }
  CONCEPT ?talk { {type: "Event", name: "talk"} SET ATTRIBUTES { event_class: "Conversation" } }
  PROPOSITION { (?alice, "prefers", ?taste) }
  PROPOSITION { (?john, "stated", (?aspirin, "treats", ?s1)) } WITH METADATA { confidence: 0.8 }
}
"""


@dataclass(frozen=True)
class Block:
    """A fenced code block: ``id`` is its section and its place among the section's blocks."""

    id: str
    language: str
    text: str


def _blocks() -> Iterator[Block]:
    path = ROOT.parent.joinpath("shared", *_SPECIFICATION)
    if not path.exists():  # at collection; the tests then say so through shared_path
        return
    section, number = "", 0
    pattern = r"(?ms)^#{2,6} (?P<title>[^\n]*)$|^ *```(?P<language>\w*)\n(?P<body>.*?)^ *```$"
    for found in re.finditer(pattern, path.read_text(encoding="utf-8")):
        title = found["title"]
        if title is not None:
            numbered = re.match(r"(Appendix \d+|[A\d][\d.]*\d|\d)", title)
            # Sections without a number go on with the count of the one they are part of.
            if numbered:
                section, number = numbered[1], 0
            continue
        number += 1
        yield Block(f"{section} {number}", found["language"], found["body"])


BLOCKS = list(_blocks())
KIP_BLOCKS = [block for block in BLOCKS if block.language not in NO_KIP]
COMMAND_BLOCKS = [block for block in KIP_BLOCKS if block.id not in SKETCHES]


def commands_of(text: str) -> list[str]:
    """The commands of a block: its text, its statements one by one, or the command that a piece of one belongs to."""
    bare = re.sub(r"^\s*(//.*\n\s*)*", "", text)
    if bare.startswith("CONCEPT"):
        return [f"UPSERT {{\n{text}\n}}"]
    if not bare.startswith(STATEMENTS):
        variables = list(dict.fromkeys(re.findall(r"\?([a-z_]+)", re.sub(r"//.*", "", text))))
        bound = [name for name in variables if name in PRELUDE]
        prelude = "\n".join(PRELUDE[name] for name in bound)
        return [f"FIND(?{(bound or variables)[0]}) WHERE {{\n{prelude}\n{text}\n}}"]
    starts = [found.start() for found in re.finditer(rf"^(?:{'|'.join(STATEMENTS)})\b", text, re.MULTILINE)]
    if bare.startswith("UPSERT"):
        starts = starts[:1]  # a capsule of several UPSERT statements is one command
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


@pytest.fixture(params=FACTORIES)
def store(request: pytest.FixtureRequest) -> Iterator[Execute]:
    execute = FACTORIES[request.param]()
    assert "error" not in execute({"command": SETUP})
    yield execute
    execute.close()  # type: ignore[attr-defined]


def _run(store: Execute, command: str) -> dict[str, Any]:
    return store({"command": command, "parameters": PARAMETERS})


def test_the_specification_is_read() -> None:
    shared_path(*_SPECIFICATION)
    assert len(COMMAND_BLOCKS) >= 35


def test_sketches_are_those_that_do_not_parse() -> None:
    shared_path(*_SPECIFICATION)

    def parses(block: Block) -> bool:
        try:
            for command in commands_of(block.text):
                parse(command)
        except KipError:
            return False
        return True

    assert {block.id for block in KIP_BLOCKS if not parses(block)} == SKETCHES


@pytest.mark.parametrize("block", COMMAND_BLOCKS, ids=lambda block: block.id)
def test_block_parses(block: Block) -> None:
    commands = commands_of(block.text)
    assert commands
    for command in commands:
        parse(command)


@pytest.mark.parametrize("block", COMMAND_BLOCKS, ids=lambda block: block.id)
def test_block_runs(block: Block, store: Execute) -> None:
    for command in commands_of(block.text):
        response = _run(store, command)
        code = response.get("error", {}).get("code")
        assert code == REFUSED.get(block.id), response


# --- requests (6.1) and the results that the text states -----------------------------------------


def _block(id: str) -> str:
    shared_path(*_SPECIFICATION)
    return next(block.text for block in BLOCKS if block.id == id)


@pytest.mark.parametrize("id", ["6.1 1", "6.1 2"])
def test_request_runs(id: str, store: Execute) -> None:
    function = json.loads(_block(id))["function"]
    execute = store.execute_readonly if function["name"].endswith("readonly") else store  # type: ignore[attr-defined]
    response = execute(function["arguments"])
    assert "error" not in response
    if "commands" in function["arguments"]:
        assert len(response["result"]) == len(function["arguments"]["commands"])
        assert not any("error" in part for part in response["result"])


def test_batch_example(store: Execute) -> None:
    request = re.search(r"^(\{ \"commands\".*\})$", _block("6.2.3 1"), re.MULTILINE)
    assert request is not None
    primer, drugs = store(json.loads(request[1]))["result"]
    assert {"identity", "domain_map", "total_domains"} == set(primer["result"])
    assert {drug["type"] for drug in drugs["result"]} == {"Drug"}


def test_error_example_has_the_keys_of_an_error(store: Execute) -> None:
    example = json.loads(_block("Appendix 4 1"))["error"]
    error = _run(store, 'FIND(?x) WHERE { ?x {type: "Planet"} }')["error"]
    assert set(example) <= set(error)


def _result(store: Execute, id: str) -> Any:
    [command] = commands_of(_block(id))
    return _run(store, command)["result"]


def test_not_example(store: Execute) -> None:
    assert set(_result(store, "3.4.7.1 1")) == {"Vitamin C", "OutdatedDrug"}


def test_optional_example(store: Execute) -> None:
    rows = set(zip(*_result(store, "3.4.7.2 1"), strict=True))
    assert rows == {("Aspirin", "Stomach Upset"), ("Vitamin C", None), ("OutdatedDrug", None)}


def test_union_examples(store: Execute) -> None:
    extra = """UPSERT {
      CONCEPT ?p { {type: "Product", name: "Aspirin"}
        SET PROPOSITIONS { ("manufactured_by", {type: "Person", name: "Bayer"}) } }
    }"""
    assert "error" not in _run(store, extra)
    assert set(zip(*_result(store, "3.4.7.3 1"), strict=True)) == {("Aspirin", None), (None, "Aspirin")}
    # Aspirin comes from both branches and is one solution.
    assert sorted(_result(store, "3.4.7.3 2")) == ["Aspirin", "OutdatedDrug"]


def test_comprehensive_examples(store: Execute) -> None:
    assert _result(store, "3.6 1") == [[], []]  # Aspirin, the only one against headache, is an NSAID
    assert _result(store, "3.6 2") == [["Aspirin"], ["Stomach Upset"], [None]]
    assert _result(store, "3.6 3") == [0.8]
    assert _result(store, "3.6 5")[0] == ["prefers"]


def test_describe_equals_the_queries_it_stands_for(store: Execute) -> None:
    domains = _run(store, "DESCRIBE DOMAINS")["result"]
    assert sorted(domain["name"] for domain in domains) == sorted(_result(store, "5.1.2 1"))
    [query] = commands_of(_block("5.1.4 1").replace("<TypeName>", "Drug"))
    assert [_run(store, 'DESCRIBE CONCEPT TYPE "Drug"')["result"]] == _run(store, query)["result"]
    [query] = commands_of(_block("5.1.6 1").replace("<predicate>", "treats"))
    assert [_run(store, 'DESCRIBE PROPOSITION TYPE "treats"')["result"]] == _run(store, query)["result"]
    for kind, id in (("CONCEPT", "5.1.3 1"), ("PROPOSITION", "5.1.5 1")):
        [query] = commands_of(_block(id).partition("LIMIT")[0])
        assert sorted(_run(store, f"DESCRIBE {kind} TYPES")["result"]) == sorted(_run(store, query)["result"])


def test_capsule_example_is_idempotent(store: Execute) -> None:
    first, second = _result(store, "4.1 2"), _result(store, "4.1 2")
    assert first == second
    assert first["blocks"] == 1
    assert len(first["upsert_concept_nodes"]) == 2
    query = 'FIND(?n.name, ?n.metadata._version) WHERE { ({type: "Drug", name: "Cognizine"}, ?p, ?n) }'
    assert set(_run(store, query)["result"][0]) == {"Nootropic", "Brain Fog", "Neural Bloom"}


def test_bulk_examples_change_what_the_text_says(store: Execute) -> None:
    # Two runs of the sleep-cycle decay: the marker keeps the second from touching anything.
    first, second = _result(store, "4.3 2"), _result(store, "4.3 2")
    assert first["updated"] == first["matched"] > 0
    assert second == {"updated": 0, "matched": 0}
    # One confirmation more each time.
    assert _result(store, "4.3 3") == _result(store, "4.3 3") == {"updated": 1, "matched": 1}
    assert _run(store, 'FIND(?p.attributes.evidence_count) WHERE { ?p {type: "Preference"} }')["result"] == [2]


@pytest.mark.parametrize("destination", FACTORIES)
def test_export_example_moves_to_another_store(store: Execute, destination: str) -> None:
    exported = _result(store, "5.3 2")
    assert exported["concepts"] == 2
    other = FACTORIES[destination]()
    assert "error" not in other({"command": SETUP.partition("UPSERT {\n  CONCEPT ?c1")[0]})
    assert "error" not in other({"command": exported["capsule"]})
    query = 'FIND(?d.name) WHERE { ?d {type: "Drug"} (?d, "belongs_to_domain", {type: "Domain", name: "Medical"}) }'
    assert other({"command": query})["result"] == ["Aspirin"]
    other.close()  # type: ignore[attr-defined]
