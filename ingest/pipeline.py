"""How does a folder become searchable? discover -> read -> chunk -> embed -> write, file by file.

Order of writes for one file: vectors to the cache, points to the index, then the document to the catalog in one
transaction, then the old points out of the index. Search shows only chunks that the catalog knows, so a crash
between any two of these leaves nothing to be seen; the next ingestion repeats the file, and the same ids make it
the same write.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path, PurePosixPath

from ingest.catalog import SEARCHABLE, Catalog, Stat
from ingest.chunk import NAMESPACE, chunk_document
from ingest.discover import Found, open_regular
from ingest.errors import IngestError, PathNotAllowed, ReadError
from ingest.read.sandbox import read_safely
from ingest.scope import Scope, Scopes
from ingest.settings import IngestSettings
from ingest.tokenize import language
from ingest.types import Document, FileReport, FileStatus, IngestReport, ReadResult
from ingest.write import ChunkWriter

READ_AHEAD = 2
"""Files that are read while another is embedded: reading is an eighth of the work, so two keep the model busy."""

RETRIED = (FileStatus.FAILED, FileStatus.TIMED_OUT, FileStatus.REMOVED, FileStatus.DUPLICATE)
"""What is read again though the file looks unchanged: the cause, or the twin, may have gone."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingestion is: `done` of `total` files, the last one being `path` with `status`."""

    done: int
    total: int
    path: str
    status: str


@dataclass(frozen=True, slots=True)
class _Read:
    """A file's bytes by their hash, and what reading them gave: a result, or the reason why not."""

    sha256: str
    result: ReadResult | None = None
    status: FileStatus = FileStatus.INDEXED
    reason: str | None = None


def ingest(
    paths: Sequence[Path],
    settings: IngestSettings,
    catalog: Catalog,
    writer: ChunkWriter,
    progress: Callable[[Progress], None] = lambda _: None,
) -> IngestReport:
    """Make the files at `paths` searchable, and forget those that are gone. Raises PathNotAllowed for a missing path.

    One bad file never stops the rest: it has a report with its status and reason.
    """
    started = time.monotonic()
    writer.reconcile()
    written_before, embedded_before = writer.written, writer.embedded
    scopes = Scopes(paths, settings, catalog)
    found = scopes.files()
    reports: list[FileReport] = []
    for report in _process(found, settings, catalog, writer):
        reports.append(report)
        progress(Progress(len(reports), len(found), report.path, report.status.value))
    reports += [_remove(entry, catalog, writer) for entry in scopes.gone()]
    writer.flush()
    return IngestReport(
        files=tuple(reports),
        seconds=time.monotonic() - started,
        embedded=writer.embedded - embedded_before,
        written=writer.written - written_before,
    )


def _process(
    found: Sequence[tuple[Scope, Found]], settings: IngestSettings, catalog: Catalog, writer: ChunkWriter
) -> Iterator[FileReport]:
    """Yield the report of each file in order; the next files are read while this one is embedded."""
    with ThreadPoolExecutor(READ_AHEAD, thread_name_prefix="read") as pool:
        ahead: list[tuple[Scope, Found, Future[_Read] | None]] = []
        for scope, file in found:
            ahead.append((scope, file, pool.submit(_read, file, settings) if _changed(scope, file) else None))
            if len(ahead) > READ_AHEAD:
                yield _one(*ahead.pop(0), settings, catalog, writer)
        for waiting in ahead:
            yield _one(*waiting, settings, catalog, writer)


def _changed(scope: Scope, file: Found) -> bool:
    entry = scope.known.get(file.relative)
    return entry is None or entry[1] != _stat(file) or entry[0].status in RETRIED


def _read(file: Found, settings: IngestSettings) -> _Read:
    if file.skip is not None:
        return _Read("", status=file.skip[0], reason=file.skip[1])
    digest = ""
    try:
        data = open_regular(file.path, file.root, settings.max_bytes)
        digest = hashlib.sha256(data).hexdigest()
        result = read_safely(file.path, data, settings.read_timeout)
    except ReadError as error:
        return _Read(digest, status=error.status, reason=str(error))
    except PathNotAllowed as error:
        return _Read(digest, status=FileStatus.FAILED, reason=str(error))
    except OSError as error:
        return _Read(digest, status=FileStatus.FAILED, reason=f"cannot be opened: {error.strerror}")
    if not result.text.strip():
        return _Read(digest, result, FileStatus.NO_TEXT, "there is no text in it (a scan?): run OCR over it first")
    if result.failed_pages:
        pages = ", ".join(map(str, result.failed_pages))
        return _Read(digest, result, FileStatus.PARTIAL, f"pages that could not be read: {pages}")
    return _Read(digest, result)


def _one(
    scope: Scope, file: Found, future: Future[_Read] | None, settings: IngestSettings, catalog: Catalog,
    writer: ChunkWriter,
) -> FileReport:  # fmt: skip
    started = time.monotonic()
    known = scope.known.get(file.relative)
    if future is None and known is not None:
        return _standing(file, known[0])
    read = (future or _failed_future()).result()
    document = _identify(scope, file, read, settings, catalog)
    if document.status in SEARCHABLE and known is not None and _same(known[0], document):
        catalog.move(document.id, file.relative, _stat(file))
        return FileReport(file.relative, FileStatus.UNCHANGED, document_id=document.id, pages=document.pages)
    twin = _twin(document, settings, catalog)
    if twin is not None:
        document = replace(document, status=FileStatus.DUPLICATE, reason=f"same bytes as {twin.path}")
    try:
        chunks = _write(document, file, read, catalog, writer, started)
    except IngestError:
        raise
    except (OSError, ValueError) as error:
        document = replace(document, status=FileStatus.FAILED, reason=f"could not be written: {error}")
        catalog.store(document, _stat(file))
        chunks = 0
    scope.known[file.relative] = (document, _stat(file))
    return FileReport(
        path=file.relative, status=document.status, reason=document.reason, document_id=document.id,
        pages=document.pages, chunks=chunks, seconds=time.monotonic() - started, encoding=document.encoding,
    )  # fmt: skip


def _write(document: Document, file: Found, read: _Read, catalog: Catalog, writer: ChunkWriter, started: float) -> int:
    """Write one document; return how many chunks it has."""
    result = read.result if document.status in SEARCHABLE else None
    chunks = [] if result is None else chunk_document(document.id, document.version, result)
    old = catalog.chunk_ids(document.id)
    writer.write(document, chunks)
    catalog.store(
        document,
        _stat(file),
        text=None if result is None else result.text,
        byte_runs=None if result is None else result.byte_runs,
        pages=() if result is None else result.pages,
        chunks=chunks,
        seconds=time.monotonic() - started,
    )
    writer.delete(old - {chunk.id for chunk in chunks})
    return len(chunks)


def _identify(scope: Scope, file: Found, read: _Read, settings: IngestSettings, catalog: Catalog) -> Document:
    """Say which document a file is: the one at its path, the one that was moved here, or a new one."""
    previous = scope.known.get(file.relative, (None,))[0] or _moved(scope, file, read, catalog)
    result = read.result
    title = (result.title if result else None) or PurePosixPath(file.relative).stem
    changed = bool(read.sha256) and previous is not None and previous.sha256 != read.sha256
    version = 1 if previous is None else previous.version + int(changed)
    return Document(
        id=_new_id(f"{settings.tenant}/{scope.root}/{file.relative}", catalog) if previous is None else previous.id,
        root=str(scope.root),
        path=file.relative,
        title=title,
        sha256=read.sha256,
        version=version,
        media_type=result.media_type if result else "application/octet-stream",
        language=(result.language or language(result.text[:20_000])) if result else "",
        pages=len(result.pages) if result else 0,
        status=read.status,
        tenant=settings.tenant,
        date=result.date if result else None,
        encoding=result.encoding if result else None,
        reason=read.reason,
    )


def _new_id(first: str, catalog: Catalog) -> str:
    """Return the id that a first path gives, or the next one where the document that began there has moved away."""
    for number in count():
        document_id = str(uuid.uuid5(NAMESPACE, f"{first}#{number}" if number else first))
        if catalog.document(document_id) is None:
            break
    return document_id


def _moved(scope: Scope, file: Found, read: _Read, catalog: Catalog) -> Document | None:
    """Return the document whose file had these bytes and is no longer where it was."""
    for twin, _ in catalog.with_sha256(read.sha256) if read.sha256 else []:
        if twin.root == str(scope.root) and twin.path != file.relative and not (scope.root / twin.path).exists():
            scope.known.pop(twin.path, None)
            return twin
    return None


def _twin(document: Document, settings: IngestSettings, catalog: Catalog) -> Document | None:
    """Return another document that has, and still has on disk, the same bytes."""
    if document.status not in SEARCHABLE:
        return None
    twins = [entry for entry in catalog.with_sha256(document.sha256) if entry[0].id != document.id]
    return next((twin for twin, stat in twins if _stands(twin, stat, settings)), None)


def _stands(document: Document, stat: Stat, settings: IngestSettings) -> bool:
    """Say whether a document's file still has its bytes: it may be a file that this ingestion has not come to yet."""
    root = Path(document.root)
    path = root / document.path
    try:
        now = path.stat()
        if (now.st_size, now.st_mtime_ns, now.st_ino) == stat:
            return True
        return hashlib.sha256(open_regular(path, root, settings.max_bytes)).hexdigest() == document.sha256
    except (OSError, IngestError):
        return False


def _same(known: Document, document: Document) -> bool:
    return known.sha256 == document.sha256 and known.status in SEARCHABLE


def _standing(file: Found, document: Document) -> FileReport:
    """Report a file that was not read again: a good one is unchanged, any other is still what it was."""
    good = document.status in SEARCHABLE
    return FileReport(
        path=file.relative, status=FileStatus.UNCHANGED if good else document.status, reason=document.reason,
        document_id=document.id, pages=document.pages, encoding=document.encoding,
    )  # fmt: skip


def _remove(entry: tuple[Document, Stat], catalog: Catalog, writer: ChunkWriter) -> FileReport:
    document, stat = entry
    remove_document(document, stat, catalog, writer)
    return FileReport(path=document.path, status=FileStatus.REMOVED, document_id=document.id)


def remove_document(document: Document, stat: Stat, catalog: Catalog, writer: ChunkWriter) -> None:
    """Take a document's text and chunks away; its row stays, so that its version goes on if it comes back."""
    old = catalog.chunk_ids(document.id)
    catalog.store(replace(document, status=FileStatus.REMOVED, reason=None), stat)
    writer.delete(old)


def _stat(file: Found) -> Stat:
    return file.size, file.mtime_ns, file.inode


def _failed_future() -> Future[_Read]:
    future: Future[_Read] = Future()
    future.set_result(_Read("", status=FileStatus.FAILED, reason="was not read"))
    return future
