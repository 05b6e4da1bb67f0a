"""Paging while the graph changes: what does not change comes exactly once (decision 7)."""

from __future__ import annotations

from typing import Any

import pytest

from kip.nexus import Nexus
from kip.values import dumps
from tests.oracle.generate import TYPES, dice, primitive, text
from tests.oracle.store import Store

ORDERS = (
    "",
    " ORDER BY ?x.attributes.m",
    " ORDER BY ?x.attributes.m DESC, ?x.name DESC",
    " ORDER BY ?x.attributes.n DESC",
)


def execute(nexus: Nexus, command: str, **parameters: Any) -> dict[str, Any]:
    response = nexus.execute_kip({"command": command, "parameters": parameters})
    assert "error" not in response, (command, response)
    return response


@pytest.mark.parametrize("number", range(40))
def test_pages_of_a_changing_graph(number: int) -> None:
    rng, store = dice(f"paging {number}"), Store(number, spaces=1)
    nexus, type, order = store.loaders[0].nexus, rng.choice(TYPES), rng.choice(ORDERS)
    for made in range(12):
        write(nexus, type, f"more {made}", rng)
    before = nodes(nexus, type)
    command = f"FIND(?x) WHERE {{ ?x {{type: {text(type)}}} }}{order} LIMIT {rng.randint(1, 4)}"
    response = execute(nexus, command)
    seen: list[Any] = [*response["result"]]
    touched: set[str] = set()
    while "next_cursor" in response:
        for _ in range(rng.randint(0, 2)):
            touched.add(change(nexus, type, rng))
        response = execute(nexus, f"{command} CURSOR :cursor", cursor=response["next_cursor"])
        seen.extend(response["result"])
    store.close()
    untouched = [node for node in before if node["name"] not in touched]
    assert len(untouched) >= 3
    found = sorted(dumps(node) for node in seen if node["name"] not in touched)
    assert found == sorted(map(dumps, untouched))


def nodes(nexus: Nexus, type: str) -> list[Any]:
    return execute(nexus, f"FIND(?x) WHERE {{ ?x {{type: {text(type)}}} }}")["result"]


def write(nexus: Nexus, type: str, name: str, rng: Any) -> None:
    attributes = {key: primitive(rng) for key in "mn" if rng.random() < 0.8}
    execute(
        nexus,
        f"UPSERT {{ CONCEPT {{ {{type: {text(type)}, name: :name}} SET ATTRIBUTES :a }} }}",
        name=name,
        a=attributes,
    )


def change(nexus: Nexus, type: str, rng: Any) -> str:
    """Remove, change or add one concept; returns its name."""
    kind = rng.random()
    if kind < 0.3:
        name = f"late {rng.randrange(10**6)}"
        write(nexus, type, name, rng)
        return name
    name = rng.choice(nodes(nexus, type))["name"]
    if kind < 0.6:
        write(nexus, type, name, rng)
    else:
        execute(nexus, f"DELETE CONCEPT ?x DETACH WHERE {{ ?x {{type: {text(type)}, name: :name}} }}", name=name)
    return name
