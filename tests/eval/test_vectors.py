"""Vectors that are kept in a file: embedded once, the same, whatever the order and the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from eval.vectors import CachedEmbedder
from ingest.embed.hashing import HashingEmbedder
from ingest.embed.port import Vectors


class Counting(HashingEmbedder):
    """Counts the texts that it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.embedded += texts
        return super().embed_passages(texts)


def test_a_text_is_embedded_once_and_comes_back_as_it_was(tmp_path: Path) -> None:
    inner = Counting()
    cached = CachedEmbedder(inner, tmp_path / "v.db")
    first = cached.embed_passages(["one", "two", "one"])
    cached.close()
    again = CachedEmbedder(inner, tmp_path / "v.db")
    assert inner.embedded == ["one", "two"]
    np.testing.assert_array_equal(again.embed_passages(["two", "three", "one"])[[2, 0]], first[:2])
    assert inner.embedded == ["one", "two", "three"]
    np.testing.assert_allclose(first, HashingEmbedder().embed_passages(["one", "two", "one"]))
    assert again.embed_passages([]).shape == (0, inner.dimension)
    again.close()


def test_another_model_has_vectors_of_its_own(tmp_path: Path) -> None:
    class Other(Counting):
        @property
        def name(self) -> str:
            return "other"

    CachedEmbedder(Counting(), tmp_path / "v.db").embed_passages(["one"])
    other = Other()
    CachedEmbedder(other, tmp_path / "v.db").embed_passages(["one"])
    assert other.embedded == ["one"]


def test_more_texts_than_one_query_can_name(tmp_path: Path) -> None:
    cached = CachedEmbedder(HashingEmbedder(), tmp_path / "v.db")
    texts = [f"text {number}" for number in range(1200)]
    np.testing.assert_array_equal(cached.embed_passages(texts), cached.embed_passages(texts))
