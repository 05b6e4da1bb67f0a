"""Every code block of README.md is parsed, run or recorded."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import kip
from kip.errors import CODES
from kip.lang import parse
from kip.memory.briefing import Briefing

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    found = re.findall(rf"^( *)```{language}\n(.*?)^ *```", README, re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", text, flags=re.MULTILINE) for indent, text in found]


def test_the_commands_run_one_after_the_other() -> None:
    with kip.open(":memory:") as brain:
        upsert, find = _blocks("prolog")
        parse(upsert)
        assert "error" not in brain.nexus.execute_kip({"command": upsert})
        assert brain.nexus.execute_kip({"command": find}) == {"result": [["orders"], ["orders-db"], [0.9]]}


def test_the_payload_is_recorded_and_recalled_as_the_python_block_does_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    [payload] = _blocks("json")
    Path("runs.json").write_text(payload, encoding="utf-8")
    [program] = _blocks("python")
    exec(compile(program, "README.md", "exec"), {})  # noqa: S102 - our own text
    briefing = Briefing.model_validate(json.loads(capsys.readouterr().out))
    assert briefing.goal.startswith("Release orders")
    with kip.open("memory.db") as brain:
        assert brain.brief(goal="Deploy version 2").successes


def test_the_error_table_names_every_code() -> None:
    assert {code for code in CODES if code in README} == set(CODES)
