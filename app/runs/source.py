"""Where does a quotation stand? Its page, its bytes and its rectangles, from the catalog and the file."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ingest.errors import IngestError, ReadError
from ingest.library import Library
from ingest.normalize import byte_span
from ingest.read.ocr import OFF, find_ocr, read_file
from ingest.read.ocr_page import Recognised
from ingest.read.sandbox import boxes_safely
from ingest.types import Box, Document, Page, Span, Word

Json = dict[str, Any]

TEXT_CACHE = 16
BOXES_TIMEOUT = 10.0
"""Seconds; a page takes milliseconds, and an answer does without its rectangles rather than wait."""
PDF = "application/pdf"


class CatalogSource:
    """Reads stored texts and locates spans in them; what cannot be located is left out, never guessed."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._texts: OrderedDict[tuple[str, int], str] = OrderedDict()

    def text(self, document_id: str, version: int) -> str | None:
        """Return a document's text, None if that version is no longer what is stored."""
        document = self._library.document(document_id)
        if document is None or document.version != version:
            return None
        key = (document_id, version)
        if key not in self._texts:
            text = self._library.text(document_id)
            if text is None:
                return None
            self._texts[key] = text
            if len(self._texts) > TEXT_CACHE:
                self._texts.popitem(last=False)
        return self._texts[key]

    def locate(self, document_id: str, version: int, start: int, end: int) -> Json:
        """Return `page`, `page_label`, `byte_span`, `boxes` and `ocr` of a span of a document's text.

        `ocr` says that the text of its page was read by OCR.
        """
        found: Json = {"page": None, "page_label": None, "byte_span": None, "boxes": [], "ocr": False}
        document = self._library.document(document_id)
        text = self.text(document_id, version)
        if document is None or text is None:
            return found
        pages = self._library.pages(document_id)
        page = next((one for one in pages if one.span.start <= start < one.span.end), None)
        if page is not None:
            found |= {"page": page.number, "page_label": page.label, "ocr": page.number in document.ocr_pages}
            found["boxes"] = self._boxes(document, page, start, end)
        runs = self._library.catalog.byte_runs(document_id)
        if runs is not None:
            span = byte_span(runs, Span(start, end), text, document.encoding or "utf-8")
            found["byte_span"] = None if span is None else {"start": span[0], "end": span[1]}
        return found

    def _boxes(self, document: Document, page: Page, start: int, end: int) -> list[Json]:
        offset = page.span.start
        stop = min(end, page.span.end) - offset
        if page.number in document.ocr_pages:
            words = self._library.ocr_words(document.id, page.number)
            return [asdict(box) for box in line_boxes(words, start - offset, stop)]
        data = self.original(document) if document.media_type == PDF else None
        if data is None:
            return []
        try:
            boxes = boxes_safely(data, page.number, start - offset, stop, BOXES_TIMEOUT)
        except (IngestError, ValueError, RuntimeError):
            return []
        return [asdict(box) for box in boxes]

    def original(self, document: Document) -> bytes | None:
        """Return the bytes of a document's file, only if they are the bytes that were read."""
        try:
            data = (Path(document.root) / document.path).read_bytes()
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == document.sha256 else None

    def reread(self, document: Document, spans: Sequence[Span]) -> tuple[bytes, str] | None:
        """Return the file's bytes and the text that reading them gives now; None if the file has changed.

        Of the pages that OCR read, only those that `spans` touch are read again: a page takes a second. Raises
        ReadError where OCR is needed and not to be had any more.
        """
        data = self.original(document)
        if data is None:
            return None
        ocr = find_ocr(document.ocr_languages) if document.ocr_pages else OFF
        if document.ocr_pages and ocr.engine is None:
            raise ReadError(f"it was read by OCR, which is not to be had now. {ocr.reason}")
        kept = self._kept(document, spans)
        try:
            return data, read_file(Path(document.path), data, self._library.settings.read_timeout, ocr, kept).text
        except IngestError:
            return None

    def _kept(self, document: Document, spans: Sequence[Span]) -> dict[int, Recognised]:
        """Return the pages on which no span stands, as they were read, and those that OCR gave no text."""
        text = (self._library.text(document.id) or "") if document.ocr_pages else ""
        return {
            page.number: Recognised(page.span.of(text))
            for page in (self._library.pages(document.id) if document.ocr_pages else ())
            if page.number not in document.ocr_pages or not any(_touch(page.span, span) for span in spans)
        }


def line_boxes(words: Sequence[Word], start: int, end: int) -> Iterator[Box]:
    """Yield for each line of `[start, end)` of a page's text one rectangle around the words that stand in it."""
    touched = [word for word in words if word.start < end and word.end > start]
    for line in dict.fromkeys(word.line for word in touched):
        boxes = [word.box for word in touched if word.line == line]
        yield Box(
            boxes[0].page, min(box.x0 for box in boxes), min(box.y0 for box in boxes),
            max(box.x1 for box in boxes), max(box.y1 for box in boxes),
        )  # fmt: skip


def _touch(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end
