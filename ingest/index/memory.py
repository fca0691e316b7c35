"""A small exact index in memory: the reference of the contract tests, and what measuring uses."""

from __future__ import annotations

import math
import threading
from collections.abc import Collection, Sequence

import numpy as np

from ingest.embed.port import Vectors
from ingest.index.fusion import check, check_query, fuse
from ingest.types import Hit, IndexPoint, SparseVector


class MemoryIndex:
    """Keeps points in a dictionary and scores every one of them."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._points: dict[str, IndexPoint] = {}
        self._lock = threading.Lock()

    def upsert(self, points: Sequence[IndexPoint]) -> None:
        """See `ChunkIndex`."""
        check(points, self._dimension)
        with self._lock:
            self._points.update((point.id, point) for point in points)

    def delete(self, chunk_ids: Collection[str]) -> None:
        """See `ChunkIndex`."""
        with self._lock:
            for chunk_id in list(chunk_ids):
                self._points.pop(chunk_id, None)

    def search(
        self, dense: Vectors | None, sparse: SparseVector | None, limit: int,
        document_ids: Collection[str] | None = None,
    ) -> list[Hit]:  # fmt: skip
        """See `ChunkIndex`."""
        check_query(dense, self._dimension)
        with self._lock:
            every = list(self._points.values())
        only = None if document_ids is None else set(document_ids)
        points = [point for point in every if only is None or point.document_id in only]
        limit = max(limit, 0)
        by_vector = [] if dense is None else self._dense(dense, points, limit)
        by_term = [] if sparse is None else _bm25(sparse, points, every, limit)
        return fuse(by_vector, by_term, limit)

    def _dense(self, query: Vectors, points: Sequence[IndexPoint], limit: int) -> list[tuple[str, float]]:
        if not points:
            return []
        rows = np.array([point.dense for point in points], dtype=np.float32)
        scores = rows @ query / (np.linalg.norm(rows, axis=1) * np.linalg.norm(query))
        return _best([(point.id, float(score)) for point, score in zip(points, scores, strict=True)], limit)

    def count(self) -> int:
        """See `ChunkIndex`."""
        return len(self._points)

    def ids(self) -> set[str]:
        """See `ChunkIndex`."""
        return set(self._points)

    def flush(self) -> None:
        """See `ChunkIndex`; there is nothing to keep."""

    def close(self) -> None:
        """See `ChunkIndex`."""


def _bm25(
    query: SparseVector, points: Sequence[IndexPoint], every: Sequence[IndexPoint], limit: int
) -> list[tuple[str, float]]:
    """Score with the idf of the whole index, as the engine does."""
    frequency = {term: sum(term in point.sparse.indices for point in every) for term in query.indices}
    total = len(every)
    idf = {term: math.log(1 + (total - n + 0.5) / (n + 0.5)) for term, n in frequency.items()}
    scored = []
    for point in points:
        weights = dict(zip(point.sparse.indices, point.sparse.values, strict=True))
        score = sum(
            value * idf[term] * weights[term]
            for term, value in zip(query.indices, query.values, strict=True)
            if term in weights
        )
        if score > 0:
            scored.append((point.id, score))
    return _best(scored, limit)


def _best(scored: list[tuple[str, float]], limit: int) -> list[tuple[str, float]]:
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:limit]
