"""A deterministic embedder without a model, for tests and trials: texts that share terms are near each other."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from ingest.embed.port import Vectors
from ingest.tokenize import query_terms, tokens


class HashingEmbedder:
    """Each term has a random direction fixed by its hash; a text is the normalised sum of its terms."""

    def __init__(self, dimension: int = 64) -> None:
        self._dimension = dimension

    @property
    def name(self) -> str:
        """See `Embedder`."""
        return f"hashing-{self._dimension}"

    @property
    def dimension(self) -> int:
        """See `Embedder`."""
        return self._dimension

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        return np.array([self._sum(query_terms(text)) for text in texts], np.float32).reshape(-1, self._dimension)

    def embed_query(self, text: str) -> Vectors:
        """See `Embedder`."""
        return self._sum(query_terms(text))

    def passage_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        """See `Embedder`."""
        return [self._each(tokens(text)) for text in texts]

    def query_tokens(self, text: str) -> Vectors:
        """See `Embedder`."""
        return self._each(query_terms(text))

    def _sum(self, terms: Sequence[str]) -> Vectors:
        total = np.sum(self._each(terms or [""]), axis=0)
        return np.asarray(total / np.linalg.norm(total), np.float32)

    def _each(self, terms: Sequence[str]) -> Vectors:
        return np.array([self._direction(term) for term in terms], np.float32).reshape(-1, self._dimension)

    def _direction(self, term: str) -> Vectors:
        seed = int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "big")
        vector = np.random.default_rng(seed).standard_normal(self._dimension)
        return np.asarray(vector / np.linalg.norm(vector), np.float32)
