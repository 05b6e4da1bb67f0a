"""The architecture as rules on imports: the contracts of pyproject.toml, and what they cannot state."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import grimp
import pytest

from tests.conftest import ROOT

HEAVY = ("apsw", "neo4j", "networkx", "numpy", "pandas", "pydantic", "re2", "rich", "sqlite3", "typer")
LINT = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()", "--no-cache"]


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("kip", include_external_packages=True, cache_dir=None)


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(LINT, cwd=folder, capture_output=True, text=True, check=False)


def test_the_contracts_hold() -> None:
    done = lint(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "source", "contract"),
    [
        ("utils.py", "", "the set of modules is closed"),
        ("lang/stray.py", "import kip.plan", "Imports go downward only"),
        ("memory/stray.py", "import kip.backends", "Memory reaches storage only"),
        ("memory/stray.py", "import kip.nexus", "Memory reaches storage only"),
        ("compile/stray.py", "import pydantic", "imports no driver, no pydantic"),
        ("nexus/stray.py", "import apsw", "Drivers are imported by backends only"),
    ],
)
def test_the_contracts_can_break(tmp_path: Path, module: str, source: str, contract: str) -> None:
    shutil.copytree(ROOT / "kip", tmp_path / "kip", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "kip" / module).write_text(source, encoding="utf-8")
    done = lint(tmp_path)
    broken = [line for line in done.stdout.splitlines() if "BROKEN" in line]
    assert done.returncode == 1, done.stdout + done.stderr
    assert any(contract in line for line in broken), done.stdout


def importers(graph: grimp.ImportGraph, imported: str) -> set[str]:
    return graph.find_modules_that_directly_import(imported) if imported in graph.modules else set()


def under(prefix: str) -> Callable[[str], bool]:
    return lambda module: module.startswith(prefix)


def test_only_the_sqlite_backend_imports_its_driver(graph: grimp.ImportGraph) -> None:
    assert all(map(under("kip.backends.sqlite"), importers(graph, "apsw")))
    assert not importers(graph, "sqlite3")


def test_only_the_neo4j_backend_imports_its_driver(graph: grimp.ImportGraph) -> None:
    assert all(map(under("kip.backends.neo4j"), importers(graph, "neo4j")))


@pytest.mark.parametrize(
    ("one", "other"),
    [("kip.compile.sql", "kip.compile.cypher"), ("kip.backends.sqlite", "kip.backends.neo4j")],
)
def test_the_two_stores_do_not_know_each_other(graph: grimp.ImportGraph, one: str, other: str) -> None:
    for source, target in ((one, other), (other, one)):
        for module in filter(under(source), graph.modules):
            reached = set(filter(under(target), graph.find_upstream_modules(module)))
            assert not reached, f"{module} imports {sorted(reached)}"


def test_importing_kip_loads_nothing_heavy() -> None:
    program = f"import sys, kip; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
