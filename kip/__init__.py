"""kip: a knowledge-graph backed cognitive memory with which an agent learns from experience.

    import kip

    with kip.open("kip.db") as brain:
        brain.record("runs.jsonl")
        print(brain.brief("Release orders 4.5 to production").verdict)

Importing this package loads nothing heavy; the store and the models come in with the first :func:`open`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kip.errors import KipError

if TYPE_CHECKING:
    from kip.api import Brain, open

__version__ = "0.1.0"
__all__ = ["Brain", "KipError", "__version__", "open"]

_FROM_API = frozenset({"Brain", "open"})


def __getattr__(name: str) -> Any:
    if name not in _FROM_API:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import kip.api  # noqa: PLC0415 - lazy on purpose: `import kip` has to stay light

    return getattr(kip.api, name)
