"""How is a PDF read?

PDFium gives text, outline, labels and properties; pypdf steps in for a page whose text PDFium fails to give.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from io import BytesIO

import pypdf
import pypdfium2

from ingest.errors import ReadError
from ingest.normalize import normalize
from ingest.read.pdf_blocks import locate_headings, pdf_blocks
from ingest.read.pdf_text import LOCK, MAX_PAGE_CHARACTERS, PageTexts, cleaned, is_garbled, opened
from ingest.types import Page, ReadResult, Span

MEDIA_TYPE = "application/pdf"
MAX_PAGES = 20_000
MAX_CHARACTERS = 50_000_000
_SEPARATOR = "\n\n"
_DATE = re.compile(r"D?:?(\d{4})(\d{2})?(\d{2})?")
_OUTLINE_DEPTH = 12
_log = logging.getLogger(__name__)


def read_pdf(data: bytes) -> ReadResult:
    """Read a PDF. Pages without text are kept; those that cannot be read are listed in `failed_pages`."""
    if b"%PDF-" not in data[:2048]:
        raise ReadError("This is not a PDF, although it is named so.")
    with LOCK, opened(data) as document:
        if not len(document):
            raise ReadError("The PDF has no pages, or its list of pages is damaged.")
        if len(document) > MAX_PAGES:
            raise ReadError(f"The PDF has {len(document):,} pages; the limit is {MAX_PAGES:,}.")
        texts, failed = _page_texts(document, data)
        labels = [document.get_page_label(index) for index in range(len(document))]
        outline = list(_outline(document))
        title, date = _properties(document)
    pages = tuple(_pages(texts, labels))
    text = _SEPARATOR.join(texts)
    headings = tuple(locate_headings(text, pages, outline))
    return ReadResult(
        text=text,
        media_type=MEDIA_TYPE,
        title=title,
        date=date,
        pages=pages,
        headings=headings,
        blocks=tuple(pdf_blocks(text, pages, (heading.start for heading in headings))),
        failed_pages=tuple(failed),
    )


def _page_texts(document: pypdfium2.PdfDocument, data: bytes) -> tuple[list[str], list[int]]:
    """Return the text of each page, empty for those that failed, and the numbers of these."""
    texts: list[str] = []
    failed: list[int] = []
    total = 0
    source = PageTexts(document)
    for index in range(len(document)):
        text = _page_text(source, index, data)
        if text is None or is_garbled(text):
            failed.append(index + 1)
            text = ""
        total += len(text)
        if total > MAX_CHARACTERS:
            raise ReadError(f"The PDF has more than {MAX_CHARACTERS:,} characters of text.")
        texts.append(text)
    return texts, failed


def _page_text(source: PageTexts, index: int, data: bytes) -> str | None:
    """Return the text of a page, from the other library where PDFium gives none or not all; None if it fails."""
    try:
        text = source.text(index)
        cut = source.is_cut(index)
    except ReadError as error:
        _log.info("page %d: %s", index + 1, error)
        return None
    except pypdfium2.PdfiumError as error:
        _log.info("page %d: PDFium fails: %s", index + 1, error)
        return _fallback_text(data, index) or None
    return max(text, _fallback_text(data, index), key=len) if cut else text


def _fallback_text(data: bytes, index: int) -> str:
    try:
        text = pypdf.PdfReader(BytesIO(data)).pages[index].extract_text()
    except Exception as error:  # noqa: BLE001 - pypdf lets TypeError, KeyError and others out for damaged objects
        _log.info("page %d: pypdf fails too: %s", index + 1, error)
        return ""
    return cleaned(text).text if len(text) <= MAX_PAGE_CHARACTERS else ""


def _pages(texts: list[str], labels: list[str]) -> Iterator[Page]:
    start = 0
    for index, (text, label) in enumerate(zip(texts, labels, strict=True)):
        shown = normalize(label).text.strip() or str(index + 1)
        yield Page(index + 1, shown, Span(start, start + len(text)))
        start += len(text) + len(_SEPARATOR)


def _outline(document: pypdfium2.PdfDocument) -> Iterator[tuple[int, str, int]]:
    """Yield (level from 1, title, page index) for the entries that lead to a page."""
    try:
        for entry in document.get_toc(max_depth=_OUTLINE_DEPTH):
            target = entry.get_dest()
            index = target.get_index() if target is not None else None
            title = " ".join(normalize(entry.get_title()).text.split())
            if index is not None and title:
                yield entry.level + 1, title, index
    except pypdfium2.PdfiumError as error:
        _log.info("the outline cannot be read: %s", error)


def _properties(document: pypdfium2.PdfDocument) -> tuple[str | None, str | None]:
    values = document.get_metadata_dict(skip_empty=True)
    title = " ".join(normalize(values.get("Title", "")).text.split()) or None
    return title, _date(values.get("CreationDate", "") or values.get("ModDate", ""))


def _date(value: str) -> str | None:
    match = _DATE.match(value)
    return "-".join(part for part in match.groups() if part) if match else None
