"""What is the text of one PDF page, and where on the page does a part of it stand?

Both questions go through the same cleaning, so that offsets into a page's text stay valid as long as the file
is the same. PDFium is not thread-safe: every call into it holds `LOCK`.
"""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pypdfium2
from pypdfium2 import raw

from ingest.errors import Encrypted, IngestError, ReadError
from ingest.normalize import Normalized, chained, normalize, rewritten
from ingest.types import Box

MAX_PAGE_CHARACTERS = 5_000_000
LOCK = threading.Lock()
_HYPHEN = re.compile(r"[\ufffe\x02]\s*")
_LOOK_BACK = 40
_SHARED_HEIGHT = 0.4


@contextmanager
def opened(data: bytes) -> Iterator[pypdfium2.PdfDocument]:
    """Open a PDF, with the empty password if it has one; the caller holds LOCK."""
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == raw.FPDF_ERR_PASSWORD:
            raise Encrypted("The PDF needs a password: remove it and try again.") from error
        raise ReadError("The PDF is damaged: it cannot be opened.") from error
    try:
        yield document
    finally:
        document.close()


def page_text(document: pypdfium2.PdfDocument, index: int) -> Normalized:
    """Return the clean text of the page and the way back to PDFium's own, or raise PdfiumError."""
    page = document[index]
    try:
        text_page = page.get_textpage()
        try:
            return cleaned(_raw_text(text_page))
        finally:
            text_page.close()
    finally:
        page.close()


def cleaned(text: str) -> Normalized:
    """Join words that a line end hyphenates (PDFium marks it), then normalise and drop outer white space."""
    joined = rewritten(text, _joins(text))
    clean = chained(joined, normalize(joined.text))
    return chained(clean, rewritten(clean.text, _outer_space(clean.text)))


def _raw_text(text_page: pypdfium2.PdfTextPage) -> str:
    count = text_page.count_chars()
    if count > MAX_PAGE_CHARACTERS:
        raise ReadError(f"A page has {count:,} characters; the limit is {MAX_PAGE_CHARACTERS:,}.")
    # Lone surrogates must stay until positions are mapped: dropping them here would shift all that follows.
    return str(text_page.get_text_range(errors="surrogatepass")) if count else ""


def _joins(text: str) -> Iterator[tuple[int, int, str]]:
    for match in _HYPHEN.finditer(text):
        words = text[max(0, match.start() - _LOOK_BACK) : match.start()].split()
        keep = _keeps_hyphen(words[-1] if words else "", text[match.end() : match.end() + 1])
        yield match.start(), match.end(), "-" if keep else ""


def _keeps_hyphen(left: str, right: str) -> bool:
    """Say whether the hyphen belongs to the word: in addresses, before capitals and digits, in compounds."""
    return not right.islower() or not left[-1:].isalpha() or any(mark in left for mark in "-/_.@:")


def _outer_space(text: str) -> Iterator[tuple[int, int, str]]:
    start = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    if start:
        yield 0, start, ""
    if start <= end < len(text):
        yield end, len(text), ""


def pdf_boxes(data: bytes, page_number: int, start: int, end: int) -> tuple[Box, ...]:
    """Return one rectangle for each line of `[start, end)` of the page's text. Pages count from 1.

    Raises IngestError where the page does not exist or cannot be read.
    """
    with LOCK, opened(data) as document:
        if not 1 <= page_number <= len(document):
            raise IngestError(f"The PDF has {len(document)} pages, so there is no page {page_number}.")
        try:
            span = page_text(document, page_number - 1).source_span(start, end)
            page = document[page_number - 1]
            try:
                return tuple(_lines(page, page_number, span.start, span.end))
            finally:
                page.close()
        except pypdfium2.PdfiumError as error:
            raise ReadError(f"Page {page_number} cannot be read: {error}.") from error


def _lines(page: pypdfium2.PdfPage, number: int, start: int, end: int) -> Iterator[Box]:
    """Yield the union of the boxes of characters that stand on one line."""
    text_page = page.get_textpage()
    try:
        held: Box | None = None
        for left, bottom, right, top in _rectangles(text_page, start, end):
            box = Box(number, left, bottom, right, top)
            if held is None:
                held = box
            elif _on_one_line(held, box):
                held = _union(held, box)
            else:
                yield held
                held = box
        if held is not None:
            yield held
    finally:
        text_page.close()


def _rectangles(text_page: pypdfium2.PdfTextPage, start: int, end: int) -> Iterator[tuple[float, float, float, float]]:
    """Yield the rectangles that PDFium gives for the characters of `[start, end)` of its text.

    PDFium counts its text in UTF-16 units, and its characters otherwise (some are not in the text).
    """
    text = _raw_text(text_page)
    first = _utf16_length(text[:start])
    after = first + _utf16_length(text[start:end])
    seen = -1
    for unit in range(first, after):
        index = raw.FPDFText_GetCharIndexFromTextIndex(text_page.raw, unit)
        if index < 0 or index == seen:
            continue
        seen = index
        values = [ctypes.c_double() for _ in range(4)]
        left, right, bottom, top = values
        found = raw.FPDFText_GetCharBox(text_page.raw, index, left, right, bottom, top)
        if found and right.value > left.value and top.value > bottom.value:
            yield left.value, bottom.value, right.value, top.value


def _utf16_length(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)


def _on_one_line(line: Box, box: Box) -> bool:
    """Say whether `box` stands beside `line`: they share enough of the lower of their two heights."""
    overlap = min(line.y1, box.y1) - max(line.y0, box.y0)
    return overlap >= _SHARED_HEIGHT * min(line.y1 - line.y0, box.y1 - box.y0)


def _union(one: Box, other: Box) -> Box:
    return Box(one.page, min(one.x0, other.x0), min(one.y0, other.y0), max(one.x1, other.x1), max(one.y1, other.y1))
