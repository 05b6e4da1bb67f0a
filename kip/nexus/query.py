"""FIND (SPECIFICATION.md 3): run a plan, and shape its rows as columns (6.2.2)."""

from __future__ import annotations

from kip.backends.base import Reader
from kip.nexus.resolve import Parameters
from kip.nexus.schema import Registry, check_query
from kip.plan import algebra as op
from kip.values import Json

Response = dict[str, Json]


def find(query: op.Query, parameters: Parameters, reader: Reader, registry: Registry) -> Response:
    """The response of a FIND: columns, unwrapped when there is only one; scalars for ungrouped aggregates."""
    check_query(query, registry, parameters)
    page = reader.find(query, parameters)
    columns: list[Json] = [list(column) for column in zip(*page.rows, strict=True)] or [[] for _ in query.columns]
    if all(isinstance(column, op.Aggregation) for column in query.columns):
        columns = list(page.rows[0])
    response: Response = {"result": columns[0] if len(columns) == 1 else columns}
    if page.cursor is not None:
        response["next_cursor"] = page.cursor
    return response


def find_targets(query: op.Query, parameters: Parameters, reader: Reader, registry: Registry) -> list[str]:
    """Ids of the distinct elements that a one-target plan selects; unbound (null) targets are left out."""
    check_query(query, registry, parameters)
    return [id for (id,) in reader.find(query, parameters).rows if isinstance(id, str)]
