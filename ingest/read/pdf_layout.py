"""In which order is a PDF page read, where the order of its text is not that of the page?

PDFium gives text as it was drawn, line by line. That is wrong for two columns that were drawn in turns, for vertical
text, whose columns it takes from the left, and inside Arabic ligatures. Looking at every character would cost more
than reading, so a few rectangles from the middle of a page decide whether it is looked at.
"""

from __future__ import annotations

import ctypes
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pypdfium2
from pypdfium2 import raw

from ingest.types import Span

_SAMPLE = 16
_FEWEST_JUMPS, _MOST_JUMPS = 0.25, 0.6
"""Of two columns drawn in turns every other step is one over the gutter; tables have more, or few."""
_GUTTER = 9.0
_LEAST_ROWS = 4
_COLUMN_WIDTH = 90.0
_FILLED = 0.7
_LIGATURE = re.compile("[\u0627\u0622\u0623\u0625]\u0644")
_LINE = re.compile(r"[^\r\n]*[^\s][^\r\n]*")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ENDS = re.compile(r"[.!?:;。！？：；…][\"'”’»)\]）」』】]*\s*$")


class Rectangle(NamedTuple):
    """A part of a page in PDF points, from its lower left corner."""

    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True, slots=True)
class Arranged:
    """The text of a page in reading order. `parts` are the places in PDFium's text, in that order; empty if it is that.

    Between two parts stands one line feed, of no source.
    """

    text: str
    parts: tuple[Span, ...] = ()

    def sources(self, start: int, end: int) -> Iterator[Span]:
        """Yield where `text[start:end]` stands in PDFium's text."""
        if not self.parts:
            yield Span(start, end)
        at = 0
        for part in self.parts:
            length = part.end - part.start
            left, right = max(start - at, 0), min(end - at, length)
            if left < right:
                yield Span(part.start + left, part.start + right)
            at += length + 1


def arranged(text_page: pypdfium2.PdfTextPage, text: str) -> Arranged:
    """Put the text of a page in reading order; most pages are left as they are."""
    if _LIGATURE.search(text):
        text = _with_ligatures(text_page, text)
    count = raw.FPDFText_CountRects(text_page.raw, 0, -1)
    middle = max(0, count // 2 - _SAMPLE // 2)
    sample = list(_rectangles(text_page, middle, min(count, middle + _SAMPLE)))
    if _is_vertical(sample) and len(_CJK.findall(text)) * 2 > len(text):
        return _rearranged(text, _vertical(places(text_page, text), text))
    if len(sample) >= _LEAST_ROWS and _FEWEST_JUMPS <= _jumps(sample) / len(sample) <= _MOST_JUMPS:
        gutter = _gutter(list(_rows(_rectangles(text_page, 0, count))))
        parts = _columns(places(text_page, text), text, gutter) if gutter is not None else []
        return _rearranged(text, parts)
    return Arranged(text)


def _rearranged(text: str, parts: Sequence[Span]) -> Arranged:
    if not parts:
        return Arranged(text)
    pieces = [part.of(text) for part in parts]
    for index, (piece, after) in enumerate(itertools.pairwise(pieces)):
        if re.search(r"[^\W\d_][-\u2010]$", piece) and after[:1].islower():
            pieces[index] = piece[:-1] + "\ufffe"  # PDFium's own mark: here it did not see the line end
    return Arranged("\n".join(pieces), tuple(parts))


def _with_ligatures(text_page: pypdfium2.PdfTextPage, text: str) -> str:
    """Put lam before alef where both are one glyph: turning a line round also turned what such a glyph stands for."""
    letters = list(text)
    where = places(text_page, text)
    for match in _LIGATURE.finditer(text):
        boxes = [box for _, box in where.boxes(Span(match.start(), match.end()))]
        if len(boxes) == 2 and boxes[0] == boxes[1]:
            letters[match.start() : match.end()] = reversed(match[0])
    return "".join(letters)


@dataclass(frozen=True, slots=True)
class Places:
    """Where on the page the characters of PDFium's text stand.

    PDFium counts its text in UTF-16 units, and its characters otherwise (some are not in the text).
    """

    text_page: pypdfium2.PdfTextPage
    units: Sequence[int]

    def boxes(self, span: Span) -> Iterator[tuple[int, Rectangle]]:
        """Yield position and box of the characters of `span` that have a box of their own."""
        seen = -1
        for position in range(span.start, span.end):
            index = raw.FPDFText_GetCharIndexFromTextIndex(self.text_page.raw, self.units[position])
            if index >= 0 and index != seen and (box := box_of(self.text_page, index)) is not None:
                yield position, box
            seen = index


def places(text_page: pypdfium2.PdfTextPage, text: str) -> Places:
    """Prepare the way from positions in PDFium's own text of a page to the page."""
    if not text or max(text) <= "\uffff":
        return Places(text_page, range(len(text) + 1))
    return Places(text_page, list(itertools.accumulate((1 + (one > "\uffff") for one in text), initial=0)))


def box_of(text_page: pypdfium2.PdfTextPage, index: int) -> Rectangle | None:
    """Return the box of PDFium's character number `index`, None if it is empty."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    found = raw.FPDFText_GetCharBox(text_page.raw, index, left, right, bottom, top)
    if not found or right.value <= left.value or top.value <= bottom.value:
        return None
    return Rectangle(left.value, bottom.value, right.value, top.value)


def _rectangles(text_page: pypdfium2.PdfTextPage, start: int, end: int) -> Iterator[Rectangle]:
    left, top, right, bottom = (ctypes.c_double() for _ in range(4))
    for index in range(start, end):
        if raw.FPDFText_GetRect(text_page.raw, index, left, top, right, bottom):
            yield Rectangle(left.value, bottom.value, right.value, top.value)


def _beside(one: Rectangle, other: Rectangle) -> bool:
    shared = min(one.top, other.top) - max(one.bottom, other.bottom)
    return shared > 0.5 * min(one.top - one.bottom, other.top - other.bottom)


def _jumps(rectangles: Sequence[Rectangle]) -> int:
    """Count where text goes on in the same line after a gap."""
    pairs = itertools.pairwise(rectangles)
    return sum(_beside(one, other) and other.left - one.right >= _GUTTER for one, other in pairs)


def _is_vertical(rectangles: Sequence[Rectangle]) -> bool:
    tall = sum(one.top - one.bottom > 3 * (one.right - one.left) for one in rectangles)
    return tall * 2 > len(rectangles)


def _rows(rectangles: Iterator[Rectangle]) -> Iterator[list[Rectangle]]:
    """Yield the rectangles of each line, pieces that touch as one."""
    row: list[Rectangle] = []
    for one in rectangles:
        if row and not (_beside(row[-1], one) and one.left > row[-1].left):
            yield row
            row = []
        if row and one.left - row[-1].right < _GUTTER:
            last = row[-1]
            row[-1] = Rectangle(
                last.left, min(last.bottom, one.bottom), max(last.right, one.right), max(last.top, one.top)
            )
        else:
            row.append(one)
    if row:
        yield row


def _gutter(rows: Sequence[Sequence[Rectangle]]) -> float | None:
    """Return the x between two columns of running text; None for tables, whose cells are no full lines."""
    pairs = [row for row in rows if len(row) == 2]
    if len(pairs) < _LEAST_ROWS or len(pairs) * 2 < sum(len(row) > 1 for row in rows):
        return None
    left_edge = sorted(row[1].left for row in pairs)[len(pairs) // 2]
    right_edge = max((row[0].right for row in pairs if row[0].right < left_edge), default=left_edge)
    gutter = (left_edge + right_edge) / 2
    columns = [row for row in pairs if row[0].right <= gutter <= row[1].left]
    if len(columns) < _LEAST_ROWS or len(columns) * 3 < len(pairs) * 2:
        return None
    widths = [[row[side].right - row[side].left for row in columns] for side in (0, 1)]
    return gutter if all(_is_filled(side) for side in widths) else None


def _is_filled(widths: Sequence[float]) -> bool:
    widest = sorted(widths)[int(len(widths) * 0.9)]
    return widest >= _COLUMN_WIDTH and sum(width >= _FILLED * widest for width in widths) * 10 >= len(widths) * 6


def _columns(where: Places, text: str, gutter: float) -> list[Span]:
    """Return the lines of a page with those of each stretch of two columns one column after the other."""
    parts: list[Span] = []
    rows: list[Span] = []
    sides: tuple[list[Span], list[Span]] = ([], [])
    for match in _LINE.finditer(text):
        line = Span(match.start(), match.end())
        left, right = _halves(where, text, line, gutter)
        if left == right == line:  # over both columns
            parts.extend(_stretch(text, rows, sides))
            parts.append(line)
            rows, sides = [], ([], [])
            continue
        rows.append(line)
        for side, half in zip(sides, (left, right), strict=True):
            if half is not None:
                side.append(half)
    parts.extend(_stretch(text, rows, sides))
    return parts if parts != sorted(parts, key=lambda part: part.start) else []


def _stretch(text: str, rows: list[Span], sides: tuple[list[Span], list[Span]]) -> list[Span]:
    """Return the lines of two columns in order; a table of words, where no sentence runs down a column, as rows."""
    return [*sides[0], *sides[1]] if all(_flows(text, side) for side in sides) else rows


def _flows(text: str, lines: Sequence[Span]) -> bool:
    """Say whether sentences run from line to line."""
    pairs = [(one.of(text), other.of(text)) for one, other in itertools.pairwise(lines)]
    flowing = sum(
        not _ENDS.search(one) and (other[:1].islower() or _CJK.match(other) is not None) for one, other in pairs
    )
    return flowing * 3 >= len(pairs)


def _halves(where: Places, text: str, line: Span, gutter: float) -> tuple[Span | None, Span | None]:
    """Return what of a line stands left and right of the gutter; both are the line where a character crosses it."""
    seen = [(position, box) for position, box in where.boxes(line) if not text[position].isspace()]
    if any(box.left < gutter < box.right for _, box in seen):
        return line, line
    left = [position for position, box in seen if box.right <= gutter]
    right = [position for position, box in seen if box.left >= gutter]
    if left and right and (left[-1] > right[0] or not _is_apart(seen, right[0])):
        return line, line
    return (
        Span(left[0], left[-1] + 1) if left else None,
        Span(right[0], right[-1] + 1) if right else None,
    )


def _is_apart(seen: Sequence[tuple[int, Rectangle]], first_right: int) -> bool:
    """Say whether there is a gap before the right column, and not only a space between words."""
    index = next(number for number, (position, _) in enumerate(seen) if position == first_right)
    return seen[index][1].left - seen[index - 1][1].right >= _GUTTER


def _vertical(where: Places, text: str) -> list[Span]:
    """Return the columns of vertical text from the right, those of an upper part of the page before a lower one."""
    columns: list[tuple[Rectangle, Span]] = []
    for match in _LINE.finditer(text):
        line = Span(match.start(), match.end())
        boxes = [box for _, box in where.boxes(line)]
        if not boxes:
            return []
        left, bottom = (min(box[side] for box in boxes) for side in (0, 1))
        right, top = (max(box[side] for box in boxes) for side in (2, 3))
        columns.append((Rectangle(left, bottom, right, top), line))
    tiers: list[list[tuple[Rectangle, Span]]] = []
    for column in sorted(columns, key=lambda one: -one[0].top):
        if tiers and column[0].top > tiers[-1][0][0].bottom:
            tiers[-1].append(column)
        else:
            tiers.append([column])
    return [span for tier in tiers for _, span in sorted(tier, key=lambda one: -one[0].right)]
