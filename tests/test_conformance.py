"""The outside conformance suites of ``../shared/conformance``, against a store on SQLite.

``conformance_known.json`` lists the cases that do not pass. The list can only shrink: a case that fails without
being listed fails the test, and so does one that is listed and passes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT, shared_path

FACTORY = "tests.conformance_factory:sqlite"
MIN_PEER_CASES = 180
MIN_REQUIRED_SCENARIOS = 0.85

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def results(runner: str, tmp_path: Path, *options: str) -> Any:
    """What a runner wrote as JSON. Its exit code is not looked at: it is 1 as soon as one case fails."""
    script, out = shared_path("conformance", runner), tmp_path / "results.json"
    done = subprocess.run(
        [sys.executable, script, "--factory", FACTORY, "--json", out, *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert out.exists(), f"{runner} wrote no results:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    return json.loads(out.read_text(encoding="utf-8"))


def check_known(suite: str, failing: dict[str, str]) -> None:
    known = set(json.loads((ROOT / "tests" / "conformance_known.json").read_text(encoding="utf-8"))[suite])
    new = "".join(f"\n  {case}: {reason[:600]}" for case, reason in failing.items() if case not in known)
    assert not new, f"{suite} cases that fail and are not listed as known:{new}"
    repaired = sorted(known - failing.keys())
    assert not repaired, f"{suite} cases that are listed as known and do not fail, take them off the list: {repaired}"


def failing_cases(judged: list[dict[str, Any]]) -> dict[str, str]:
    """Id and reason of all that did not pass; a skipped one (no read-only function) did not either."""
    return {case["id"]: str(case["reason"]) for case in judged if case["status"] != "pass"}


def test_peer_suite(tmp_path: Path) -> None:
    judged = [case for case in results("run_peer_suite.py", tmp_path) if case["status"] != "divergent"]
    failing = {f"{case['file']}/{case['case']}": str(case["reason"]) for case in judged if case["status"] == "fail"}
    check_known("peer", failing)
    assert len(judged) - len(failing) >= MIN_PEER_CASES


def test_scenarios(tmp_path: Path) -> None:
    judged = results("run_conformance.py", tmp_path, "--only", "scenario")["results"]
    check_known("scenarios", failing_cases(judged))
    required = [case["status"] == "pass" for case in judged if case["level"] == "required"]
    assert sum(required) >= MIN_REQUIRED_SCENARIOS * len(required) > 0


def test_parse_cases(tmp_path: Path) -> None:
    judged = results("run_conformance.py", tmp_path, "--only", "parse")["results"]
    assert judged
    check_known("parse", failing_cases(judged))
