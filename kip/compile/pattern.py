"""Regular expressions of REGEX: RE2, linear in time, the same on every store (decision 6)."""

from __future__ import annotations

import functools
from typing import Any

import re2  # pyright: ignore[reportMissingTypeStubs]

from kip.errors import KipError

_re2: Any = re2


@functools.lru_cache(maxsize=256)
def compiled_pattern(pattern: str) -> Any:
    """A linear-time regular expression (decision 6); raises KIP_2003 for what RE2 does not take."""
    options = _re2.Options()
    options.log_errors = False
    try:
        return _re2.compile(pattern, options=options)
    except _re2.error:
        raise KipError(
            "KIP_2003",
            f"{pattern!r} is not a regular expression that REGEX takes",
            hint="Use RE2 syntax: no look-around, no back-references, balanced brackets.",
        ) from None
