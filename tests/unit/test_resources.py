from __future__ import annotations

from pathlib import Path

import pytest

from kip import resources
from kip.errors import KipError
from kip.resources import BOOTSTRAP, read_text
from tests.conftest import ROOT


def test_bootstrap_names_every_capsule_once() -> None:
    capsules = {path.name for path in (ROOT / "schemas").glob("*.kip")}
    assert set(BOOTSTRAP) == capsules
    assert len(BOOTSTRAP) == len(capsules)
    assert BOOTSTRAP[0] == "genesis.kip"


@pytest.mark.parametrize("name", BOOTSTRAP)
def test_a_checkout_reads_the_files_beside_the_package(name: str) -> None:
    assert read_text("schemas", name) == (ROOT / "schemas" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", ["schemas", "cypher"])
def test_a_missing_file_is_an_error_with_a_code(kind: resources.Kind) -> None:
    with pytest.raises(KipError) as caught:
        read_text(kind, "absent.kip")
    assert caught.value.code == "KIP_4003"
    assert f"{kind}/absent.kip" in caught.value.message


def test_a_folder_is_not_a_resource() -> None:
    with pytest.raises(KipError):
        read_text("schemas", ".")


def test_package_data_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "_data" / "schemas"
    folder.mkdir(parents=True)
    (folder / "genesis.kip").write_text("// packed", encoding="utf-8")
    monkeypatch.setattr(resources, "files", lambda package: tmp_path)
    assert read_text("schemas", "genesis.kip") == "// packed"
    assert read_text("schemas", "profile.kip") == (ROOT / "schemas" / "profile.kip").read_text(encoding="utf-8")


def test_without_a_checkout_only_package_data_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "schemas").mkdir()
    (tmp_path / "schemas" / "genesis.kip").write_text("// somebody else's", encoding="utf-8")
    monkeypatch.setattr(resources, "__file__", str(tmp_path / "kip" / "resources.py"))
    monkeypatch.setattr(resources, "files", lambda package: tmp_path / "kip")
    with pytest.raises(KipError) as caught:
        read_text("schemas", "genesis.kip")
    assert caught.value.code == "KIP_4003"
