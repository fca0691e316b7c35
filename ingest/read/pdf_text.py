"""What is the text of one PDF page, and where on the page does a part of it stand?

Both questions go through the same cleaning, so that offsets into a page's text stay valid as long as the file
is the same. PDFium is not thread-safe: every call into it holds `LOCK`.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pypdfium2
from pypdfium2 import raw

from ingest.errors import Encrypted, IngestError, ReadError
from ingest.normalize import Normalized, chained, composed, normalize, normalized_text, replaced, rewritten
from ingest.read.pdf_context import Neighbours, without_lines
from ingest.read.pdf_layout import Arranged, arranged, places
from ingest.types import Box, Span

MAX_PAGE_CHARACTERS = 5_000_000
LOCK = threading.Lock()
_HYPHEN = re.compile(r"[\ufffe\x02]\s*")
_LAST_WORD = re.compile(r"[^\W\d_]+$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_STRETCH = "\u0640"
_SHAPES = re.compile(f"[\ufb00-\ufb06\ufb13-\ufb17\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc]+|{_STRETCH}{{2,}}")
_UNNAMED = re.compile("[\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff]")
_GARBLED = 0.3
_GARBLED_FROM = 20
_CUT = 16_383
"""PDFium reads 32,767 bytes of a string, and some fonts have two bytes for a character."""
_LOOK_BACK = 40
_SHARED = 0.4
_COLUMN = 1.6
"""Vertical text is about as wide as a character: so many times, since they differ."""


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


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read of a page; `cut` if a string in it is so long that PDFium may have cut it."""

    page: Arranged
    cut: bool


class PageTexts:
    """The texts of the pages of an open document, each read when it is asked for and kept."""

    def __init__(self, document: pypdfium2.PdfDocument) -> None:
        """Prepare to read `document`; the caller holds LOCK whenever a text is asked for."""
        self._document = document
        self._read: dict[int, _Read | Exception] = {}
        self._neighbours = Neighbours(self._known_text, len(document))

    def text(self, index: int) -> str:
        """Return the clean text of a page. Raises PdfiumError or ReadError where the page cannot be read."""
        text = self.arranged(index).text
        clean = normalized_text(replaced(text, self._edits(index, text)))
        if _SHAPES.search(clean):
            clean = unicodedata.normalize("NFC", replaced(clean, _letters(clean)))
        return clean.strip()

    def mapped(self, index: int) -> Normalized:
        """Return what `text` does with the way back to `arranged(index).text`; it takes several times as long."""
        text = self.arranged(index).text
        return _mapped(text, self._edits(index, text))

    def arranged(self, index: int) -> Arranged:
        """Return PDFium's text of a page in reading order. Raises PdfiumError or ReadError."""
        return self._page(index).page

    def is_cut(self, index: int) -> bool:
        """Say whether text of a page may be missing. Raises PdfiumError or ReadError."""
        return self._page(index).cut

    def _page(self, index: int) -> _Read:
        if index not in self._read:
            try:
                self._read[index] = _read_page(self._document, index)
            except (pypdfium2.PdfiumError, ReadError) as error:
                self._read[index] = error
        found = self._read[index]
        if isinstance(found, Exception):
            raise found
        return found

    def _known_text(self, index: int) -> str:
        try:
            return self.arranged(index).text
        except (pypdfium2.PdfiumError, ReadError):
            return ""

    def _edits(self, index: int, text: str) -> list[tuple[int, int, str]]:
        lines = list(without_lines(text, self._neighbours.running_lines(index)))
        if "\ufffe" not in text and "\x02" not in text:
            return lines
        joins = _joins(text, lambda left, right: self._neighbours.keeps_hyphen(index, left, right))
        return sorted(
            [*lines, *(edit for edit in joins if not any(edit[0] < end and start < edit[1] for start, end, _ in lines))]
        )


def _read_page(document: pypdfium2.PdfDocument, index: int) -> _Read:
    page = document[index]
    try:
        text_page = page.get_textpage()
        try:
            text = _raw_text(text_page)
            return _Read(arranged(text_page, text), len(text) >= _CUT and max(map(len, text.split("\n"))) >= _CUT)
        finally:
            text_page.close()
    finally:
        page.close()


def cleaned(text: str) -> Normalized:
    """Join words that a line end hyphenates (PDFium marks it), then normalise and drop outer white space."""
    return _mapped(text, _joins(text, lambda left, right: False))


def _mapped(text: str, edits: Iterable[tuple[int, int, str]]) -> Normalized:
    joined = rewritten(text, edits)
    clean = chained(joined, normalize(joined.text))
    if _SHAPES.search(clean.text):
        clean = composed(chained(clean, rewritten(clean.text, _letters(clean.text))))
    return chained(clean, rewritten(clean.text, _outer_space(clean.text)))


def is_garbled(text: str) -> bool:
    """Say whether a text layer is of no use: characters that its fonts do not name."""
    if _UNNAMED.search(text) is None:
        return False
    seen = sum(not character.isspace() for character in text)
    return seen >= _GARBLED_FROM and len(_UNNAMED.findall(text)) > _GARBLED * seen


def _raw_text(text_page: pypdfium2.PdfTextPage) -> str:
    count = text_page.count_chars()
    if count > MAX_PAGE_CHARACTERS:
        raise ReadError(f"A page has {count:,} characters; the limit is {MAX_PAGE_CHARACTERS:,}.")
    # Lone surrogates must stay until positions are mapped: dropping them here would shift all that follows.
    return str(text_page.get_text_range(errors="surrogatepass")) if count else ""


def _joins(text: str, keeps_hyphen: Callable[[str, str], bool]) -> Iterator[tuple[int, int, str]]:
    for match in _HYPHEN.finditer(text):
        words = text[max(0, match.start() - _LOOK_BACK) : match.start()].split()
        left, after = words[-1] if words else "", text[match.end() : match.end() + _LOOK_BACK]
        yield (
            match.start(),
            match.end(),
            "-" if _must_keep(left, after[:1]) or _would_keep(left, after, keeps_hyphen) else "",
        )


def _must_keep(left: str, right: str) -> bool:
    """Say whether the hyphen belongs to the word for certain: in addresses, compounds, before capitals and digits."""
    return not right.islower() or not left[-1:].isalpha() or any(mark in left for mark in "-/_.@:")


def _would_keep(left: str, after: str, keeps_hyphen: Callable[[str, str], bool]) -> bool:
    halves = _LAST_WORD.search(left), _FIRST_WORD.match(after)
    return halves[0] is not None and halves[1] is not None and keeps_hyphen(halves[0][0], halves[1][0])


def _letters(text: str) -> Iterator[tuple[int, int, str]]:
    """Resolve ligatures and the shapes of Arabic letters; drop what only stretches a word over its line."""
    for match in _SHAPES.finditer(text):
        yield match.start(), match.end(), unicodedata.normalize("NFKC", match[0]).replace(_STRETCH, "")


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
            texts = PageTexts(document)
            if texts.is_cut(page_number - 1):
                return ()  # its text came from elsewhere
            span = texts.mapped(page_number - 1).source_span(start, end)
            sources = list(texts.arranged(page_number - 1).sources(span.start, span.end))
            page = document[page_number - 1]
            try:
                return tuple(_lines(page, page_number, sources))
            finally:
                page.close()
        except pypdfium2.PdfiumError as error:
            raise ReadError(f"Page {page_number} cannot be read: {error}.") from error


def _lines(page: pypdfium2.PdfPage, number: int, spans: Sequence[Span]) -> Iterator[Box]:
    """Yield the union of the boxes of characters that stand on one line."""
    text_page = page.get_textpage()
    try:
        where = places(text_page, _raw_text(text_page))
        for span in spans:
            held: Box | None = None
            for _, (left, bottom, right, top) in where.boxes(span):
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


def _on_one_line(line: Box, box: Box) -> bool:
    """Say whether `box` stands beside `line`, sharing enough of the lower of their heights, or below in its column."""
    overlap = min(line.y1, box.y1) - max(line.y0, box.y0)
    if overlap >= _SHARED * min(line.y1 - line.y0, box.y1 - box.y0):
        return True
    width, height = min(line.x1 - line.x0, box.x1 - box.x0), box.y1 - box.y0
    is_column = line.x1 - line.x0 <= _COLUMN * max(box.x1 - box.x0, height) and 0 <= -overlap <= height
    return is_column and min(line.x1, box.x1) - max(line.x0, box.x0) >= _SHARED * width


def _union(one: Box, other: Box) -> Box:
    return Box(one.page, min(one.x0, other.x0), min(one.y0, other.y0), max(one.x1, other.x1), max(one.y1, other.y1))
