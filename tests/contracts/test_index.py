"""One suite over every index: the embedded engine, a Qdrant server (the client in local mode), the exact one."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
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
from ingest.types import IndexPoint

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


def test_every_index_ranks_alike(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    words = ["leave", "oil", "days", "hours", "ferry", "crew", "port", "invoice", "seal", "table", "fare", "trip"]
    texts = [" ".join(generator.choice(words, size=8)) + f" item{n}" for n in range(60)]
    tops = []
    for kind in ("edge", "server", "memory"):
        opened = make(kind, tmp_path / kind)
        opened.upsert([point(text) for text in texts])
        tops.append([frozenset(search(opened, f"item{n} {texts[n].split()[0]}", limit=3)[:1]) for n in range(0, 60, 7)])
        opened.close()
    assert tops[0] == tops[1] == tops[2]


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
