"""The size caps of the house, and names that say nothing."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 60
EMPTY_NAMES = {"common", "helper", "helpers", "misc", "util", "utils"}


def files(*patterns: str) -> list[Path]:
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", files("kip/**/*.py", "tests/**/*.py", "schemas/*.kip"), ids=name)
def test_no_file_is_too_long(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_FILE_LINES, f"{name(path)} has {lines} lines: split it by theme"


@pytest.mark.parametrize("path", files("kip/**/*.py"), ids=name)
def test_no_function_is_too_long(path: Path) -> None:
    too_long = {
        f"{node.name} (line {node.lineno})": length
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and (length := node.end_lineno - node.lineno + 1) > MAX_FUNCTION_LINES
    }
    assert not too_long, f"functions of {name(path)} past {MAX_FUNCTION_LINES} lines: {too_long}"


@pytest.mark.parametrize("path", files("kip/**/*.py"), ids=name)
def test_a_module_is_named_after_what_it_does(path: Path) -> None:
    assert not EMPTY_NAMES & set(path.relative_to(ROOT).with_suffix("").parts)
