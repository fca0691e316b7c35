"""How are two rankings made one, and what may a vector look like?"""

from __future__ import annotations

import math
import uuid
from collections.abc import Iterable, Sequence

from ingest.embed.port import Vectors
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
    """Raise ValueError for an id that is no UUID, or a vector of the wrong length, not finite, or zero."""
    for point in points:
        if not is_id(point.id):
            raise ValueError(f"chunk {point.id!r}: the id is not a UUID in its usual form")
        _check_vector(point.dense, dimension, f"chunk {point.id}")
        if not all(map(math.isfinite, point.sparse.values)):
            raise ValueError(f"chunk {point.id}: a term weight of the vector is not finite")


def check_query(dense: Vectors | None, dimension: int) -> None:
    """Raise ValueError for a query vector of the wrong length, not finite, or zero."""
    if dense is not None:
        _check_vector(dense.tolist(), dimension, "query")


def is_id(chunk_id: str) -> bool:
    """Say whether an id is one that every engine takes and gives back unchanged: a UUID, lower case, with hyphens."""
    try:
        return str(uuid.UUID(chunk_id)) == chunk_id
    except ValueError:
        return False


def _check_vector(vector: Sequence[float], dimension: int, owner: str) -> None:
    if len(vector) != dimension:
        raise ValueError(f"{owner}: the vector has {len(vector)} dimensions, not {dimension}")
    norm = math.fsum(value * value for value in vector) if all(map(math.isfinite, vector)) else math.inf
    if not math.isfinite(norm) or norm <= 0.0:
        raise ValueError(f"{owner}: the vector is zero or not finite")
