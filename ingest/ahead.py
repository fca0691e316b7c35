"""Which files are read while others are embedded, and which are embedded together?

Files are read and cut by a few threads, ahead of the one that embeds and writes: at most `WINDOW` files, and no more
than `WINDOW_BYTES` of them, so that memory stays flat. What was read is handed over in groups of about `GROUP_TEXTS`
passages: a model is several times faster on many texts than on one, and small files have one each.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from ingest.catalog import Stat
from ingest.chunk import chunk_document, searchable_text
from ingest.discover import Found, open_regular
from ingest.errors import PathNotAllowed, ReadError
from ingest.read.ocr import Ocr, find_ocr, no_text_reason, partial_reason, read_file
from ingest.scope import Scope
from ingest.settings import IngestSettings
from ingest.types import Chunk, FileStatus, ReadResult

READERS = 2
"""Threads that read: as many as there are worker processes for what must be read in one."""
WINDOW = 64
WINDOW_BYTES = 64_000_000
GROUP_TEXTS = 128
GROUP_FILES = 64

RETRIED = (FileStatus.FAILED, FileStatus.TIMED_OUT, FileStatus.REMOVED, FileStatus.DUPLICATE)
"""What is read again though the file looks unchanged: the cause, or the twin, may have gone."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A file's bytes by their hash, and what reading them gave: a result, or the reason why not.

    `ocr_languages` is what OCR could read when they were read, empty where it was off or not to be had.
    """

    sha256: str
    result: ReadResult | None = None
    status: FileStatus = FileStatus.INDEXED
    reason: str | None = None
    ocr_languages: str = ""


@dataclass(frozen=True, slots=True)
class Ready:
    """A file that was read, cut into chunks (of no document yet), with what is embedded of each.

    `read` is None for a file that is as it was known.
    """

    scope: Scope
    file: Found
    read: Reading | None
    chunks: tuple[Chunk, ...] = ()
    texts: tuple[str, ...] = ()


def groups(found: Sequence[tuple[Scope, Found]], settings: IngestSettings) -> Iterator[list[Ready]]:
    """Yield every file in order, in groups that are embedded together."""
    group: list[Ready] = []
    texts = 0
    for ready in _ready(found, settings):
        group.append(ready)
        texts += len(ready.texts)
        if texts >= GROUP_TEXTS or len(group) >= GROUP_FILES:
            yield group
            group, texts = [], 0
    if group:
        yield group


def _ready(found: Sequence[tuple[Scope, Found]], settings: IngestSettings) -> Iterator[Ready]:
    waiting: deque[tuple[int, Future[Ready] | Ready]] = deque()
    held = 0
    ocr = find_ocr(settings.ocr)
    with ThreadPoolExecutor(READERS, thread_name_prefix="read") as pool:
        try:
            for scope, file in found:
                while waiting and (len(waiting) >= WINDOW or held + file.size > WINDOW_BYTES):
                    size, first = waiting.popleft()
                    held -= size
                    yield _result(first)
                if _changed(scope, file, ocr):
                    waiting.append((file.size, pool.submit(_prepare, scope, file, settings, ocr)))
                    held += file.size
                else:
                    waiting.append((0, Ready(scope, file, None)))
            while waiting:
                yield _result(waiting.popleft()[1])
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _result(ready: Future[Ready] | Ready) -> Ready:
    return ready.result() if isinstance(ready, Future) else ready


def _changed(scope: Scope, file: Found, ocr: Ocr) -> bool:
    entry = scope.known.get(file.relative)
    if entry is None or entry[1] != stat_of(file) or entry[0].status in RETRIED:
        return True
    return ocr.would_differ(entry[0])


def _prepare(scope: Scope, file: Found, settings: IngestSettings, ocr: Ocr) -> Ready:
    read = replace(_read(file, settings, ocr), ocr_languages=ocr.languages)
    if read.result is None or not read.result.text.strip():
        return Ready(scope, file, read)
    chunks = tuple(chunk_document("", 0, read.result, settings.chunk_tokens, settings.cut))
    title = title_of(file, read.result)
    return Ready(scope, file, read, chunks, tuple(searchable_text(chunk, title) for chunk in chunks))


def title_of(file: Found, result: ReadResult | None) -> str:
    """Return a document's title: its own, or its file's name."""
    return (result.title if result else None) or PurePosixPath(file.relative).stem


def stat_of(file: Found) -> Stat:
    """Return by what a file is known to be unchanged."""
    return file.size, file.mtime_ns, file.inode


def _read(file: Found, settings: IngestSettings, ocr: Ocr) -> Reading:
    if file.skip is not None:
        return Reading("", status=file.skip[0], reason=file.skip[1])
    digest = ""
    try:
        data = open_regular(file.path, file.root, settings.max_bytes)
        digest = hashlib.sha256(data).hexdigest()
        result = read_file(file.path, data, settings.read_timeout, ocr)
    except ReadError as error:
        return Reading(digest, status=error.status, reason=str(error))
    except PathNotAllowed as error:
        return Reading(digest, status=FileStatus.FAILED, reason=str(error))
    except OSError as error:
        return Reading(digest, status=FileStatus.FAILED, reason=f"cannot be opened: {error.strerror}")
    if not result.text.strip():
        return Reading(digest, result, FileStatus.NO_TEXT, no_text_reason(result, ocr))
    if result.failed_pages:
        return Reading(digest, result, FileStatus.PARTIAL, partial_reason(result))
    return Reading(digest, result, reason=result.ocr_note or None)
