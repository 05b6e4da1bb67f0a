"""Values of a command with its parameters put in (SPECIFICATION.md 6.1). Values only: text is never spliced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from kip.errors import KipError
from kip.lang import ast
from kip.values import Json

Parameters = Mapping[str, Json]


def resolve(value: ast.Value, parameters: Parameters) -> Json:
    """The JSON value of a value position; raises KIP_3001 for a parameter that is not supplied."""
    match value:
        case ast.Literal():
            return value.value
        case ast.Parameter():
            if value.name not in parameters:
                raise KipError("KIP_3001", f"the parameter :{value.name} is not supplied")
            return parameters[value.name]
        case ast.ArrayValue():
            return [resolve(item, parameters) for item in value.items]
        case ast.ObjectValue():
            return {key: resolve(item, parameters) for key, item in value.entries}
        case _:
            assert_never(value)


def resolve_text(value: ast.Value, parameters: Parameters, what: str) -> str:
    """A string; raises KIP_2003 that says ``what`` must be one."""
    found = resolve(value, parameters)
    if not isinstance(found, str):
        raise KipError("KIP_2003", f"{what} must be a string")
    return found


def resolve_object(entries: ast.Entries | None, parameters: Parameters, what: str) -> dict[str, Json]:
    """An object, empty when absent; raises KIP_2003 that says ``what`` must be one."""
    if entries is None:
        return {}
    found = resolve(entries, parameters)
    if not isinstance(found, dict):
        raise KipError("KIP_2003", f"{what} must be an object")
    return found


def resolve_count(value: ast.Literal | ast.Parameter | None, parameters: Parameters, what: str) -> int | None:
    """A positive integer, or None when absent; raises KIP_2003."""
    if value is None:
        return None
    found = resolve(value, parameters)
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise KipError("KIP_2003", f"{what} must be a positive integer")
    return found
