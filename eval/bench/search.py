"""How long does a search take as the corpus grows, beside brute force over the same vectors and the same terms?

A search is everything but the model: its query vectors are ready and nothing is reranked. Searches and references take
turns, query by query, and who begins changes with every query.
"""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
from rank_bm25 import BM25Okapi, BM25Plus

from app.core.types import Passage
from app.retrieval.search import RetrievalOptions, Retriever
from eval.bench.measure import OTHER, Stages, Timed, resident
from eval.bench.points import Points, fill, near, open_index
from eval.bench.result import MEGABYTE, MILLISECONDS, BenchResult, Row, percentile, ratio
from ingest.catalog import Catalog
from ingest.embed.port import Embedder, Vectors
from ingest.index.port import ChunkIndex
from ingest.library import Library
from ingest.settings import IngestSettings
from ingest.tokenize import query_terms, tokens

DIMENSION = 384
SIZES = (1_000, 10_000)
CANDIDATES = RetrievalOptions().candidates
LIMIT = 10
WARM_UP = 10
FILTERED = 10
"""Documents of a filter."""
QUERY_WORDS = 5
QUERY_SHARE = 0.7
"""How much of a query's vector is that of the chunk it was made from."""

SEARCH, FILTER = "search", "search, filtered"
NUMPY, OKAPI, PLUS = "NumPy brute force", "BM25Okapi", "BM25Plus"
NUMPY_FILTERED = "NumPy brute force, filtered"
STAGES = ("embed", "index", "fetch", OTHER)
EMBED = {"embed_query": "embed"}


class PassThrough:
    """A reranker that does nothing."""

    name = "pass-through"

    def rerank(self, query: str, passages: Sequence[Passage]) -> list[Passage]:
        """Return the passages as they came."""
        return list(passages)


class ReadyVectors:
    """An embedder whose query vectors are made before."""

    name = "ready"

    def __init__(self, vectors: Mapping[str, Vectors], dimension: int) -> None:
        self._vectors, self.dimension = vectors, dimension

    def embed_query(self, text: str) -> Vectors:
        """See `Embedder`."""
        return self._vectors[text]


@dataclass(frozen=True, slots=True)
class _Query:
    """A query with its vector, its terms, and the documents and rows of its filter."""

    text: str
    vector: Vectors
    terms: list[str]
    documents: list[str]
    rows: Any


@dataclass(slots=True)
class _Size:
    """What was measured at one size; seconds of every query by contestant, and by stage of the unfiltered search."""

    count: int
    seconds: dict[str, list[float]] = field(default_factory=dict)
    stages: dict[str, list[float]] = field(default_factory=dict)
    filled: float = 0.0
    recall: float = 0.0
    memory: dict[str, int] = field(default_factory=dict)
    disk: int = 0

    def at(self, name: str, part: float) -> float:
        """Return a percentile of a contestant, in milliseconds."""
        return percentile(self.seconds[name], part) * MILLISECONDS


def bench_search(
    sizes: Sequence[int] = SIZES,
    *,
    queries: int = 200,
    dimension: int = DIMENSION,
    seed: int = 0,
    progress: Callable[[str], None] = lambda _: None,
) -> BenchResult:
    """Measure searches over synthetic corpora of these many chunks, in a temporary folder; no model is needed."""
    measured = []
    with tempfile.TemporaryDirectory(prefix="citedrag-bench-") as temporary:
        for count in sorted(set(sizes)):
            progress(f"search: {count:,} chunks")
            measured.append(_size(Path(temporary) / str(count), count, queries, dimension, seed))
            gc.collect()
    rows = [row for one in measured for row in _rows(one)]
    growth = [row for less, more in pairwise(measured) for row in _growth(less, more)]
    conditions = {"queries": queries, "dimension": dimension, "candidates": CANDIDATES, "seed": seed}
    return BenchResult("search", conditions, (*rows, *growth))


def _size(folder: Path, count: int, queries: int, dimension: int, seed: int) -> _Size:
    folder.mkdir()
    found = _Size(count)
    before = resident()
    catalog, index = Catalog(folder / "catalog.db"), open_index(folder / "index", dimension)
    try:
        started = time.perf_counter()
        points = fill(catalog, index, count, dimension, seed)
        found.filled = time.perf_counter() - started
        found.memory[SEARCH] = max(0, resident() - before)
        found.disk = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        asked = _queries(points, queries, np.random.default_rng([seed, count]))
        stages = Stages()
        library = Library(
            IngestSettings(home=folder),
            cast(Catalog, Timed(catalog, stages, {"chunks": "fetch", "pages": "fetch"})),
            cast(ChunkIndex, Timed(index, stages, {"search": "index"})),
            cast(Embedder, Timed(ReadyVectors({q.text: q.vector for q in asked}, dimension), stages, EMBED)),
        )
        retriever = Retriever(library, PassThrough())
        _take_turns(_contestants(retriever, points, found), asked, stages, found)
        found.recall = _recall(index, points.vectors, asked)
    finally:
        index.close()
        catalog.close()
    return found


def _queries(points: Points, count: int, random: np.random.Generator) -> list[_Query]:
    """Return queries made of words of random chunks, with vectors near theirs."""
    picked = random.integers(0, len(points.chunks), count)
    vectors = near(points.vectors[picked], random, QUERY_SHARE)
    place = {document: number for number, document in enumerate(points.documents)}
    owners = np.array([place[chunk.document_id] for chunk in points.chunks])
    found = []
    for number, (row, vector) in enumerate(zip(picked, vectors, strict=True)):
        words = list(dict.fromkeys(query_terms(points.texts[row])))
        chosen = [words[i] for i in random.choice(len(words), min(QUERY_WORDS, len(words)), replace=False)]
        others = random.choice(len(points.documents), min(FILTERED, len(points.documents)), replace=False)
        kept = sorted({int(owners[row]), *map(int, others)})
        text = f"{' '.join(chosen)} {number}"
        documents = [points.documents[i] for i in kept]
        found.append(_Query(text, vector, query_terms(text), documents, np.flatnonzero(np.isin(owners, kept))))
    return found


def _contestants(retriever: Retriever, points: Points, found: _Size) -> dict[str, Callable[[_Query], object]]:
    vectors = points.vectors
    terms = [tokens(text) for text in points.texts]
    before = resident()
    okapi = BM25Okapi(terms)
    found.memory[OKAPI] = max(0, resident() - before)
    plus = BM25Plus(terms)
    found.memory[NUMPY] = vectors.nbytes
    return {
        SEARCH: lambda query: retriever.search(query.text, LIMIT),
        FILTER: lambda query: retriever.search(query.text, LIMIT, query.documents),
        NUMPY: lambda query: _best(vectors @ query.vector, CANDIDATES),
        NUMPY_FILTERED: lambda query: query.rows[_best(vectors[query.rows] @ query.vector, CANDIDATES)],
        OKAPI: lambda query: _best(okapi.get_scores(query.terms), CANDIDATES),
        PLUS: lambda query: _best(plus.get_scores(query.terms), CANDIDATES),
    }


def _best(scores: Any, count: int) -> Any:
    """Return the rows with the highest scores, best first."""
    count = min(count, len(scores))
    some = np.argpartition(-scores, count - 1)[:count]
    return some[np.argsort(-scores[some], kind="stable")]


def _take_turns(
    contestants: Mapping[str, Callable[[_Query], object]], asked: Sequence[_Query], stages: Stages, found: _Size
) -> None:
    for query in asked[:WARM_UP]:
        for work in contestants.values():
            work(query)
    found.seconds.update({name: [] for name in contestants})
    found.stages.update({name: [] for name in STAGES})
    order = list(contestants)
    for query in asked:
        order = [*order[1:], order[0]]
        for name in order:
            stages.take()
            started = time.perf_counter()
            contestants[name](query)
            found.seconds[name].append(time.perf_counter() - started)
            if name == SEARCH:
                spent = stages.take()
                for stage in STAGES:
                    found.stages[stage].append(spent[stage].wall if stage in spent else 0.0)


def _recall(index: ChunkIndex, vectors: Vectors, asked: Sequence[_Query]) -> float:
    """Return the mean share of the nearest passages by brute force whose cosine the index's own ones reach."""
    shares = []
    for query in asked:
        cosines = vectors @ query.vector
        least = cosines[_best(cosines, LIMIT)[-1]]
        hits = index.search(query.vector, None, LIMIT)
        shares.append(sum((hit.dense or 0.0) >= least - 1e-5 for hit in hits) / min(LIMIT, len(vectors)))
    return float(np.mean(shares))


def _rows(one: _Size) -> list[Row]:
    at, size = one.at, f"{one.count:,}"
    typical = at(SEARCH, 50)
    hybrid = at(NUMPY, 50) + at(OKAPI, 50)
    rows = [
        Row(f"{size}: filled in", one.filled, "s"),
        *(Row(f"{size}: search, p50 ({name})", typical, "ms", ratio(typical, at(name, 50)), name)
          for name in (NUMPY, OKAPI, PLUS)),
        Row(f"{size}: search, p50 (both)", typical, "ms", ratio(typical, hybrid), f"{NUMPY} + {OKAPI}"),
        Row(f"{size}: search, p95", at(SEARCH, 95), "ms", ratio(at(SEARCH, 95), typical), "its p50"),
    ]  # fmt: skip
    for stage in STAGES:
        part = percentile(one.stages[stage], 50) * MILLISECONDS
        rows.append(Row(f"{size}: {stage}, p50", part, "ms", ratio(part, typical), "search, p50"))
        rows.append(Row(f"{size}: {stage}, p95", percentile(one.stages[stage], 95) * MILLISECONDS, "ms"))
    filtered = at(FILTER, 50)
    rows += [
        Row(f"{size}: filtered, p50", filtered, "ms", ratio(filtered, typical), "search, p50"),
        Row(f"{size}: filtered, p50 (NumPy)", filtered, "ms", ratio(filtered, at(NUMPY_FILTERED, 50)), NUMPY_FILTERED),
        Row(f"{size}: filtered, p95", at(FILTER, 95), "ms", ratio(at(FILTER, 95), filtered), "its p50"),
    ]
    for name in (NUMPY, NUMPY_FILTERED, OKAPI, PLUS):
        rows.append(Row(f"{size}: {name}, p50", at(name, 50), "ms"))
        rows.append(Row(f"{size}: {name}, p95", at(name, 95), "ms"))
    memory, kept = one.memory[SEARCH] / MEGABYTE, one.memory[NUMPY] / MEGABYTE
    return [
        *rows,
        Row(f"{size}: nearest found of {LIMIT}", one.recall, ""),
        Row(f"{size}: memory after filling", memory, "MB", ratio(memory, kept), "the vectors alone"),
        Row(f"{size}: memory of BM25Okapi", one.memory[OKAPI] / MEGABYTE, "MB"),
        Row(f"{size}: on disk", one.disk / MEGABYTE, "MB"),
    ]


def _growth(less: _Size, more: _Size) -> list[Row]:
    name = f"growth from {less.count:,} to {more.count:,}"
    rows = []
    for one in (SEARCH, FILTER, NUMPY, OKAPI, PLUS):
        value = more.at(one, 50)
        rows.append(Row(f"{name}: {one}, p50", value, "ms", ratio(value, less.at(one, 50)), f"{less.count:,} chunks"))
    return rows
