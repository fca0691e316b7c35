"""What must an embedding model do?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors. Safe to call from several threads (calls are serialised inside)."""

    @property
    def name(self) -> str:
        """The model's name, stamped into the index."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return shape (len(texts), dimension), rows of norm 1; the model's passage prefix is added here."""

    def embed_query(self, text: str) -> Vectors:
        """Return shape (dimension,), norm 1; the model's query prefix is added here."""

    def passage_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        """Return for each text its token vectors, shape (tokens, dimension), rows of norm 1, without special tokens."""

    def query_tokens(self, text: str) -> Vectors:
        """Return the query's token vectors, shape (tokens, dimension), rows of norm 1, without special tokens."""
