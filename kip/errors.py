"""KIP error codes and the one exception type that leaves the engine.

Implements SPECIFICATION.md Appendix 4. Every failure that a caller can see is a :class:`KipError`
with a code from :data:`CODES`, a message, a hint that tells how to repair the command and, where a
command text is at fault, the position in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Category(Enum):
    """The four families of Appendix 4."""

    SYNTAX = "syntax"
    SCHEMA = "schema"
    LOGIC = "logic"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class CodeInfo:
    """One row of the code table: name, family and the default recovery hint."""

    name: str
    category: Category
    hint: str


CODES: dict[str, CodeInfo] = {
    "KIP_1001": CodeInfo(
        "InvalidSyntax",
        Category.SYNTAX,
        "Check brackets, keyword spelling and clause order at the position given.",
    ),
    "KIP_1002": CodeInfo(
        "InvalidIdentifier",
        Category.SYNTAX,
        "An identifier is a letter or underscore followed by letters, digits or underscores.",
    ),
    "KIP_2001": CodeInfo(
        "TypeMismatch",
        Category.SCHEMA,
        "Names are case-sensitive. List what is registered with DESCRIBE CONCEPT TYPES or "
        "DESCRIBE PROPOSITION TYPES, or define the type first.",
    ),
    "KIP_2002": CodeInfo(
        "ConstraintViolation",
        Category.SCHEMA,
        "Supply what the constraint asks for; metadata keys that begin with '_' belong to the engine.",
    ),
    "KIP_2003": CodeInfo(
        "InvalidValueType",
        Category.SCHEMA,
        "Give a value of the JSON type that this position takes.",
    ),
    "KIP_3001": CodeInfo(
        "ReferenceError",
        Category.LOGIC,
        "Bind the variable in WHERE, or define the handle in an earlier block, before it is used.",
    ),
    "KIP_3002": CodeInfo(
        "NotFound",
        Category.LOGIC,
        "Confirm that the target exists with SEARCH or FIND; create it first if it should.",
    ),
    "KIP_3003": CodeInfo(
        "DuplicateExists",
        Category.LOGIC,
        "Narrow the WHERE pattern until each variable matches exactly one node.",
    ),
    "KIP_3004": CodeInfo(
        "ImmutableTarget",
        Category.LOGIC,
        "The target is protected or append-only. Change another element, or add a new one.",
    ),
    "KIP_3005": CodeInfo(
        "VersionConflict",
        Category.LOGIC,
        "Read the element again, merge your change into its current value, and retry with the fresh _version.",
    ),
    "KIP_4001": CodeInfo(
        "ExecutionTimeout",
        Category.SYSTEM,
        "Start the pattern from a known node, lower LIMIT, or retry later.",
    ),
    "KIP_4002": CodeInfo(
        "ResourceExhausted",
        Category.SYSTEM,
        "Reads: page with LIMIT and CURSOR. Bulk writes: split the pattern by type, predicate or domain.",
    ),
    "KIP_4003": CodeInfo(
        "InternalError",
        Category.SYSTEM,
        "Nothing was written. Retry; if it comes again, run `kip doctor` on the store.",
    ),
}


class KipError(Exception):
    """A failure with a KIP code.

    Args:
        code: a key of :data:`CODES`, for example ``"KIP_1001"``.
        message: what is wrong, in one sentence, without backend text.
        hint: how to repair it; the code's own hint when omitted.
        line, column: 1-based position in the command text, when a text is at fault.

    ``offset`` is the character offset in the command text, for whoever knows the text to turn into a position.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str | None = None,
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint if hint is not None else CODES[code].hint
        self.line = line
        self.column = column
        self.offset: int | None = None

    @property
    def name(self) -> str:
        """The code's name in Appendix 4, for example ``InvalidSyntax``."""
        return CODES[self.code].name

    def at(self, line: int, column: int) -> KipError:
        """The same error with a position, unless it has one already."""
        if self.line is not None:
            return self
        return KipError(self.code, self.message, hint=self.hint, line=line, column=column)

    def to_dict(self) -> dict[str, object]:
        """The ``error`` object of a response (Appendix 4), position included when known."""
        payload: dict[str, object] = {"code": self.code, "message": str(self), "hint": self.hint}
        if self.line is not None:
            payload["line"] = self.line
            payload["column"] = self.column
        return payload

    def __str__(self) -> str:
        where = f" (line {self.line}, column {self.column})" if self.line is not None else ""
        return f"{self.name}: {self.message}{where}"

    def __reduce__(self) -> tuple[object, ...]:
        # The default reduction would call KipError(message) and lose the code.
        return (_rebuild, (self.code, self.message, self.hint, self.line, self.column))


def _rebuild(code: str, message: str, hint: str, line: int | None, column: int | None) -> KipError:
    return KipError(code, message, hint=hint, line=line, column=column)
