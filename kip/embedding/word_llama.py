"""The embedder that needs no download and no torch: WordLlama, its weights in the package (an extra)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kip.errors import KipError


class WordLlamaEmbedder:
    """Static word vectors of 256 components, averaged over a text.

    Raises KIP_4003 when the package is not installed.
    """

    dimension = 256

    def __init__(self) -> None:
        try:
            import wordllama  # noqa: PLC0415 - an optional package  # pyright: ignore[reportMissingTypeStubs]
        except ImportError:
            raise KipError(
                "KIP_4003", "the package wordllama is not installed", hint="Install kip[semantic]."
            ) from None
        package: Any = wordllama
        # Its own search for the weights looks in the wrong folder and then tries the network.
        folder = Path(package.__file__).parent
        self._model: Any = package.WordLlama.load(cache_dir=folder, disable_download=True)
        self.name = f"wordllama-{package.__version__}-256"

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """One vector for each text."""
        vectors: Any = self._model.embed(list(texts), norm=True)
        return vectors.tolist()
