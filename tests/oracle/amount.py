"""How much is generated."""

from __future__ import annotations

import os

import pytest


def numbers(config: pytest.Config, *, usual: int, full: int) -> range:
    """The seeds to go through: ``KIP_FUZZ`` of them, from ``KIP_FUZZ_FROM`` on."""
    asked = os.environ.get("KIP_FUZZ")
    count = int(asked) if asked else full if config.option.markexpr == "fuzz" else usual
    first = int(os.environ.get("KIP_FUZZ_FROM", "0"))
    return range(first, first + count)
