"""The same index on a Qdrant server or cluster, through qdrant-client."""

from __future__ import annotations

import threading
import uuid
import warnings
from collections.abc import Collection, Sequence

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from ingest.embed.port import Vectors
from ingest.errors import IndexMismatch, IngestError
from ingest.index.edge import DENSE, SPARSE, UPSERT
from ingest.index.fusion import check, check_query, fuse, is_id
from ingest.types import Hit, IndexPoint, SparseVector


class ServerIndex:
    """Chunks in a collection. One call at a time: the client's local mode is not safe to share between threads.

    Making one raises IngestError if the server does not answer, IndexMismatch if its collection has another layout.
    """

    def __init__(
        self,
        client: QdrantClient | str,
        collection: str,
        model: str,
        dimension: int,
        api_key: str | None = None,
    ) -> None:
        self._client = _connect(client, api_key) if isinstance(client, str) else client
        self._collection = f"{collection}-{model.replace('/', '-')}"
        self._dimension = dimension
        self._lock = threading.RLock()
        try:
            self._prepare()
        except (ResponseHandlingException, UnexpectedResponse, OSError) as error:
            raise IngestError(
                f"The Qdrant server does not answer as it should ({error}): check CITEDRAG_QDRANT_URL and its key."
            ) from error

    def _prepare(self) -> None:
        if not self._client.collection_exists(self._collection):
            try:
                self._create()
            except UnexpectedResponse:
                if not self._client.collection_exists(self._collection):  # else another process was first
                    raise
        layout = self._client.get_collection(self._collection).config.params
        dense = layout.vectors.get(DENSE) if isinstance(layout.vectors, dict) else None
        if dense is None or dense.size != self._dimension or SPARSE not in (layout.sparse_vectors or {}):
            raise IndexMismatch(
                f"The collection {self._collection} has another layout: delete it on the server, then run "
                "`citedrag reindex`."
            )

    def _create(self) -> None:
        self._client.create_collection(
            self._collection,
            vectors_config={DENSE: models.VectorParams(size=self._dimension, distance=models.Distance.COSINE)},
            sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
        )
        with warnings.catch_warnings():  # the client's local mode says that it has no use for it
            warnings.simplefilter("ignore", UserWarning)
            self._client.create_payload_index(
                self._collection, "document_id", field_schema=models.PayloadSchemaType.KEYWORD
            )

    def upsert(self, points: Sequence[IndexPoint]) -> None:
        """See `ChunkIndex`."""
        check(points, self._dimension)
        for start in range(0, len(points), UPSERT):
            with self._lock:
                self._client.upsert(self._collection, [_point(one) for one in points[start : start + UPSERT]])

    def delete(self, chunk_ids: Collection[str]) -> None:
        """See `ChunkIndex`."""
        known: list[int | str | uuid.UUID] = [chunk_id for chunk_id in chunk_ids if is_id(chunk_id)]
        if known:
            with self._lock:
                self._client.delete(self._collection, models.PointIdsList(points=known))

    def search(
        self, dense: Vectors | None, sparse: SparseVector | None, limit: int,
        document_ids: Collection[str] | None = None,
    ) -> list[Hit]:  # fmt: skip
        """See `ChunkIndex`. Fused here: the server would answer with the fused score alone."""
        check_query(dense, self._dimension)
        if limit < 1 or (document_ids is not None and not document_ids):
            return []
        by_vector = [] if dense is None else self._query(dense.tolist(), DENSE, limit, document_ids)
        by_term = []
        if sparse is not None and sparse.indices:
            vector = models.SparseVector(indices=list(sparse.indices), values=list(sparse.values))
            by_term = [pair for pair in self._query(vector, SPARSE, limit, document_ids) if pair[1] > 0]
        return fuse(by_vector, by_term, limit)

    def _query(
        self, query: list[float] | models.SparseVector, using: str, limit: int,
        document_ids: Collection[str] | None,
    ) -> list[tuple[str, float]]:  # fmt: skip
        only = None
        if document_ids is not None:
            match = models.FieldCondition(key="document_id", match=models.MatchAny(any=list(document_ids)))
            only = models.Filter(must=[match])
        with self._lock:
            found = self._client.query_points(
                self._collection, query=query, using=using, limit=limit, query_filter=only, with_payload=False
            )
        return [(str(point.id), point.score) for point in found.points]

    def count(self) -> int:
        """See `ChunkIndex`."""
        with self._lock:
            return self._client.count(self._collection, exact=True).count

    def ids(self) -> set[str]:
        """See `ChunkIndex`."""
        found: set[str] = set()
        offset = None
        while True:
            with self._lock:
                records, offset = self._client.scroll(
                    self._collection, limit=1000, offset=offset, with_payload=False, with_vectors=False
                )
            found.update(str(record.id) for record in records)
            if offset is None:
                return found

    def flush(self) -> None:
        """See `ChunkIndex`; the server keeps what it has acknowledged."""

    def close(self) -> None:
        """See `ChunkIndex`."""
        with self._lock:
            self._client.close()


def _connect(url: str, api_key: str | None) -> QdrantClient:
    # The client's own look at the version only warns where a server is away: making the collection says it clearly.
    return QdrantClient(url=url, api_key=api_key, check_compatibility=False)


def _point(point: IndexPoint) -> models.PointStruct:
    sparse = models.SparseVector(indices=list(point.sparse.indices), values=list(point.sparse.values))
    return models.PointStruct(
        id=point.id,
        vector={DENSE: list(point.dense), SPARSE: sparse},
        payload={"document_id": point.document_id, "tenant": point.tenant},
    )
