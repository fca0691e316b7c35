"""How is reStructuredText read? The text is the source itself; its titles and the rows of its tables are found.

The rules are those of docutils' specification ("Sections", "Grid Tables", "Simple Tables").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ingest.read.plain import paragraphs
from ingest.read.verbatim import lines, source_of
from ingest.types import Heading, ReadResult, Span, TableHeader

MEDIA_TYPE = "text/x-rst"
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*")
_DATE = re.compile(r":(?:date|日期):[ \t]+(\S.*)", re.IGNORECASE)
_GRID_BORDER = re.compile(r"[ \t]*\+(?:[-=]+\+)+[ \t]*")
_SIMPLE_BORDER = re.compile(r"[ \t]*=+(?: +=+)+[ \t]*")
_DOCINFO_LINES = 40


def read_rst(data: bytes) -> ReadResult:
    """Read a reStructuredText file."""
    source = source_of(data)
    text = source.text
    spans = lines(text)
    contents = [span.of(text).rstrip() for span in spans]
    headings = tuple(_headings(spans, contents))
    blocks: list[Span] = []
    headers: list[TableHeader] = []
    for paragraph in paragraphs(text):
        rows, header = _table(paragraph, text)
        blocks.extend(rows or [paragraph])
        headers.extend([header] if header else [])
    dates = (match[1] for match in map(_DATE.match, contents[:_DOCINFO_LINES]) if match)
    return source.result(
        MEDIA_TYPE,
        title=headings[0].title if headings and headings[0].level == 1 else None,
        date=next(dates, None),
        headings=headings,
        blocks=tuple(blocks),
        table_headers=tuple(headers),
    )


def _headings(spans: Sequence[Span], contents: Sequence[str]) -> Iterator[Heading]:
    """Yield the titles; a level is a style of adornment, in the order in which the styles first come."""
    styles: list[tuple[str, bool]] = []
    for number in range(1, len(contents)):
        title, under = contents[number - 1].strip(), contents[number]
        if not _is_title(contents, number):
            continue
        over = number >= 2 and contents[number - 2] == under and len(under) > 1
        style = (under[0], over)
        if style not in styles:
            styles.append(style)
        yield Heading(styles.index(style) + 1, title, spans[number - 1 - over].start)


def _is_title(contents: Sequence[str], number: int) -> bool:
    """Say whether line `number` underlines the line above it, which stands alone or has the same line above."""
    title, under = contents[number - 1], contents[number]
    if not title.strip() or not _ADORNMENT.fullmatch(under) or _ADORNMENT.fullmatch(title):
        return False
    if len(under) < min(len(title.strip()), 4):
        return False
    above = contents[number - 2] if number >= 2 else ""
    if title[0] in " \t":
        return above == under
    return above in ("", under) or _ADORNMENT.fullmatch(above) is not None or above.startswith(".. ")


def _table(paragraph: Span, text: str) -> tuple[list[Span], TableHeader | None]:
    """Return the rows of a grid table or a simple table, and its header; no rows if the paragraph is no table."""
    spans = [Span(one.start + paragraph.start, one.end + paragraph.start) for one in lines(paragraph.of(text))]
    contents = [span.of(text) for span in spans]
    grid = _GRID_BORDER.fullmatch(contents[0]) is not None
    if len(spans) < 3 or not (grid or _SIMPLE_BORDER.fullmatch(contents[0])):
        return [], None
    pattern = _GRID_BORDER if grid else _SIMPLE_BORDER
    borders = [number for number, line in enumerate(contents) if pattern.fullmatch(line)]
    rows = _grouped(spans, borders) if grid else spans
    header = _header(contents, spans, borders, grid)
    return rows, header


def _grouped(spans: Sequence[Span], borders: Sequence[int]) -> list[Span]:
    """Return the rows of a grid table, each with the border above it."""
    return [Span(spans[first].start, spans[after - 1].end) for first, after in pairwise([*borders, len(spans)])]


def _header(contents: Sequence[str], spans: Sequence[Span], borders: Sequence[int], grid: bool) -> TableHeader | None:
    """Return what stands above the border that ends a header: of `=` in a grid, the second of three in a simple one."""
    if grid:
        ends = [number for number in borders if "=" in contents[number]]
    else:
        ends = list(borders[1:2]) if len(borders) > 2 else []
    if not ends or ends[0] == 0 or ends[0] + 1 >= len(spans):
        return None
    names = [_folded(line) for number, line in enumerate(contents[: ends[0]]) if number not in borders]
    return TableHeader(Span(spans[ends[0]].start, spans[-1].end), "\n".join(names)) if names else None


def _folded(line: str) -> str:
    return " ".join(line.strip().strip("|").split())
