"""What must an index do?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from ingest.embed.port import Vectors
from ingest.types import Hit, IndexPoint, SparseVector


class ChunkIndex(Protocol):
    """Holds one point a chunk. Writes are idempotent by id. Safe to call from several threads."""

    def upsert(self, points: Sequence[IndexPoint]) -> None:
        """Write points; raises ValueError for a vector of wrong length, not finite or zero."""

    def delete(self, chunk_ids: Collection[str]) -> None:
        """Remove points by id; unknown ids are ignored."""

    def search(
        self,
        dense: Vectors | None,
        sparse: SparseVector | None,
        limit: int,
        document_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return at most `limit` hits by reciprocal rank fusion; a passage without a query term gets no bm25."""

    def count(self) -> int:
        """Return the number of points."""

    def ids(self) -> set[str]:
        """Return all chunk ids held."""

    def flush(self) -> None:
        """Make everything written so far survive a crash."""

    def close(self) -> None:
        """Release the index; a second call does nothing."""
