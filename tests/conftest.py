"""What every test may use: the folder of outside material beside the repository, and one Hypothesis profile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
_MISSING = "outside material is missing: "

# A deadline measures how busy the machine is, not the code under test.
settings.register_profile("kip", deadline=None)
settings.load_profile("kip")


def shared_path(*parts: str) -> Path:
    """A file or folder of ``../shared``, the outside material that is never committed.

    When it is missing the calling test fails under ``CI=true`` and is skipped elsewhere; the skipped ones are
    counted at the end of the run.
    """
    path = ROOT.parent.joinpath("shared", *parts)
    if not path.exists():
        reason = f"{_MISSING}../shared/{'/'.join(parts)}"
        if os.environ.get("CI") == "true":
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    return path


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say loudly how many tests did not run for want of ``../shared``."""
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(_MISSING in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.section("shared material", sep="=", red=True, bold=True)
        terminalreporter.write_line(f"{count} tests were SKIPPED because ../shared is missing (CI=true fails them)")
