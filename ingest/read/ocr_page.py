"""What does a picture of a page say, and where? Tesseract reads it; this runs in a worker process.

A page is read at 200 dpi; where Tesseract is unsure of what it read, once more at 300 dpi with the direction of the
text found out first, and the surer of the two is taken. Why not at 300 dpi at once: it takes half as long again and
reads no better (of 1,440 English numbers in drawn scans 99.6 % are right at 200 dpi and 99.2 % at 300, of 720 Chinese
ones 98.1 % and 96.0 %); only print under 7 points and pages that were scanned sideways need more.
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np
import pypdfium2
from pypdfium2 import raw

from ingest.errors import ReadError, TimedOut
from ingest.normalize import Piece
from ingest.read.pdf_text import LOCK, cleaned, opened
from ingest.types import Box, Word

DPI = 200
FINE_DPI = 300
MAX_PIXELS = 20_000_000
MAX_SIDE = 30_000
"""Pixels; Tesseract takes no picture with a side over 32,767."""
SURE = 75.0
"""Mean confidence in percent under which a page is read a second time."""
MIN_CONFIDENCE = 30.0
"""Percent; what is under it are specks and rulings more often than words."""
_BLANK_CONTRAST = 24
_POINTS = 72
_PLAIN, _TURNED = "3", "1"
"""Page segmentation modes of Tesseract: automatic, without and with finding out the direction."""
_WIDE = re.compile(r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_HYPHENATED = re.compile(r"[^\W\d_][-\u2010]$")

Rectangle = tuple[float, float, float, float]
"""Left, top, right and bottom in pixels from the upper left corner."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Tesseract: where the program is, its languages joined by `+`, and whether it can tell how a text is turned."""

    program: str
    languages: str
    finds_direction: bool = False


@dataclass(frozen=True, slots=True)
class Recognised:
    """What a page says, and where its words stand; their offsets are in `text`. `blank` if nothing is on the page."""

    text: str
    words: tuple[Word, ...] = ()
    blank: bool = False


@dataclass(frozen=True, slots=True)
class _Token:
    """A word as Tesseract gives it; `line` and `paragraph` tell the lines and paragraphs of a picture apart."""

    page: int
    paragraph: tuple[str, ...]
    line: tuple[str, ...]
    place: Rectangle
    confidence: float
    text: str


def recognise_page(data: bytes, number: int, engine: Engine, seconds: float) -> Recognised:
    """Read page `number` (from 1) of a PDF; boxes are in PDF points, as those of its text would be.

    Raises TimedOut where Tesseract takes longer than `seconds`, and other IngestErrors where it or PDFium fails.
    """
    with LOCK, opened(data) as document:
        try:
            page = document[number - 1]
            try:
                return _recognise(page, number, engine, seconds)
            finally:
                page.close()
        except pypdfium2.PdfiumError as error:
            raise ReadError(f"Page {number} cannot be drawn: {error}.") from error


def recognise_image(data: bytes, engine: Engine, seconds: float) -> tuple[Recognised, ...]:
    """Read a picture (PNG, JPEG, TIFF with one or several pages); a pixel counts as a point. Raises as above."""
    sizes, tokens = _read(engine, data, _PLAIN, seconds)
    if tokens and _confidence(tokens) < SURE and engine.finds_direction:
        again = _read(engine, data, _TURNED, seconds)
        if _confidence(again[1]) > _confidence(tokens):
            sizes, tokens = again

    def upright(number: int, place: Rectangle) -> Box:
        left, top, right, bottom = place
        height = sizes[number][1]
        return Box(number, left, height - bottom, right, height - top)

    return tuple(composed([one for one in tokens if one.page == number], number, upright) for number in sorted(sizes))


def _recognise(page: pypdfium2.PdfPage, number: int, engine: Engine, seconds: float) -> Recognised:
    drawn = _Drawn(page, DPI)
    if drawn.blank:
        return Recognised("", blank=True)
    tokens = _read(engine, drawn.picture, _PLAIN, seconds, drawn.dpi)[1]
    if tokens and _confidence(tokens) < SURE:
        finer = _Drawn(page, FINE_DPI)
        mode = _TURNED if engine.finds_direction else _PLAIN
        again = _read(engine, finer.picture, mode, seconds, finer.dpi)[1]
        if _confidence(again) > _confidence(tokens):
            drawn, tokens = finer, again
    return composed(tokens, number, drawn.box)


class _Drawn:
    """A page as a grey picture of about `dpi`, coarser where it is huge."""

    def __init__(self, page: pypdfium2.PdfPage, dpi: int) -> None:
        width, height = page.get_size()
        if not (0 < width < math.inf and 0 < height < math.inf):
            raise ReadError("The page has no size.")
        scale = min(dpi / _POINTS, math.sqrt(MAX_PIXELS / (width * height)), MAX_SIDE / max(width, height))
        bitmap = page.render(scale=scale, grayscale=True)
        try:
            pixels = np.ascontiguousarray(bitmap.to_numpy())
            self.picture = b"P5 %d %d 255\n" % (bitmap.width, bitmap.height) + pixels.tobytes()
            self.blank = int(pixels.max()) - int(pixels.min()) < _BLANK_CONTRAST
            self._size = bitmap.width, bitmap.height
        finally:
            bitmap.close()
        self.dpi = max(1, round(scale * _POINTS))
        self._page = page

    def box(self, number: int, place: Rectangle) -> Box:
        """Return where a rectangle of the picture is on the page, whichever way the page is turned."""
        left, top, right, bottom = place
        corners = [self._point(left, top), self._point(right, bottom)]
        (x0, x1), (y0, y1) = (sorted(values) for values in zip(*corners, strict=True))
        return Box(number, x0, y0, x1, y1)

    def _point(self, across: float, down: float) -> tuple[float, float]:
        x, y = ctypes.c_double(), ctypes.c_double()
        raw.FPDF_DeviceToPage(self._page.raw, 0, 0, *self._size, 0, round(across), round(down), x, y)
        return x.value, y.value


def _read(
    engine: Engine, picture: bytes, mode: str, seconds: float, dpi: int | None = None
) -> tuple[dict[int, tuple[int, int]], list[_Token]]:
    """Return the size of each page of a picture in pixels, and its words."""
    command = [engine.program, "stdin", "stdout", "-l", engine.languages, "--psm", mode]
    command += ["--dpi", str(dpi)] if dpi is not None else []
    rows = [line.split("\t") for line in _run([*command, "tsv"], picture, seconds).splitlines()]
    rows = [row for row in rows if len(row) == 12 and row[0].isdigit()]
    sizes = {int(row[1]): (int(row[8]), int(row[9])) for row in rows if row[0] == "1"}
    found = (_token(row) for row in rows if row[0] == "5" and row[11].strip())
    return sizes, [token for token in found if token.confidence >= MIN_CONFIDENCE]


def _token(row: Sequence[str]) -> _Token:
    left, top, width, height = (int(value) for value in row[6:10])
    place = left, top, left + width, top + height
    return _Token(int(row[1]), tuple(row[1:4]), tuple(row[1:5]), place, float(row[10]), row[11].strip())


def _run(command: Sequence[str], picture: bytes, seconds: float) -> str:
    """Give a picture to Tesseract and return what it prints; it is killed after `seconds`."""
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}  # its threads cost more than they bring
    try:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
        )
    except OSError as error:
        raise ReadError(f"Tesseract cannot be started: {error.strerror}.") from error
    with process:
        _limit_time(process.pid, seconds)
        try:
            printed, complaints = process.communicate(picture, timeout=seconds)
        except subprocess.TimeoutExpired as error:
            raise TimedOut(f"OCR took longer than {seconds:g} seconds.") from error
        finally:
            process.kill()
    if process.returncode:
        last = complaints.decode("utf-8", "replace").strip().splitlines()[-1:]
        raise ReadError(f"Tesseract fails: {last[0] if last else f'it ended with {process.returncode}'}")
    return printed.decode("utf-8", "replace")


def _limit_time(process_id: int, seconds: float) -> None:
    """Let the system end Tesseract where this process, being killed itself, cannot do it any more."""
    if sys.platform == "linux":
        import resource

        limit = math.ceil(seconds) + 1
        try:
            resource.prlimit(process_id, resource.RLIMIT_CPU, (limit, limit))
        except OSError:
            return  # it has ended already


def _confidence(tokens: Sequence[_Token]) -> float:
    return fmean(token.confidence for token in tokens) if tokens else 0.0


def composed(tokens: Sequence[_Token], number: int, box: Callable[[int, Rectangle], Box]) -> Recognised:
    """Join words into lines and paragraphs, cleaned like the text of any page; the words keep their places."""
    text = ""
    starts: list[int] = []
    lines: list[int] = []
    line = 0
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else None
        if before is not None and before.line != token.line:
            line += 1
        text += "" if before is None else _between(before, token)
        starts.append(len(text))
        lines.append(line)
        hyphenated = index + 1 < len(tokens) and _hyphenated(token, tokens[index + 1])
        text += f"{token.text[:-1]}\x02" if hyphenated else token.text  # the mark that PDFium makes, for `cleaned`
    clean = cleaned(text)
    ends = [start + len(token.text) for start, token in zip(starts, tokens, strict=True)]
    spans = _forward(clean.pieces, zip(starts, ends, strict=True))
    words = (
        Word(start, end, row, box(number, token.place))
        for (start, end), row, token in zip(spans, lines, tokens, strict=True)
        if end > start
    )
    return Recognised(clean.text, tuple(words))


def _between(before: _Token, token: _Token) -> str:
    """Return what stands between two words: Chinese and Japanese have a space only where there is a wide gap."""
    if before.paragraph != token.paragraph:
        return "\n\n"
    if before.line != token.line:
        return "\n"
    if not (_WIDE.match(before.text[-1]) or _WIDE.match(token.text[0])):
        return " "
    return " " if _apart(before.place, token.place) else ""


def _apart(one: Rectangle, other: Rectangle) -> bool:
    """Say whether the gap between two words is wider than their line is high (or, turned, wide)."""
    across = max(other[0] - one[2], one[0] - other[2])
    down = max(other[1] - one[3], one[1] - other[3])
    if across >= down:
        return across > max(one[3] - one[1], other[3] - other[1])
    return down > max(one[2] - one[0], other[2] - other[0])


def _hyphenated(token: _Token, after: _Token) -> bool:
    """Say whether a word goes on in the next line of its paragraph."""
    return (
        token.line != after.line
        and token.paragraph == after.paragraph
        and _HYPHENATED.search(token.text) is not None
        and after.text[0].isalnum()
    )


def _forward(pieces: Sequence[Piece], spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield where spans of the source are in the clean text; an end inside of what was changed moves outward."""
    sources = [piece.source_start for piece in pieces]
    for start, end in spans:
        first = pieces[bisect_right(sources, start) - 1]
        last = pieces[bisect_right(sources, end - 1) - 1]
        yield (
            first.start + (start - first.source_start if first.verbatim else 0),
            last.start + (end - last.source_start) if last.verbatim else last.end,
        )
