"""The catalog keeps what it is given, replaces a document whole, and says why a file cannot be opened."""

from __future__ import annotations

import sqlite3
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from ingest.catalog import Catalog
from ingest.chunk import chunk_document
from ingest.errors import IngestError
from ingest.schema import SCHEMA_VERSION
from ingest.types import ByteRun, Document, FileStatus, Page, ReadResult, Span

TEXT = "Every employee has 24 days. 年休假为七天。\U00020bb7野家 has its own rules."
STAT = (10, 20, 30)
DOCUMENT = Document(
    id="d", root="/docs", path="空/leave.md", title="Leave", sha256="ab", version=1, media_type="text/markdown",
    language="en", pages=1, status=FileStatus.INDEXED, date="2026-01-01", encoding="utf-8", tags=("hr", "休"),
    reason="none",
)  # fmt: skip


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    opened = Catalog(tmp_path / "home" / "catalog.db")
    yield opened
    opened.close()


def store(catalog: Catalog, document: Document = DOCUMENT, text: str = TEXT, cut: int = 28) -> list[str]:
    blocks = (Span(0, cut), Span(cut, len(text)))
    chunks = chunk_document(document.id, document.version, ReadResult(text * 20, "text/plain", blocks=blocks))
    runs = [ByteRun(0, 4, 3, 7, True), ByteRun(4, 5, 7, 9, False)]
    pages = [Page(1, "i", Span(0, 9)), Page(2, "ii", Span(9, len(text)))]
    catalog.store(document, STAT, text=text * 20, byte_runs=runs, pages=pages, chunks=chunks)
    return [chunk.id for chunk in chunks]


def test_what_is_stored_comes_back(catalog: Catalog) -> None:
    ids = store(catalog)
    assert catalog.document("d") == DOCUMENT
    assert catalog.known("/docs") == {DOCUMENT.path: (DOCUMENT, STAT)}
    assert catalog.with_sha256("ab") == [(DOCUMENT, STAT)]
    assert catalog.roots() == ["/docs"]
    assert catalog.text("d") == TEXT * 20
    assert catalog.byte_runs("d") == (ByteRun(0, 4, 3, 7, True), ByteRun(4, 5, 7, 9, False))
    assert [page.label for page in catalog.pages("d")] == ["i", "ii"]
    assert catalog.chunk_ids() == catalog.chunk_ids("d") == set(ids)
    assert catalog.count() == (1, len(ids))


def test_a_chunk_is_its_piece_of_the_text_also_past_the_basic_plane(catalog: Catalog) -> None:
    ids = store(catalog)
    found = catalog.chunks(ids)
    assert len(found) == len(ids) > 1
    assert all(chunk.text == chunk.span.of(TEXT * 20) for chunk, _ in found.values())
    assert all(document == DOCUMENT for _, document in found.values())


def test_a_document_is_replaced_whole(catalog: Catalog) -> None:
    old = store(catalog)
    new = store(catalog, replace(DOCUMENT, version=2, title="Other"), "Something else. " * 5)
    assert catalog.chunk_ids() == set(new)
    assert catalog.chunks(old) == {}
    catalog.store(replace(DOCUMENT, status=FileStatus.REMOVED), STAT)
    assert (catalog.text("d"), catalog.byte_runs("d"), catalog.pages("d")) == (None, None, [])
    assert catalog.chunk_ids() == set()


def test_a_store_that_fails_changes_nothing(catalog: Catalog) -> None:
    store(catalog)
    (chunk, *_) = chunk_document("d", 2, ReadResult("One.", "text/plain"))
    with pytest.raises(Exception, match="UNIQUE"):
        catalog.store(replace(DOCUMENT, version=2), STAT, text="One.", chunks=[chunk, chunk])
    assert catalog.document("d") == DOCUMENT
    assert catalog.text("d") == TEXT * 20


def test_a_move_changes_the_path_alone(catalog: Catalog) -> None:
    ids = store(catalog)
    catalog.move("d", "moved.md", (1, 2, 3))
    moved = replace(DOCUMENT, path="moved.md")
    assert catalog.known("/docs") == {"moved.md": (moved, (1, 2, 3))}
    assert catalog.chunk_ids() == set(ids)


def test_documents_come_in_pages_by_path_without_removed_ones(catalog: Catalog) -> None:
    for number, status in enumerate([FileStatus.INDEXED, FileStatus.REMOVED, FileStatus.FAILED, FileStatus.INDEXED]):
        catalog.store(replace(DOCUMENT, id=str(number), path=f"{9 - number}.md", status=status), STAT)
    first, total = catalog.documents(2, 0)
    rest, _ = catalog.documents(2, 2)
    assert ([document.path for document in [*first, *rest]], total) == (["6.md", "7.md", "9.md"], 3)
    assert catalog.count()[0] == 2
    assert [document.id for document, _ in catalog.with_sha256("ab")] == ["0", "3"]


def test_more_ids_than_a_statement_takes_are_asked_in_parts(catalog: Catalog) -> None:
    text = "\n".join(f"Line {number}." for number in range(1200))
    edges = [0, *(place + 1 for place, letter in enumerate(text) if letter == "\n"), len(text)]
    chunks = [
        replace(chunk, ordinal=ordinal)
        for ordinal, (left, right) in enumerate(pairwise(edges))
        for chunk in chunk_document(f"d/{left}", 1, ReadResult(text[left:right], "text/plain"))
    ]
    catalog.store(DOCUMENT, STAT, text=text, chunks=[replace(chunk, document_id="d") for chunk in chunks])
    assert len(catalog.chunks([chunk.id for chunk in chunks])) == 1200
    assert catalog.chunks([]) == {}


def test_vectors_are_kept_by_key(catalog: Catalog) -> None:
    vector = np.array([0.6, 0.8], np.float32)
    catalog.cache_vectors({})
    for _ in range(2):
        catalog.cache_vectors({f"k{number}": vector * number for number in range(600)})
    found = catalog.cached_vectors([*(f"k{number}" for number in range(600)), "unknown"])
    assert len(found) == 600
    assert np.array_equal(found["k3"], vector * 3)


def test_threads_write_at_once(catalog: Catalog) -> None:
    def work(number: int) -> None:
        store(catalog, replace(DOCUMENT, id=str(number), path=f"{number}.md"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(24)))
    assert catalog.count()[0] == 24


def test_the_file_is_its_owners_alone(catalog: Catalog, tmp_path: Path) -> None:
    file = tmp_path / "home" / "catalog.db"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_a_newer_or_damaged_file_says_what_to_do(tmp_path: Path) -> None:
    newer, damaged = tmp_path / "newer.db", tmp_path / "damaged.db"
    connection = sqlite3.connect(newer)
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    connection.close()
    damaged.write_bytes(b"no database" * 200)
    with pytest.raises(IngestError, match="upgrade"):
        Catalog(newer)
    with pytest.raises(IngestError, match="ingest again"):
        Catalog(damaged)
