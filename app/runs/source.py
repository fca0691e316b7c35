"""Where does a quotation stand? Its page, its bytes and its rectangles, from the catalog and the file."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ingest.errors import IngestError
from ingest.library import Library
from ingest.normalize import byte_span
from ingest.read.sandbox import boxes_safely, read_safely
from ingest.types import Document, Page, Span

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
        """Return `page`, `page_label`, `byte_span` and `boxes` of a span of a document's text."""
        found: Json = {"page": None, "page_label": None, "byte_span": None, "boxes": []}
        document = self._library.document(document_id)
        text = self.text(document_id, version)
        if document is None or text is None:
            return found
        pages = self._library.pages(document_id)
        page = next((one for one in pages if one.span.start <= start < one.span.end), None)
        if page is not None:
            found |= {"page": page.number, "page_label": page.label}
            found["boxes"] = self._boxes(document, page, start, end)
        runs = self._library.catalog.byte_runs(document_id)
        if runs is not None:
            span = byte_span(runs, Span(start, end), text, document.encoding or "utf-8")
            found["byte_span"] = None if span is None else {"start": span[0], "end": span[1]}
        return found

    def _boxes(self, document: Document, page: Page, start: int, end: int) -> list[Json]:
        data = self.original(document) if document.media_type == PDF else None
        if data is None:
            return []
        offset = page.span.start
        try:
            stop = min(end, page.span.end) - offset
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

    def reread(self, document: Document) -> tuple[bytes, str] | None:
        """Return the file's bytes and the text that reading them gives now; None if the file has changed."""
        data = self.original(document)
        if data is None:
            return None
        try:
            return data, read_safely(Path(document.path), data, self._library.settings.read_timeout).text
        except IngestError:
            return None
