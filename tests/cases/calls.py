"""What the tests of fault classes ask of a store, and the types that all rows assume."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.cases.runner import FACTORIES, Execute, check_response, dump

SETUP = (
    "UPSERT {"
    + "".join(
        f'CONCEPT ?x{number} {{ {{type: "{kind}", name: "{name}"}} SET ATTRIBUTES {{ description: "For tests." }} }}'
        for number, (kind, name) in enumerate(
            [
                *(("$ConceptType", name) for name in ("Drug", "Symptom", "Part", "Org")),
                *(
                    ("$PropositionType", name)
                    for name in ("treats", "follows", "works_at", "lives_in", "links_to", "stated", "superseded_by")
                ),
            ]
        )
    )
    + "}"
)
"""Setup S0 of ``public_bugs.md``."""


@contextmanager
def prepared(store: str) -> Iterator[Execute]:
    """A fresh store of a kind, with the types of :data:`SETUP`."""
    execute = FACTORIES[store]()
    assert "error" not in execute({"command": SETUP})
    yield execute
    execute.close()  # type: ignore[attr-defined]


def run(store: Execute, command: str, **parameters: Any) -> Any:
    """The result of a command that must succeed; every response is held to the envelope of 6.2."""
    response = store({"command": command, "parameters": parameters})
    check_response(response)
    assert "error" not in response, response
    return response["result"]


def refuse(store: Execute, command: str, *codes: str, **parameters: Any) -> dict[str, Any]:
    """The error of a command that must fail cleanly with one of the codes, having written nothing."""
    before = dump(store)
    response = store({"command": command, "parameters": parameters})
    check_response(response)
    assert response.get("error", {}).get("code") in codes, response
    assert dump(store) == before
    return response["error"]


def make(store: Execute, type: str, name: str, **attributes: Any) -> str:
    """Create a concept; its id."""
    command = "UPSERT { CONCEPT ?x { {type: :type, name: :name} SET ATTRIBUTES :attributes } }"
    return run(store, command, type=type, name=name, attributes=attributes)["upsert_concept_nodes"][0]


def link(store: Execute, subject: str, predicate: str, object: str) -> str:
    """Link two elements by id, the object may be a link; the link's id."""
    target = "(id: :object)" if object.startswith("P:") else "{id: :object}"
    command = f"UPSERT {{ PROPOSITION {{ ({{id: :subject}}, :predicate, {target}) }} }}"
    return run(store, command, subject=subject, predicate=predicate, object=object)["upsert_proposition_links"][0]


def found(store: Execute, term: str) -> list[str]:
    """Names of the concepts that a search finds."""
    return [hit["name"] for hit in run(store, "SEARCH CONCEPT :term", term=term)]
