"""Names of what formation writes (behaviours 003.15, decision 23).

``Experience:<minute>:<slug>:<run>``, ``<class>:<minute>:<slug>:<run>`` for an Event, and
``<experience>:Step:<index>``. ``<run>`` is the run's key, so that runs of one goal in one minute stay
apart; a run whose source tells no time is ``undated``, so that recording it again gives the same name.
"""

from __future__ import annotations

from kip.memory.speech import topical_words, words
from kip.memory.trace import Trace

SLUG_LIMIT = 40


def slug(text: str) -> str:
    """The topical words of ``text``, joined by ``_``, at most :data:`SLUG_LIMIT` characters, never empty."""
    kept = ""
    for word in topical_words(text) or words(text):
        longer = f"{kept}_{word}" if kept else word
        if len(longer) > SLUG_LIMIT:
            break
        kept = longer
    return kept or "untitled"


def run_name(kind: str, trace: Trace) -> str:
    """The name of the Experience or Event for ``trace``; ``kind`` is its first part."""
    minute = trace.started_at[:16] if trace.started_at else "undated"
    return f"{kind}:{minute}:{slug(trace.goal)}:{trace.key}"


def step_name(experience: str, index: int) -> str:
    """The name of step ``index`` of ``experience``; names sort like indices up to 9999."""
    return f"{experience}:Step:{index:04d}"
