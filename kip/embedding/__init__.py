"""Meaning as vectors: the Embedder protocol, its implementations, and search among stored vectors.

Vectors never leave the engine (SPECIFICATION.md 5.2.1): text goes in, elements come out.
"""

from kip.embedding.protocol import Embedder, pack

__all__ = ["Embedder", "pack"]
