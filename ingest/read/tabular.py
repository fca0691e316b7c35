"""How is a table in a text file (CSV, TSV) read? Its lines stay as they are; only rows and header are found.

Quoted fields may hold delimiters and line breaks (RFC 4180). A quote that is never closed is an ordinary character.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ingest.read.verbatim import source_of
from ingest.types import ReadResult, Span, TableHeader

MEDIA_TYPE = "text/csv"
TAB_MEDIA_TYPE = "text/tab-separated-values"
_DELIMITERS = (",", "\t", ";", "|")
_SAMPLE = 64_000
_SAMPLE_ROWS = 100
_HEADER_WITHIN = 10
"""Rows: above the header there may be a title, a date, a blank line."""
_LONGEST_CELL = 100
_MOST_LINES = 200
"""A quoted field with more line breaks is taken for a quote that was never closed."""
_NUMBER = re.compile(r"[-+(]?[$€£¥]?\s*\d[\d.,:/\s-]*%?\)?")
_BREAK = re.compile("\n")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DECLARED = re.compile(r"sep=([^\n])\n")
"""What spreadsheet programs write to tell each other the delimiter."""


class Shape(NamedTuple):
    """A delimiter, how many columns it makes in most rows, and which part of the rows has that many."""

    delimiter: str
    columns: int
    share: float


def read_tabular(data: bytes) -> ReadResult:
    """Read a CSV or TSV file, whatever its delimiter is: one block a row, the first row as header if it is one."""
    source = source_of(data)
    text = source.text
    declared = _DECLARED.match(text)
    shape = shape_of(text[declared.end() : _SAMPLE] if declared else text[:_SAMPLE])
    delimiter = declared[1] if declared else shape.delimiter
    rows = list(_rows(text, delimiter, declared.end() if declared else 0))
    headers = _headers(text, rows, delimiter, shape.columns)
    media_type = TAB_MEDIA_TYPE if delimiter == "\t" else MEDIA_TYPE
    return source.result(media_type, blocks=tuple(rows), table_headers=headers)


def shape_of(sample: str) -> Shape:
    """Return the delimiter by which `sample` falls into rows of equally many cells; a comma if there is none."""
    shapes = [_shape(sample, delimiter) for delimiter in _DELIMITERS]
    best = max(shapes, key=lambda shape: (shape.columns > 1 and shape.share >= 0.9, shape.columns * shape.share))
    return best if best.columns > 1 else Shape(",", 1, 1.0)


def is_table(sample: str) -> bool:
    """Say whether a text of which only the content is known is a table: prose with a comma a line is none."""
    shape = shape_of(sample)
    rows = _sample_rows(sample, shape.delimiter)
    if shape.columns < 2 or shape.share < 0.95 or len(rows) < 3:
        return False
    cells = [cell for row in rows for cell in row]
    spaced = sum(cell.startswith(" ") for cell in cells)
    filled = sum(bool(cell.strip()) for cell in cells)
    longest = max(len(cell) for cell in cells)
    return filled * 2 > len(cells) and longest < 1000 and (shape.delimiter == "\t" or spaced * 4 < len(cells))


def is_header(cells: Sequence[str]) -> bool:
    """Say whether cells look like the names of columns: short, all different, no numbers but years."""
    names = [cell.strip() for cell in cells]
    named = names if names and names[0] else names[1:]  # a column of row names may have none itself
    if not named or len(names) < 2 or len(set(names)) < len(names):
        return False
    if any(not name or len(name) > _LONGEST_CELL for name in named):
        return False
    numbers = [name for name in named if _NUMBER.fullmatch(name)]
    return len(numbers) < len(named) and all(_YEAR.fullmatch(number) for number in numbers)


def _shape(sample: str, delimiter: str) -> Shape:
    counts = Counter(len(row) for row in _sample_rows(sample, delimiter))
    if not counts:
        return Shape(delimiter, 0, 0.0)
    columns, rows = max(counts.items(), key=lambda item: (item[0] > 1, item[1]))
    return Shape(delimiter, columns, rows / counts.total())


def _sample_rows(sample: str, delimiter: str) -> list[list[str]]:
    spans = list(_rows(sample, delimiter, 0))
    if len(sample) >= _SAMPLE and len(spans) > 1:
        spans.pop()  # it may be cut
    return [_cells(span.of(sample), delimiter) for span in spans[:_SAMPLE_ROWS]]


def _cells(row: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([row], delimiter=delimiter), [])
    except csv.Error:
        return row.split(delimiter)


def _rows(text: str, delimiter: str, start: int) -> Iterator[Span]:
    """Yield the spans of the rows that hold something, in one pass."""
    for end in [*_ends(text, delimiter, start), len(text)]:
        piece = text[start:end]
        if piece.strip():
            yield Span(start + len(piece) - len(piece.lstrip(" \n")), start + len(piece.rstrip(" \n")))
        start = end


def _ends(text: str, delimiter: str, start: int) -> Iterator[int]:
    """Yield the line breaks that end a row: those outside of quoted fields."""
    quoted = re.compile(rf'(?<![^{re.escape(delimiter)}\n]) *+"[^"]*+(?:""[^"]*+)*+"|\n')
    for match in quoted.finditer(text, start):
        if match[0] == "\n":
            yield match.start()
        elif match[0].count("\n") > _MOST_LINES:
            yield from (inner.start() for inner in _BREAK.finditer(text, match.start(), match.end()))


def _headers(text: str, rows: Sequence[Span], delimiter: str, columns: int) -> tuple[TableHeader, ...]:
    """Return the header: the first row with as many cells as most have, and not a mere title, if it reads like one."""
    for number, row in enumerate(rows[:_HEADER_WITHIN]):
        if row.end - row.start > _SAMPLE or number + 1 == len(rows):
            return ()
        cells = _cells(row.of(text), delimiter)
        if len(cells) == columns and sum(bool(cell.strip()) for cell in cells) * 2 > columns:
            if not is_header(cells):
                return ()
            names = " | ".join(" ".join(cell.split()) for cell in cells)
            return (TableHeader(Span(row.end, rows[-1].end), names),)
    return ()
