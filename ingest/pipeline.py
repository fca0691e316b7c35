"""How does a folder become searchable? discover -> read -> chunk -> embed -> write; embedded in groups, written alone.

Order of writes for one file: vectors to the cache, points to the index, then the document to the catalog in one
transaction, then the old points out of the index. Search shows only chunks that the catalog knows, so a crash
between any two of these leaves nothing to be seen; the next ingestion repeats the file, and the same ids make it
the same write. The index is flushed once a group: a mark stands in the folder until the end, and whoever finds one
compares index and catalog point by point.
"""

from __future__ import annotations

import hashlib
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from ingest.ahead import Reading, Ready, groups, stat_of, title_of
from ingest.catalog import SEARCHABLE, Catalog, Stat
from ingest.chunk import NAMESPACE, identified
from ingest.discover import Found, open_regular
from ingest.errors import IngestError
from ingest.scope import Scope, Scopes
from ingest.settings import IngestSettings
from ingest.tokenize import language
from ingest.types import Document, FileReport, FileStatus, IngestReport
from ingest.write import ChunkWriter


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an ingestion is: `done` of `total` files, the last one being `path` with `status`; `pages` so far."""

    done: int
    total: int
    path: str
    status: str
    pages: int = 0


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
    writer.reconcile(thorough=settings.unfinished_path.exists())
    written_before, embedded_before = writer.written, writer.embedded
    scopes = Scopes(paths, settings, catalog)
    found = scopes.files()
    reports: list[FileReport] = []
    pages = 0
    with _marked(settings, writer):
        for report in _process(found, settings, catalog, writer):
            reports.append(report)
            pages += report.pages
            progress(Progress(len(reports), len(found), report.path, report.status.value, pages))
        reports += [_remove(entry, catalog, writer) for entry in scopes.gone()]
    return IngestReport(
        files=tuple(reports),
        seconds=time.monotonic() - started,
        embedded=writer.embedded - embedded_before,
        written=writer.written - written_before,
    )


@contextmanager
def _marked(settings: IngestSettings, writer: ChunkWriter) -> Iterator[None]:
    """Leave a mark while points may be written that are not flushed yet; it is gone only after a clean end."""
    settings.unfinished_path.parent.mkdir(parents=True, exist_ok=True)
    settings.unfinished_path.touch()
    yield
    writer.flush()
    settings.unfinished_path.unlink(missing_ok=True)


def _process(
    found: Sequence[tuple[Scope, Found]], settings: IngestSettings, catalog: Catalog, writer: ChunkWriter
) -> Iterator[FileReport]:
    """Yield the report of each file in order; while one group is embedded and written, the next is read."""
    for group in groups(found, settings):
        writer.warm([text for ready in group for text in ready.texts])
        for ready in group:
            yield _one(ready, settings, catalog, writer)
        writer.flush()


def _one(ready: Ready, settings: IngestSettings, catalog: Catalog, writer: ChunkWriter) -> FileReport:
    started = time.monotonic()
    scope, file, read = ready.scope, ready.file, ready.read
    known = scope.known.get(file.relative)
    if read is None:
        return _standing(file, scope.known[file.relative][0])
    document = _identify(scope, file, read, settings, catalog)
    if document.status in SEARCHABLE and known is not None and _same(known[0], document):
        catalog.move(document.id, file.relative, stat_of(file), document.ocr_languages)
        return FileReport(
            file.relative, FileStatus.UNCHANGED, document_id=document.id, pages=document.pages,
            ocr=bool(document.ocr_pages),
        )  # fmt: skip
    twin = _twin(document, settings, catalog)
    if twin is not None:
        document = replace(document, status=FileStatus.DUPLICATE, reason=f"same bytes as {twin.path}")
    try:
        chunks = _write(document, ready, catalog, writer, started)
    except IngestError:
        raise
    except (OSError, ValueError) as error:
        document = replace(document, status=FileStatus.FAILED, reason=f"could not be written: {error}")
        catalog.store(document, stat_of(file))
        chunks = 0
    scope.known[file.relative] = (document, stat_of(file))
    return FileReport(
        path=file.relative, status=document.status, reason=document.reason, document_id=document.id,
        pages=document.pages, chunks=chunks, seconds=time.monotonic() - started, encoding=document.encoding,
        ocr=bool(document.ocr_pages),
    )  # fmt: skip


def _write(document: Document, ready: Ready, catalog: Catalog, writer: ChunkWriter, started: float) -> int:
    """Write one document; return how many chunks it has."""
    good = document.status in SEARCHABLE and ready.read is not None
    result = ready.read.result if good and ready.read is not None else None
    chunks = [] if result is None else [identified(chunk, document.id, document.version) for chunk in ready.chunks]
    old = catalog.chunk_ids(document.id)
    writer.write(document, chunks)
    catalog.store(
        document,
        stat_of(ready.file),
        text=None if result is None else result.text,
        byte_runs=None if result is None else result.byte_runs,
        pages=() if result is None else result.pages,
        chunks=chunks,
        ocr_pages=() if result is None else result.ocr_pages,
        seconds=time.monotonic() - started,
    )
    writer.delete(old - {chunk.id for chunk in chunks})
    return len(chunks)


def _identify(scope: Scope, file: Found, read: Reading, settings: IngestSettings, catalog: Catalog) -> Document:
    """Say which document a file is: the one at its path, the one that was moved here, or a new one."""
    previous = scope.known.get(file.relative, (None,))[0] or _moved(scope, file, read, catalog)
    result = read.result
    title = title_of(file, result)
    ocr_pages = tuple(page.number for page in result.ocr_pages) if result else ()
    changed = previous is not None and (
        (bool(read.sha256) and previous.sha256 != read.sha256)
        or _recognised(previous.ocr_pages, previous.ocr_languages) != _recognised(ocr_pages, read.ocr_languages)
    )
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
        tags=result.tags if result else (),
        reason=read.reason,
        ocr_pages=ocr_pages,
        ocr_languages=read.ocr_languages,
    )


def _new_id(first: str, catalog: Catalog) -> str:
    """Return the id that a first path gives, or the next one where the document that began there has moved away."""
    for number in count():
        document_id = str(uuid.uuid5(NAMESPACE, f"{first}#{number}" if number else first))
        if catalog.document(document_id) is None:
            break
    return document_id


def _moved(scope: Scope, file: Found, read: Reading, catalog: Catalog) -> Document | None:
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
    """Say whether what is stored of a document is what would be stored now."""
    return (known.sha256, known.status, known.reason) == (document.sha256, document.status, document.reason) and (
        _recognised(known.ocr_pages, known.ocr_languages) == _recognised(document.ocr_pages, document.ocr_languages)
    )


def _recognised(pages: Sequence[int], languages: str) -> tuple[tuple[int, ...], str]:
    """Return by what two readings by OCR are told apart; without a page that it gave they are all the same."""
    return tuple(pages), languages if pages else ""


def _standing(file: Found, document: Document) -> FileReport:
    """Report a file that was not read again: a good one is unchanged, any other is still what it was."""
    good = document.status in SEARCHABLE
    return FileReport(
        path=file.relative, status=FileStatus.UNCHANGED if good else document.status, reason=document.reason,
        document_id=document.id, pages=document.pages, encoding=document.encoding, ocr=bool(document.ocr_pages),
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
