"""The embedded index: Qdrant Edge, the real engine in this process, owned by one thread and one process."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import threading
import uuid
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar, cast

import qdrant_edge as qe

from ingest.embed.port import Vectors
from ingest.errors import IndexMismatch, IngestError
from ingest.index.fusion import RRF_K, check, check_query, is_id
from ingest.index.lock import FolderLock
from ingest.types import Hit, IndexPoint, SparseVector

T = TypeVar("T")

FORMAT = 1
DENSE, SPARSE = "dense", "bm25"
UPSERT = 200
"""Points in one upsert: 500 hold the interpreter for 9 ms."""
SCROLL = 1000
STALE = 0.1
"""Share of points removed after which the idf is wrong enough: the engine counts removed ones until it loads again."""


class EdgeIndex:
    """Chunks in a Qdrant Edge shard. Open with `open`."""

    def __init__(self, shard: Any, lock: FolderLock, dimension: int, path: Path) -> None:
        self._shard = shard
        self._path = path
        self._removed = 0
        self._lock = lock
        self._dimension = dimension
        self._owner = ThreadPoolExecutor(1, thread_name_prefix="index")
        self._closed = False
        self._closing = threading.Lock()

    @classmethod
    def open(cls, path: Path, *, model: str, dimension: int) -> EdgeIndex:
        """Open or create the index. Raises IndexBusy, IndexMismatch, or IngestError where the folder is damaged."""
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        with contextlib.suppress(OSError):  # a file system without permissions
            path.chmod(0o700)
        lock = FolderLock(path)
        try:
            stamp = {"format": FORMAT, "model": model, "dimension": dimension}
            return cls(_open_shard(path, stamp), lock, dimension, path)
        except BaseException:
            lock.release()
            raise

    def _call(self, work: Callable[[], T]) -> T:
        """Run on the one thread that touches the shard."""
        return self._owner.submit(work).result()

    def upsert(self, points: Sequence[IndexPoint]) -> None:
        """See `ChunkIndex`."""
        check(points, self._dimension)
        for start in range(0, len(points), UPSERT):
            part = [_point(point) for point in points[start : start + UPSERT]]
            self._call(lambda part=part: self._shard.update(qe.UpdateOperation.upsert_points(part)))  # type: ignore[misc]  # mypy cannot infer a default argument

    def delete(self, chunk_ids: Collection[str]) -> None:
        """See `ChunkIndex`."""
        known: list[int | uuid.UUID | str] = [chunk_id for chunk_id in chunk_ids if is_id(chunk_id)]
        if known:
            self._call(lambda: self._delete(known))

    def _delete(self, known: list[int | uuid.UUID | str]) -> None:
        self._shard.update(qe.UpdateOperation.delete_points(known))
        self._removed += len(known)

    def search(
        self, dense: Vectors | None, sparse: SparseVector | None, limit: int,
        document_ids: Collection[str] | None = None,
    ) -> list[Hit]:  # fmt: skip
        """See `ChunkIndex`. One batch asks the engine for both rankings and for their fusion."""
        check_query(dense, self._dimension)
        if limit < 1 or (document_ids is not None and not document_ids):
            return []
        queries = []
        if dense is not None:
            queries.append((DENSE, qe.Query.Nearest(dense.tolist(), using=DENSE)))
        if sparse is not None and sparse.indices:
            vector = qe.SparseVector(indices=list(sparse.indices), values=list(sparse.values))
            queries.append((SPARSE, qe.Query.Nearest(vector, using=SPARSE)))
        if not queries:
            return []
        only = None
        if document_ids is not None:
            condition = qe.FieldCondition(key="document_id", match=qe.MatchAny(list(document_ids)))
            only = qe.Filter(must=[condition])
        requests = [qe.QueryRequest(limit=limit, query=query, filter=only) for _, query in queries]
        prefetches = [qe.Prefetch(limit=limit, query=query, filter=only) for _, query in queries]
        fusion = cast(Any, qe.Fusion.Rrf(k=RRF_K + 1))  # the engine counts ranks from 0
        requests.append(qe.QueryRequest(limit=limit, query=fusion, prefetches=prefetches))
        *rankings, fused = self._call(lambda: self._shard.query_batch(qe.QueryBatchRequest(requests)))
        scores = {name: {str(p.id): p.score for p in found} for (name, _), found in zip(queries, rankings, strict=True)}
        hits = [
            Hit(
                str(p.id),
                scores.get(DENSE, {}).get(str(p.id)),
                scores.get(SPARSE, {}).get(str(p.id)),
                p.score,
            )
            for p in fused
        ]
        return sorted(hits, key=lambda hit: (-hit.fused, hit.chunk_id))

    def count(self) -> int:
        """See `ChunkIndex`."""
        return int(self._call(lambda: self._shard.count(qe.CountRequest(exact=True))))

    def ids(self) -> set[str]:
        """See `ChunkIndex`."""
        found: set[str] = set()
        offset = None
        while True:
            request = qe.ScrollRequest(offset=offset, limit=SCROLL, with_payload=False, with_vector=False)
            records, offset = self._call(lambda request=request: self._shard.scroll(request))  # type: ignore[misc]  # as above
            found.update(str(record.id) for record in records)
            if offset is None:
                return found

    def flush(self) -> None:
        """See `ChunkIndex`. After many removals the shard is loaded again, for the sake of the idf."""
        self._call(self._flush)

    def _flush(self) -> None:
        self._shard.flush()
        if self._removed > STALE * self._shard.count(qe.CountRequest(exact=True)):
            self._shard.close()
            self._shard = _load(self._path)
            self._removed = 0

    def close(self) -> None:
        """See `ChunkIndex`."""
        with self._closing:
            if self._closed:
                return
            self._closed = True
            try:
                self._call(lambda: (self._shard.flush(), self._shard.close()))
            finally:  # a full disk must not keep the folder locked
                self._owner.shutdown()
                self._lock.release()


def _open_shard(path: Path, stamp: dict[str, Any]) -> Any:
    """Open the shard, or create it in a folder that never held one: what is lost must not look like an empty index."""
    stamp_file, folder = path / "stamp.json", path / "shard"
    found = _read_stamp(stamp_file)
    if found is not None and found != stamp:
        raise IndexMismatch(
            f"The index was made with {found.get('model')} (format {found.get('format')}), not with "
            f"{stamp['model']}: run `citedrag reindex --rebuild`, or set CITEDRAG_EMBEDDER back."
        )
    if found is None and not (folder.exists() and any(folder.iterdir())):
        folder.mkdir(exist_ok=True, mode=0o700)
        shard = qe.EdgeShard.create(str(folder), _config(stamp["dimension"]))
        _write_stamp(stamp_file, stamp)
        return shard
    shard = _load(path)
    if found is None:
        held = shard.count(qe.CountRequest(exact=True))
        shard.close()
        if held:
            raise _damaged(path, "nothing says which model made it")
        shutil.rmtree(folder)  # a creation that was interrupted: nothing is written before the stamp
        return _open_shard(path, stamp)
    return shard


def _load(path: Path) -> Any:
    folder = path / "shard"
    if not (folder / "segments").is_dir():  # the engine would make new, empty ones
        raise _damaged(path, "its segments are missing")
    try:
        return qe.EdgeShard.load(str(folder))
    except Exception as error:  # the engine raises its own bare exceptions
        raise _damaged(path, str(error)) from error


def _read_stamp(file: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise _damaged(file.parent, f"{file.name} cannot be read") from error
    if not isinstance(found, dict):
        raise _damaged(file.parent, f"{file.name} is no stamp")
    return found


def _write_stamp(file: Path, stamp: dict[str, Any]) -> None:
    temporary = file.with_suffix(".new")
    with temporary.open("w", encoding="utf-8") as out:
        json.dump(stamp, out)
        out.flush()
        os.fsync(out.fileno())
    temporary.replace(file)


def _damaged(path: Path, reason: str) -> IngestError:
    return IngestError(f"The index in {path} cannot be opened ({reason}): run `citedrag reindex --rebuild`.")


def _config(dimension: int) -> Any:
    return qe.EdgeConfig(
        vectors={DENSE: qe.EdgeVectorParams(size=dimension, distance=qe.Distance.Cosine)},
        sparse_vectors={SPARSE: qe.EdgeSparseVectorParams(modifier=qe.Modifier.Idf)},
    )


def _point(point: IndexPoint) -> Any:
    vector: dict[str, Any] = {
        DENSE: list(point.dense),
        SPARSE: qe.SparseVector(indices=list(point.sparse.indices), values=list(point.sparse.values)),
    }
    return qe.Point(id=point.id, vector=vector, payload={"document_id": point.document_id, "tenant": point.tenant})
