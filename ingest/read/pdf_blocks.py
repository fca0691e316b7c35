"""Which lines of a PDF belong to one paragraph, and where do its headings stand?

A PDF has lines only. A line that ends in the middle of a sentence is joined to the next, also over the edge
of a page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ingest.types import Heading, Page, Span

_LINE = re.compile(r"[^\n]*\S[^\n]*")
_ENDS = re.compile(r"[.!?:;。！？：；…][\"'”’»)\]）」』】]*\s*$")
_ITEM = re.compile(r"\s*(?:[•‣▪◦●○■□–—*\-]\s|[(（]?\d{1,3}[.)、）]\s|[a-z][.)]\s|\d+(?:\.\d+)+\s)")
_GOES_ON = re.compile(r"\s*[a-z\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af,;:)\]，。；：、）」』]")
_SHORT = 0.6
_SPACES = re.compile(r"\s+")


def pdf_blocks(text: str, pages: Sequence[Page], heading_starts: Iterable[int]) -> list[Span]:
    """Return the paragraphs of `text`; a heading begins a new one. A sentence that goes on overleaf is one block."""
    starts = set(heading_starts)
    blocks: list[Span] = []
    for page in pages:
        for number, block in enumerate(_page_blocks(text, _page_lines(text, page.span), starts)):
            goes_on = number == 0 and blocks and block.start not in starts
            if goes_on and _goes_on(blocks[-1].of(text), block.of(text)):
                blocks[-1] = Span(blocks[-1].start, block.end)
            else:
                blocks.append(block)
    return blocks


def _page_lines(text: str, page: Span) -> list[Span]:
    return [Span(match.start(), match.end()) for match in _LINE.finditer(text, page.start, page.end)]


def _page_blocks(text: str, lines: Sequence[Span], starts: set[int]) -> Iterator[Span]:
    if not lines:
        return
    width = sorted(line.end - line.start for line in lines)[int(len(lines) * 0.9)]
    held: Span | None = None
    before = lines[0]
    for line in lines:
        if held is not None and line.start not in starts and not _breaks(text, before, line, width):
            held = Span(held.start, line.end)
        else:
            if held is not None:
                yield held
            held = line
        before = line
    if held is not None:
        yield held


def _breaks(text: str, before: Span, line: Span, width: int) -> bool:
    """Say whether a paragraph ends between two lines."""
    if text.count("\n", before.end, line.start) > 1:
        return True
    above, below = before.of(text), line.of(text)
    if _ITEM.match(below):
        return True
    short = len(above.rstrip()) < _SHORT * width
    if _ENDS.search(above):
        return short or len(above.rstrip()) < 0.85 * width
    return short and not _GOES_ON.match(below)


def _goes_on(above: str, below: str) -> bool:
    return not _ENDS.search(above) and _GOES_ON.match(below) is not None


def locate_headings(text: str, pages: Sequence[Page], outline: Iterable[tuple[int, str, int]]) -> Iterator[Heading]:
    """Yield those headings of `outline` (level, title, page index) whose title is found on their page.

    Titles are looked for in order, at the start of a line where possible, so that a running title does not
    take the place of the heading.
    """
    after = 0
    for level, title, index in outline:
        if not 0 <= index < len(pages) or not title:
            continue
        span = pages[index].span
        start = _find(text, title, max(span.start, after), span.end)
        if start is not None:
            yield Heading(level, title, start)
            after = start + 1


def _find(text: str, title: str, start: int, end: int) -> int | None:
    words = r"\s*".join(re.escape(word) for word in _SPACES.split(title))
    number = r"(?:(?:Chapter|Appendix|Section|第)?\s*[\dA-Z]+(?:\.\d+)*\s*[.章节節]?\s+)?"
    for pattern in (rf"^[ \t]*{number}{words}[ \t]*$", rf"^[ \t]*{number}{words}", words):
        match = re.compile(pattern, re.MULTILINE).search(text, start, end)
        if match:
            return match.start() + len(match[0]) - len(match[0].lstrip())
    return None
