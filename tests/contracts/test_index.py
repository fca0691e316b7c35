"""One suite over every index: the embedded engine, a Qdrant server (the client in local mode), the exact one."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from qdrant_client import QdrantClient

from ingest.embed.hashing import HashingEmbedder
from ingest.errors import IndexBusy, IndexMismatch
from ingest.index.bm25 import document_weights, query_weights
from ingest.index.edge import EdgeIndex
from ingest.index.memory import MemoryIndex
from ingest.index.port import ChunkIndex
from ingest.index.server import ServerIndex
from ingest.types import IndexPoint, SparseVector

EMBEDDER = HashingEmbedder()
TEXTS = [
    "Every employee has 24 days of annual leave.",
    "The oil change interval of Kittiwake is 500 hours.",
    "年休假为七天，结转五天。",
    "Passengers check in 15 minutes before departure.",
    "Invoices are paid within 30 days of receipt.",
]


def make(kind: str, folder: Path) -> ChunkIndex:
    if kind == "edge":
        return EdgeIndex.open(folder / "index", model=EMBEDDER.name, dimension=EMBEDDER.dimension)
    if kind == "server":
        return ServerIndex(QdrantClient(":memory:"), "citedrag", EMBEDDER.name, EMBEDDER.dimension)
    return MemoryIndex(EMBEDDER.dimension)


@pytest.fixture(params=["edge", "server", "memory"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ChunkIndex]:
    opened = make(request.param, tmp_path)
    yield opened
    opened.close()


def point(text: str, document_id: str = "d") -> IndexPoint:
    chunk_id = str(uuid.uuid5(uuid.NAMESPACE_URL, document_id + text))
    vector = EMBEDDER.embed_passages([text])[0].tolist()
    return IndexPoint(chunk_id, document_id, "local", vector, document_weights(text))


def search(index: ChunkIndex, query: str, limit: int = 5, document_ids: list[str] | None = None) -> list[str]:
    return [
        hit.chunk_id for hit in index.search(EMBEDDER.embed_query(query), query_weights(query), limit, document_ids)
    ]


def test_an_empty_index_finds_nothing(index: ChunkIndex) -> None:
    assert search(index, "annual leave") == []
    assert (index.count(), index.ids()) == (0, set())


@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_match_is_found_however_small_the_corpus(index: ChunkIndex, size: int) -> None:
    points = [point(text) for text in TEXTS[:size]]
    index.upsert(points)
    hits = index.search(EMBEDDER.embed_query("annual leave"), query_weights("annual leave"), 5)
    assert hits[0].chunk_id == points[0].id
    assert (hits[0].bm25 or 0) > 0
    assert (hits[0].dense or 0) > 0
    assert all(hit.bm25 is None for hit in hits if hit.chunk_id != points[0].id)


def test_chinese_terms_are_found(index: ChunkIndex) -> None:
    index.upsert([point(text) for text in TEXTS])
    assert search(index, "年休假几天")[0] == point(TEXTS[2]).id


def test_a_repeated_write_is_the_same_write_and_a_deleted_point_is_gone(index: ChunkIndex) -> None:
    for _ in range(2):
        index.upsert([point(text) for text in TEXTS])
    assert index.count() == len(TEXTS)
    index.delete([point(TEXTS[0]).id, str(uuid.uuid4())])
    assert index.ids() == {point(text).id for text in TEXTS[1:]}
    assert point(TEXTS[0]).id not in search(index, "annual leave")


def test_documents_can_be_chosen(index: ChunkIndex) -> None:
    index.upsert([point(TEXTS[0], "a"), point(TEXTS[0], "b")])
    assert search(index, "annual leave", document_ids=["b"]) == [point(TEXTS[0], "b").id]
    assert search(index, "annual leave", document_ids=[]) == []


@pytest.mark.parametrize("vector", [[0.0] * 64, [float("nan")] * 64, [float("inf")] * 64, [1.0] * 3])
def test_a_vector_that_is_none_is_refused(index: ChunkIndex, vector: list[float]) -> None:
    good = point(TEXTS[0])
    with pytest.raises(ValueError, match="vector"):
        index.upsert([IndexPoint(good.id, "d", "local", vector, good.sparse)])
    assert index.count() == 0


@pytest.mark.parametrize("vector", [[0.0] * 64, [float("nan")] * 64, [float("inf")] * 64, [1.0] * 3])
def test_a_query_vector_that_is_none_is_refused(index: ChunkIndex, vector: list[float]) -> None:
    with pytest.raises(ValueError, match="vector"):
        index.search(np.array(vector, np.float32), None, 5)


@pytest.mark.parametrize("chunk_id", ["doc#1", "日本", "", "00000000000000000000000000000001"])
def test_an_id_that_would_not_come_back_is_refused(index: ChunkIndex, chunk_id: str) -> None:
    good = point(TEXTS[0])
    with pytest.raises(ValueError, match="UUID"):
        index.upsert([IndexPoint(chunk_id, "d", "local", good.dense, good.sparse)])
    index.delete([chunk_id])
    assert index.count() == 0


def test_a_passage_without_terms_is_found_by_its_vector_alone(index: ChunkIndex) -> None:
    vector = EMBEDDER.embed_passages(["leave"])[0]
    index.upsert([IndexPoint(point("x").id, "d", "local", vector.tolist(), SparseVector((), ()))])
    (hit,) = index.search(EMBEDDER.embed_query("leave"), query_weights("leave"), 5)
    assert (hit.dense, hit.bm25) == (pytest.approx(1.0, abs=1e-5), None)


def test_either_side_alone_and_neither(index: ChunkIndex) -> None:
    index.upsert([point(text) for text in TEXTS])
    assert [hit.dense for hit in index.search(None, query_weights("annual"), 5)] == [None]
    assert {hit.bm25 for hit in index.search(EMBEDDER.embed_query("annual"), None, 5)} == {None}
    assert index.search(None, None, 5) == index.search(None, query_weights("…"), 5) == []
    assert index.search(EMBEDDER.embed_query("annual"), query_weights("annual"), 0) == []


def test_a_vector_counts_by_its_direction(index: ChunkIndex) -> None:
    good = point(TEXTS[0])
    index.upsert([IndexPoint(good.id, "d", "local", [3 * value for value in good.dense], good.sparse)])
    (hit,) = index.search(np.asarray(good.dense, np.float32), None, 5)
    assert hit.dense == pytest.approx(1.0, abs=1e-5)


def test_more_points_than_one_write_holds(index: ChunkIndex) -> None:
    points = [point(f"text number{n}") for n in range(401)]
    index.upsert(points)
    assert index.ids() == {one.id for one in points}
    assert search(index, "number400")[0] == points[400].id


def test_every_index_finds_the_same_with_the_same_scores(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    words = ["leave", "oil", "days", "hours", "ferry", "crew", "port", "invoice", "seal", "年假", "合同"]
    texts = [" ".join(generator.choice(words, size=generator.integers(4, 14))) + f" item{n}" for n in range(80)]
    points = []
    for n, text in enumerate(texts):
        one = point(text, f"d{n % 3}")
        weights = generator.uniform(0.5, 2.0, len(one.sparse.values)).tolist()  # real ones tie, and ties have no order
        points.append(replace(one, sparse=SparseVector(one.sparse.indices, tuple(weights))))
    indexes = [make(kind, tmp_path / kind) for kind in ("edge", "server", "memory")]
    for index in indexes:
        index.upsert(points)
        index.delete([one.id for one in points[:30]])
        index.flush()
    for n in range(30, 80, 3):
        question = f"item{n} {' '.join(generator.choice(words, size=2, replace=False))}"
        asked = EMBEDDER.embed_query(question), query_weights(question), 80, ["d0", "d2"] if n % 2 else None
        edge, server, memory = (index.search(*asked) for index in indexes)
        for other in (edge, server):
            assert [hit.chunk_id for hit in other] == [hit.chunk_id for hit in memory]
            for hit, expected in zip(other, memory, strict=True):
                assert hit.dense == pytest.approx(expected.dense, abs=1e-4)
                assert hit.bm25 == (expected.bm25 and pytest.approx(expected.bm25, rel=1e-4))
                assert hit.fused == pytest.approx(expected.fused, rel=1e-4)
    for index in indexes:
        index.close()


def test_one_process_holds_the_embedded_index(tmp_path: Path) -> None:
    first = make("edge", tmp_path)
    with pytest.raises(IndexBusy, match="another process"):
        make("edge", tmp_path)
    first.close()
    make("edge", tmp_path).close()


def test_an_index_of_another_model_is_refused(tmp_path: Path) -> None:
    make("edge", tmp_path).close()
    with pytest.raises(IndexMismatch, match="reindex"):
        EdgeIndex.open(tmp_path / "index", model="other", dimension=EMBEDDER.dimension)
    make("edge", tmp_path).close()
