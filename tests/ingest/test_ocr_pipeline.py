"""A folder with scans is ingested without OCR, with it, and without it again: files are read again, and marked."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.catalog import Catalog
from ingest.embed.hashing import HashingEmbedder
from ingest.index.memory import MemoryIndex
from ingest.library import Library
from ingest.schema import SCHEMA_VERSION
from ingest.settings import IngestSettings
from ingest.types import Box, Document, FileReport, FileStatus, OcrPage, Word
from tests.ingest.scans import needs_tesseract, picture, program, scan

NOTICE = ["The gangway may be used by", "at most 30 persons at the same time."]
DOCUMENT = Document(
    id="d", root="/docs", path="a.pdf", title="A", sha256="ab", version=1, media_type="application/pdf",
    language="en", pages=1, status=FileStatus.INDEXED, ocr_pages=(1, 3), ocr_languages="eng",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "scan.pdf").write_bytes(scan(picture(NOTICE)))
    (docs / "mixed.pdf").write_bytes(scan("First page.", picture(NOTICE), "Third page."))
    (docs / "text.pdf").write_bytes(scan("Nothing but text."))
    (docs / "note.md").write_text("The oil change interval is 500 hours.\n", encoding="utf-8")
    return docs


@contextmanager
def library(folder: Path, ocr: str) -> Iterator[Library]:
    embedder = HashingEmbedder()
    settings = IngestSettings(home=folder.parent / "home", ocr=ocr)
    opened = Library(settings, Catalog(settings.catalog_path), MemoryIndex(embedder.dimension), embedder)
    try:
        yield opened
    finally:
        opened.close()


def ingested(folder: Path, ocr: str) -> tuple[dict[str, FileReport], dict[str, Document]]:
    with library(folder, ocr) as opened:
        reports = opened.ingest([folder]).files
        return {file.path: file for file in reports}, {one.path: one for one in opened.documents()[0]}


def statuses(reports: dict[str, FileReport]) -> dict[str, str]:
    return {path: report.status.value for path, report in reports.items()}


@needs_tesseract
def test_turning_ocr_on_and_off_reads_again_what_it_concerns(folder: Path) -> None:
    reports, documents = ingested(folder, "")
    assert statuses(reports) == {
        "scan.pdf": "no_text", "mixed.pdf": "indexed", "text.pdf": "indexed", "note.md": "indexed",
    }  # fmt: skip
    assert "CITEDRAG_OCR=on" in (reports["scan.pdf"].reason or "")
    assert documents["mixed.pdf"].ocr_pages == ()

    reports, documents = ingested(folder, "eng")
    assert statuses(reports) == {
        "scan.pdf": "indexed", "mixed.pdf": "indexed", "text.pdf": "unchanged", "note.md": "unchanged",
    }  # fmt: skip
    assert {path for path, report in reports.items() if report.ocr} == {"scan.pdf", "mixed.pdf"}
    assert (documents["scan.pdf"].ocr_pages, documents["mixed.pdf"].ocr_pages) == ((1,), (2,))
    assert [documents[path].version for path in ("scan.pdf", "mixed.pdf", "text.pdf")] == [2, 2, 1]

    reports, _ = ingested(folder, "eng")
    assert set(statuses(reports).values()) == {"unchanged"}
    assert reports["scan.pdf"].ocr

    reports, documents = ingested(folder, "off")
    assert (reports["scan.pdf"].status, reports["mixed.pdf"].status) == (FileStatus.NO_TEXT, FileStatus.INDEXED)
    assert (documents["mixed.pdf"].ocr_pages, documents["mixed.pdf"].version) == ((), 3)


@needs_tesseract
def test_what_ocr_read_is_found_on_its_page_with_its_words(folder: Path) -> None:
    with library(folder, "eng") as opened:
        opened.ingest([folder])
        (mixed,) = [one for one in opened.documents()[0] if one.path == "mixed.pdf"]
        text = opened.text(mixed.id) or ""
        pages = opened.pages(mixed.id)
        assert [page.span.of(text) for page in pages] == ["First page.", "\n".join(NOTICE), "Third page."]
        words = opened.ocr_words(mixed.id, 2)
        assert [pages[1].span.of(text)[word.start : word.end] for word in words] == " ".join(NOTICE).split()
        assert opened.ocr_words(mixed.id, 1) == ()
        ids = opened.catalog.chunk_ids(mixed.id)
        assert all(chunk.text == chunk.span.of(text) for chunk, _ in opened.chunks(list(ids)).values())


@needs_tesseract
def test_a_program_that_has_gone_takes_nothing_away(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ingested(folder, "eng")
    (folder / "new.pdf").write_bytes(scan(picture(["Another page."])))
    with monkeypatch.context() as context:
        context.setenv("PATH", str(folder))
        for _ in range(2):
            reports, documents = ingested(folder, "eng")
            assert statuses(reports)["scan.pdf"] == "unchanged"
            assert documents["scan.pdf"].ocr_pages == (1,)
            assert reports["new.pdf"].status == FileStatus.NO_TEXT
            assert "install" in (reports["new.pdf"].reason or "")
    reports, _ = ingested(folder, "eng")
    assert reports["new.pdf"].status == FileStatus.INDEXED


def test_pages_that_fail_leave_a_partial_document(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin", "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    reports, _ = ingested(folder, "on")
    assert reports["mixed.pdf"].status == FileStatus.PARTIAL
    assert (reports["mixed.pdf"].reason or "").startswith("OCR failed on page 2: Tesseract fails")
    assert reports["scan.pdf"].status == FileStatus.NO_TEXT
    assert "OCR failed on page 1" in (reports["scan.pdf"].reason or "")


@needs_tesseract
def test_pictures_are_documents_when_ocr_is_on(folder: Path) -> None:
    picture(NOTICE).save(folder / "photo.png")
    assert ingested(folder, "")[0]["photo.png"].status == FileStatus.UNSUPPORTED
    reports, documents = ingested(folder, "eng")
    assert reports["photo.png"].status == FileStatus.INDEXED
    assert (documents["photo.png"].media_type, documents["photo.png"].ocr_pages) == ("image/png", (1,))
    assert ingested(folder, "eng")[0]["photo.png"].status == FileStatus.UNCHANGED
    shutil.copy(folder / "photo.png", folder / "copy.png")
    assert ingested(folder, "eng")[0]["copy.png"].status == FileStatus.DUPLICATE
    assert ingested(folder, "")[0]["photo.png"].status == FileStatus.UNSUPPORTED


def test_the_catalog_keeps_words_with_their_document(tmp_path: Path) -> None:
    catalog = Catalog(tmp_path / "catalog.db")
    words = (Word(0, 3, 0, Box(3, 1.0, 2.0, 30.5, 12.3)), Word(4, 9, 1, Box(3, 1.0, 20.0, 30.0, 31.0)))
    catalog.store(DOCUMENT, (1, 2, 3), text="One Three", ocr_pages=[OcrPage(1, ()), OcrPage(3, words)])
    assert catalog.document("d") == DOCUMENT
    assert (catalog.ocr_words("d", 3), catalog.ocr_words("d", 1), catalog.ocr_words("e", 3)) == (words, (), ())
    catalog.store(replace(DOCUMENT, ocr_pages=()), (1, 2, 3))
    assert catalog.ocr_words("d", 3) == ()
    catalog.close()


def test_a_catalog_of_the_version_before_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    catalog = Catalog(path)
    catalog.store(replace(DOCUMENT, ocr_pages=(), ocr_languages=""), (1, 2, 3), text="One")
    catalog.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE documents DROP COLUMN ocr_pages")
        connection.execute("ALTER TABLE documents DROP COLUMN ocr_languages")
        connection.execute("DROP TABLE ocr_words")
        connection.execute("PRAGMA user_version=2")
        connection.commit()
    catalog = Catalog(path)
    assert catalog.document("d") == replace(DOCUMENT, ocr_pages=(), ocr_languages="")
    assert catalog.ocr_words("d", 1) == ()
    catalog.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
