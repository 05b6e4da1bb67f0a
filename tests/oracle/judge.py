"""Holds the engine's answer to a FIND against the evaluator's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any
from unittest.mock import patch

from kip.errors import KipError
from kip.lang import ast, parse
from kip.nexus import Nexus
from kip.plan import algebra as op
from kip.plan import bind
from kip.values import dumps
from tests.oracle.evaluate import Answer, Graph, RefusedError, Row, TooLargeError, evaluate
from tests.oracle.generate import dice
from tests.oracle.generate_queries import Command

MOST_PAGES, MOST_ROWS = 6, 200


@dataclass(frozen=True)
class Verdict:
    """``fault`` says in which way the engine disagrees; None when it agrees, or the query was too large.

    ``kind`` is what was compared: rows, pages, an error; or why nothing was: too large, or no valid plan.
    """

    fault: str | None = None
    expected: object = None
    actual: object = None
    kind: str = "rows"


def plan(text: str) -> op.Query:
    """The plan as it is bound, before the rewrites: those must keep its meaning, so they are under test too."""
    tree = parse(text)
    assert isinstance(tree, ast.Find)
    with patch.object(bind, "rewrite", lambda query: query):
        return bind.bind_find(tree)


def judge(nexus: Nexus, graph: Graph, command: Command, seed: int) -> Verdict:
    """Run one command: whole, and in pages of a random size."""
    if command.error is not None:
        return _same_code(command.error, _execute(nexus, command.text, command.parameters))
    try:
        query = plan(command.text)
    except KipError as error:
        return Verdict(f"refused with {error.code}: {error.message}", kind="plan")
    try:
        answer = evaluate(query, command.parameters, graph)
    except RefusedError as error:
        return _same_code(error.code, _execute(nexus, command.text, command.parameters))
    except TooLargeError:
        return Verdict(kind="too large")
    if len(answer.rows) > MOST_ROWS:
        return Verdict(kind="too large")
    rng = dice(seed)
    response = _execute(nexus, command.text, command.parameters, readonly=rng.random() < 0.5)
    if "error" in response:
        return Verdict("an error instead of rows", answer.rows, response, "error")
    fault = difference(query, answer, rows_of(response["result"], query))
    if fault is None and "next_cursor" in response:
        fault = "a cursor without LIMIT"
    if fault is not None:
        return Verdict(fault, answer.rows, response["result"])
    return _pages(nexus, command, query, answer, rng)


def _execute(nexus: Nexus, text: str, parameters: dict[str, Any], *, readonly: bool = False) -> dict[str, Any]:
    """The response; an exception, which the engine never lets out (6.1), as an error with a code of its own."""
    run = nexus.execute_kip_readonly if readonly else nexus.execute_kip
    try:
        return run({"command": text, "parameters": parameters})
    except Exception as error:  # noqa: BLE001
        return {"error": {"code": "raised", "message": repr(error)}}


def _same_code(expected: str, response: dict[str, Any]) -> Verdict:
    actual = response.get("error", {}).get("code")
    return Verdict(None if actual == expected else "another error", expected, response, "error")


def _pages(nexus: Nexus, command: Command, query: op.Query, answer: Answer, rng: Random) -> Verdict:
    total = len(answer.rows)
    size = max(rng.choice((1, 2, 3, 5, max(total, 1), total + 1)), -(-total // MOST_PAGES))
    limit = rng.choice((str(size), ":limit"))
    rows: list[Row] = []
    cursor, fault = None, None
    while fault is None:
        text = f"{command.text}\nLIMIT {limit}"
        parameters = {**command.parameters, "limit": size}
        if cursor is not None:
            text += f' CURSOR "{cursor}"' if rng.random() < 0.3 else " CURSOR :cursor"
            parameters["cursor"] = cursor
        response = _execute(nexus, text, parameters)
        if "error" in response:
            return Verdict(f"an error on a page of {size}", answer.rows, response, "error")
        page = rows_of(response["result"], query)
        cursor = response.get("next_cursor")
        if len(page) != min(size, total - len(rows)):
            fault = f"{len(page)} rows after {len(rows)} of {total}"
        rows.extend(page)
        if fault is None and (cursor is None) != (len(rows) == total):
            fault = f"{'no' if cursor is None else 'a'} cursor after {len(rows)} of {total} rows"
        if cursor is None:
            break
    fault = fault or difference(query, answer, rows)
    return Verdict(None if fault is None else f"pages of {size}: {fault}", answer.rows, rows, "pages")


def rows_of(result: Any, query: op.Query) -> list[Row]:
    """Solutions from the columns of 6.2.2."""
    if all(isinstance(column, op.Aggregation) for column in query.columns):
        return [(result,)] if len(query.columns) == 1 else [tuple(result)]
    if len(query.columns) == 1:
        return [(cell,) for cell in result]
    return list(zip(*result, strict=True))


def difference(query: op.Query, answer: Answer, actual: Sequence[Row]) -> str | None:
    """In which way rows differ from an answer: those that tie may come in any order among themselves."""
    if len(actual) != len(answer.rows):
        return f"{len(actual)} rows instead of {len(answer.rows)}"
    at = 0
    for tie in answer.ties:
        expected = Counter(shown(query, row) for row in tie)
        found = Counter(shown(query, row) for row in actual[at : at + len(tie)])
        if expected != found:
            everything = Counter(shown(query, row) for row in answer.rows)
            is_order = everything == Counter(shown(query, row) for row in actual)
            return (
                f"{'order' if is_order else 'other rows'}, at row {at}: {expected - found} against {found - expected}"
            )
        at += len(tie)
    return None


def shown(query: op.Query, row: Row) -> tuple[str, ...]:
    """A row for comparison. A group of equal numbers may be shown by any of them: 1 or 1.0."""
    cells: list[str] = []
    for column, cell in zip(query.columns, row, strict=True):
        is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
        if not query.grouped or not is_number:
            cells.append(dumps(cell))
        elif isinstance(cell, float) and isinstance(column, op.Aggregation) and column.function in ("SUM", "AVG"):
            cells.append(f"{cell:.12g}")  # a sum may be rounded on the way
        else:
            cells.append(str(int(cell) if cell == int(cell) else cell))
    return tuple(cells)


def disagrees(nexus: Nexus, graph: Graph, command: Command, seed: int) -> bool:
    """Whether the engine disagrees on a command that may make no sense, as the shrinker tries many."""
    verdict = judge(nexus, graph, command, seed)
    return verdict.fault is not None and verdict.kind != "plan"
