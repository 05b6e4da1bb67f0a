"""Checks of foreign records, with errors that name the record and the field."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from kip.errors import KipError
from kip.values import Json

Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], raw: Json, where: str) -> Model:
    """``raw`` as ``model``; raises KIP_2003 that names the first field at fault and counts the others."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        raise _refused(error, where) from None


def _refused(error: ValidationError, where: str) -> KipError:
    problems = error.errors(include_url=False, include_input=False, include_context=False)
    first = problems[0]
    place = where + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return KipError("KIP_2003", f"{place}: {first['msg']}{more}", hint=_HINTS.get(first["type"], _DEFAULT_HINT))


_DEFAULT_HINT = "See schemas/formation_input.schema.json for the fields and their types."
_HINTS = {
    "literal_error": "Use one of the values listed; other roles and kinds have no meaning in a trace.",
    "missing": "Add the field, or remove the entry.",
}


def blank_goal(where: str, field: str) -> KipError:
    """The refusal of a run that pursues nothing."""
    return KipError(
        "KIP_2002",
        f"{where}.{field}: there is no goal; nothing says what the run was for",
        hint="Give a goal, or a user message that asks for something.",
    )
