"""How does the text that OCR gives come into a document, so that pages stay in order and every span still holds?"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from ingest.read.ocr_page import Recognised
from ingest.types import OcrPage, Page, ReadResult, Span

_PARAGRAPH = re.compile(r"\S(?:[^\n]|\n(?!\n))*")


def inserted(result: ReadResult, found: Mapping[int, Recognised]) -> ReadResult:
    """Give pages without text the text that was recognised on them, by page number; all else moves along.

    A block that went on over such a page is cut there; each paragraph of the page is a block.
    """
    found = {number: page for number, page in found.items() if page.text}
    text, pages = _joined(result, found)
    moved = _Moved(result.pages, pages)
    blocks = [*_cut(result, moved, found), *_paragraphs(text, [page for page in pages if page.number in found])]
    headers = (replace(header, rows=moved.span(header.rows)) for header in result.table_headers)
    return replace(
        result,
        text=text,
        pages=tuple(pages),
        headings=tuple(replace(heading, start=moved.start(heading.start)) for heading in result.headings),
        blocks=tuple(sorted(blocks, key=lambda block: block.start)),
        failed_pages=tuple(number for number in result.failed_pages if number not in found),
        table_headers=tuple(headers),
        ocr_pages=tuple(OcrPage(page.number, found[page.number].words) for page in pages if page.number in found),
    )


def _joined(result: ReadResult, found: Mapping[int, Recognised]) -> tuple[str, list[Page]]:
    """Return the whole text and its pages; what stands between two pages stays."""
    parts: list[str] = []
    pages: list[Page] = []
    length = done = 0
    for page in result.pages:
        between = result.text[done : page.span.start]
        own = found[page.number].text if page.number in found else page.span.of(result.text)
        start = length + len(between)
        parts += (between, own)
        pages.append(replace(page, span=Span(start, start + len(own))))
        length, done = start + len(own), page.span.end
    return "".join(parts) + result.text[done:], pages


class _Moved:
    """Where positions of the text before are in the text after."""

    def __init__(self, before: Sequence[Page], after: Sequence[Page]) -> None:
        self._starts = [page.span.start for page in before]
        self._shifts = [new.span.start - old.span.start for old, new in zip(before, after, strict=True)]

    def start(self, position: int) -> int:
        """Return where the character at `position` is now."""
        index = bisect_right(self._starts, position) - 1
        return position + (self._shifts[index] if index >= 0 else 0)

    def span(self, span: Span) -> Span:
        """Return where a span is now; its end stays at the character before it."""
        return Span(self.start(span.start), self.start(span.end - 1) + 1 if span.end > span.start else span.end)


def _cut(result: ReadResult, moved: _Moved, found: Mapping[int, Recognised]) -> Iterator[Span]:
    """Yield the blocks that there were, without the pages that now have a text."""
    gaps = [page.span.start for page in result.pages if page.number in found]
    for block in result.blocks:
        edges = [block.start, *(gap for gap in gaps if block.start < gap < block.end), block.end]
        for start, end in pairwise(edges):
            piece = result.text[start:end]
            trimmed = Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))
            if trimmed.end > trimmed.start:
                yield moved.span(trimmed)


def _paragraphs(text: str, pages: Sequence[Page]) -> Iterator[Span]:
    for page in pages:
        for match in _PARAGRAPH.finditer(text, page.span.start, page.span.end):
            yield Span(match.start(), match.start() + len(match[0].rstrip()))
