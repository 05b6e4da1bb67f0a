"""A wheel is built, installed into an empty environment without network, and used from there."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from pathlib import Path
from zipfile import ZipFile

import pytest

from kip.resources import BOOTSTRAP
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

PROBE = """
import json
from importlib.metadata import entry_points
import kip
from kip.resources import BOOTSTRAP, read_text
texts = {name: read_text("schemas", name) for name in BOOTSTRAP}
commands = [point.value for point in entry_points(group="console_scripts", name="kip")]
print(json.dumps({"file": kip.__file__, "texts": texts, "commands": commands}))
"""


def run(*arguments: str | Path, cwd: Path) -> str:
    done = subprocess.run(list(arguments), cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (built,) = folder.glob("kip-*.whl")
    return built


def test_the_wheel_holds_the_package_and_its_data(wheel: Path) -> None:
    with ZipFile(wheel) as packed:
        held = set(packed.namelist())
    assert {f"kip/_data/schemas/{name}" for name in BOOTSTRAP} <= held
    assert "kip/py.typed" in held
    assert not any(name.startswith(("tests/", "schemas/")) for name in held)


def test_the_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    run(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(python, "-I", "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=tmp_path)
    site = Path(run(python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip())
    # The dependencies are borrowed. The .pth file of an editable kip among them is not read from there.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    seen = json.loads(run(python, "-I", "-c", PROBE, cwd=tmp_path))
    assert Path(seen["file"]).is_relative_to(site)
    assert seen["texts"] == {name: (ROOT / "schemas" / name).read_text(encoding="utf-8") for name in BOOTSTRAP}
    assert seen["commands"] == ["kip.cli:main"]
    # The demonstration runs on what the wheel brought along, in a folder that it leaves as it was.
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    shown = run(python, "-I", "-m", "kip", "demo", cwd=folder)
    assert "What failed" in shown
    assert list(folder.iterdir()) == []
