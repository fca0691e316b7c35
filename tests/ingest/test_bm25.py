"""The stored weights, times the engine's idf, are BM25: compared with rank-bm25 term by term."""

from __future__ import annotations

import math
import uuid
from pathlib import Path

import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from ingest.embed.hashing import HashingEmbedder
from ingest.index.bm25 import AVERAGE_LENGTH, K1, B, document_weights, query_weights, term_id
from ingest.index.edge import EdgeIndex
from ingest.index.memory import MemoryIndex
from ingest.index.port import ChunkIndex
from ingest.tokenize import query_terms, tokens
from ingest.types import IndexPoint

WORDS = ["leave", "oil", "day", "hour", "ferry", "crew", "port", "invoice", "seal", "table", "年假", "合同"]
EMBEDDER = HashingEmbedder()


class PositiveBM25(BM25Okapi):
    """rank-bm25 with the idf that never falls to 0: ln(1 + (N - n + 0.5) / (n + 0.5))."""

    def _calc_idf(self, nd: dict[str, int]) -> None:
        self.idf = {word: math.log(1 + (self.corpus_size - n + 0.5) / (n + 0.5)) for word, n in nd.items()}


def texts(count: int, seed: int = 7) -> list[str]:
    generator = np.random.default_rng(seed)
    return [" ".join(generator.choice(WORDS, size=generator.integers(3, 30))) for _ in range(count)]


def opened(kind: str, folder: Path) -> ChunkIndex:
    if kind == "edge":
        return EdgeIndex.open(folder, model=EMBEDDER.name, dimension=EMBEDDER.dimension)
    return MemoryIndex(EMBEDDER.dimension)


@pytest.mark.parametrize("kind", ["edge", "memory"])
@pytest.mark.parametrize("size", [1, 2, 40])
def test_scores_are_those_of_rank_bm25(kind: str, size: int, tmp_path: Path) -> None:
    corpus = texts(size)
    reference = PositiveBM25([tokens(text) for text in corpus], k1=K1, b=B)
    ids = [str(uuid.UUID(int=number + 1)) for number in range(size)]
    vectors = EMBEDDER.embed_passages(corpus)
    index = opened(kind, tmp_path / "index")
    index.upsert(
        [
            IndexPoint(key, "d", "local", vector.tolist(), document_weights(text, reference.avgdl))
            for key, vector, text in zip(ids, vectors, corpus, strict=True)
        ]
    )
    for question in ("leave and oil", "年假 port", "leave leave leave table", "zebra"):
        expected = dict(zip(ids, reference.get_scores(query_terms(question)), strict=True))
        found = {hit.chunk_id: hit.bm25 for hit in index.search(None, query_weights(question), size)}
        assert found == pytest.approx({key: score for key, score in expected.items() if score > 0}, rel=1e-4)
    index.close()


def test_a_weight_is_the_formula() -> None:
    weights = document_weights("oil oil port")
    expected = 2 * (K1 + 1) / (2 + K1 * (1 - B + B * 3 / AVERAGE_LENGTH))
    assert dict(zip(weights.indices, weights.values, strict=True))[term_id("oil")] == pytest.approx(expected)


def test_indices_ascend_are_unique_and_have_32_bits() -> None:
    for vector in (document_weights(" ".join(texts(5))), query_weights("leave, oil and leave again")):
        assert list(vector.indices) == sorted(set(vector.indices))
        assert all(0 <= index < 2**32 for index in vector.indices)


def test_a_query_weighs_each_term_once() -> None:
    assert query_weights("leave " * 50) == query_weights("leave")
    assert query_weights("leave").values == (1.0,)


def test_a_text_without_terms_has_no_weights() -> None:
    assert document_weights("").indices == query_weights("…").indices == ()


def test_a_term_keeps_its_number_from_one_version_to_the_next() -> None:
    assert term_id("leave") == 0x985D020A
