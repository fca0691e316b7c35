"""How are two rankings made one, and what may a vector look like?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ingest.types import Hit, IndexPoint

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)."""


def fuse(dense: Sequence[tuple[str, float]], bm25: Sequence[tuple[str, float]], limit: int) -> list[Hit]:
    """Join two rankings of (id, score), best first, by the sum of 1 / (k + rank), ranks from 1."""
    fused: dict[str, float] = {}
    for ranking in (dense, bm25):
        for rank, (chunk_id, _) in enumerate(ranking, 1):
            fused[chunk_id] = fused.get(chunk_id, 0.0) + 1.0 / (RRF_K + rank)
    by_dense, by_bm25 = dict(dense), dict(bm25)
    hits = [Hit(key, by_dense.get(key), by_bm25.get(key), score) for key, score in fused.items()]
    return sorted(hits, key=lambda hit: (-hit.fused, hit.chunk_id))[:limit]


def check(points: Iterable[IndexPoint], dimension: int) -> None:
    """Raise ValueError for a vector of the wrong length, one that is not finite, or zero."""
    for point in points:
        if len(point.dense) != dimension:
            raise ValueError(f"chunk {point.id}: the vector has {len(point.dense)} dimensions, not {dimension}")
        norm = math.fsum(value * value for value in point.dense)
        if not math.isfinite(norm) or norm <= 0.0:
            raise ValueError(f"chunk {point.id}: the vector is zero or not finite")
