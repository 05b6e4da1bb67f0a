"""The files that travel with kip: schema capsules in ``schemas/`` and Cypher scripts in ``cypher/``.

In a wheel they are package data under ``kip/_data``; in a source checkout, and so in an editable install, they
stand beside the package.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from kip.errors import KipError

Kind = Literal["schemas", "cypher"]

BOOTSTRAP: tuple[str, ...] = (
    "genesis.kip",
    "profile.kip",
    "experience.kip",
    "evidence.kip",
    "predicates.kip",
    "actors.kip",
)
"""The capsules of a new store in loading order: each uses only what an earlier one defined."""


def read_text(kind: Kind, name: str) -> str:
    """The text of one resource file.

    Args:
        kind: the folder.
        name: the file's name in it, for example ``"genesis.kip"``.

    Raises:
        KipError: KIP_4003 when this installation does not hold the file.
    """
    for folder in _folders(kind):
        resource = folder.joinpath(name)
        if resource.is_file():
            return resource.read_text(encoding="utf-8")
    raise KipError(
        "KIP_4003",
        f"the resource file {kind}/{name} is missing from this installation of kip",
        hint="Install kip again; a source checkout must keep the folders schemas/ and cypher/ beside kip/.",
    )


def _folders(kind: Kind) -> list[Traversable]:
    """Where the files of one kind may be, the place in a wheel first."""
    places: list[Traversable] = [files("kip").joinpath("_data", kind)]
    checkout = Path(__file__).resolve().parent.parent
    if (checkout / "pyproject.toml").is_file():  # else this would look into somebody's site-packages
        places.append(checkout / kind)
    return places
