"""What does a text look like once it is clean, and where was each character before?

Line ends become LF, canonical composition is applied, no-break spaces become spaces, and what a reader cannot
see but a model or a search would trip over (controls, bidirectional overrides, tag characters, zero-width
spaces, halves of surrogate pairs) is removed. Joiners (ZWJ, ZWNJ) stay: scripts and emoji need them.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ingest.types import ByteRun, Span

_UNCLEAN = re.compile(
    "\r\n?"
    "|[\x0b\x0c]"  # vertical tab and form feed separate lines: dropping them would glue two words together
    "|[\xa0\u202f]"
    "|[\x00-\x08\x0e-\x1f\x7f\ufeff\u200b\u2060\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]+"
)
_REPLACEMENTS = {"\r": "\n", "\x0b": "\n", "\x0c": "\n", "\xa0": " ", "\u202f": " "}
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_SHIFTED_STATE = ("iso2022", "hz", "utf_7")


class Piece(NamedTuple):
    """`text[start:end]` was `source[source_start:source_end]`; `verbatim` if they are the same."""

    start: int
    end: int
    source_start: int
    source_end: int
    verbatim: bool


@dataclass(frozen=True, slots=True)
class Normalized:
    """A clean text and where it came from. The pieces cover both texts completely and in order."""

    text: str
    pieces: tuple[Piece, ...]

    def source_span(self, start: int, end: int) -> Span:
        """Return where `text[start:end]` was in the source, snapped outward where characters were changed."""
        if not self.pieces:
            return Span(0, 0)
        first = self.pieces[_touching_start(self.pieces, start)]
        left = first.source_start + (start - first.start if first.verbatim else 0)
        if end <= start:
            return Span(left, left)
        last = self.pieces[_touching_end(self.pieces, end)]
        right = last.source_start + (end - last.start) if last.verbatim else last.source_end
        return Span(left, right)


def normalize(text: str) -> Normalized:
    """Clean `text`. Doing it twice changes nothing more."""
    return composed(clean(text))


def normalized_text(text: str) -> str:
    """Return `normalize(text).text` for those who need no way back; several times faster."""
    return unicodedata.normalize("NFC", replaced(text, _cleanings(text)))


def clean(text: str) -> Normalized:
    """Apply everything but canonical composition."""
    return rewritten(text, _cleanings(text))


def _cleanings(text: str) -> Iterator[tuple[int, int, str]]:
    return ((m.start(), m.end(), _REPLACEMENTS.get(m[0][0], "")) for m in _UNCLEAN.finditer(text))


def composed(source: Normalized) -> Normalized:
    """Apply canonical composition (NFC) on top of `source`."""
    if unicodedata.is_normalized("NFC", source.text):
        return source
    return chained(source, rewritten(source.text, _compositions(source.text)))


def rewritten(text: str, edits: Iterable[tuple[int, int, str]]) -> Normalized:
    """Replace `text[start:end]` for each `(start, end, replacement)`, in order and without overlap."""
    parts: list[str] = []
    pieces: list[Piece] = []
    done = length = 0
    for start, end, replacement in edits:
        if start > done:
            pieces.append(Piece(length, length + start - done, done, start, True))
            parts.append(text[done:start])
            length += start - done
        pieces.append(Piece(length, length + len(replacement), start, end, False))
        parts.append(replacement)
        length += len(replacement)
        done = end
    if done < len(text):
        pieces.append(Piece(length, length + len(text) - done, done, len(text), True))
        parts.append(text[done:])
    return Normalized("".join(parts), tuple(pieces))


def replaced(text: str, edits: Iterable[tuple[int, int, str]]) -> str:
    """Return `rewritten(text, edits).text`."""
    parts: list[str] = []
    done = 0
    for start, end, replacement in edits:
        parts += text[done:start], replacement
        done = end
    return "".join(parts) + text[done:]


def chained(first: Normalized, second: Normalized) -> Normalized:
    """Return `second`, which was made of `first.text`, with pieces that lead to the source of `first`."""
    pieces: list[Piece] = []
    for piece in second.pieces:
        if piece.verbatim:
            pieces.extend(_through(first.pieces, piece))
        else:
            span = first.source_span(piece.source_start, piece.source_end)
            pieces.append(Piece(piece.start, piece.end, span.start, span.end, False))
    source_length = first.pieces[-1].source_end if first.pieces else 0
    return Normalized(second.text, tuple(_without_gaps(pieces, len(second.text), source_length)))


def byte_runs(normalized: Normalized, source: str, raw: bytes, encoding: str, bom: int) -> tuple[ByteRun, ...] | None:
    """Turn the pieces of a decoded file into byte ranges of `raw`, whose first `bom` bytes are its mark.

    None where bytes cannot be told from the text: an encoding with shift states, or one whose decoding is not
    exactly undone by encoding (two byte sequences for one character).
    """
    if encoding.replace("-", "").startswith(_SHIFTED_STATE) or _encoded(source, encoding) != raw[bom:]:
        return None
    runs = []
    position = bom
    for piece in normalized.pieces:
        after = position + len(source[piece.source_start : piece.source_end].encode(encoding))
        runs.append(ByteRun(piece.start, piece.end, position, after, piece.verbatim))
        position = after
    return tuple(runs)


def byte_span(runs: Sequence[ByteRun], span: Span, text: str, encoding: str) -> tuple[int, int] | None:
    """Return the bytes `[start, end)` of the original that `span` of `text` came from; None if empty.

    An end inside a run that is not verbatim moves outward to the end of that run.
    """
    if not runs or span.end <= span.start:
        return None
    first = runs[_touching_start(runs, span.start)]
    last = runs[_touching_end(runs, span.end)]
    start, end = first.byte_start, last.byte_end
    if first.verbatim:
        start += len(text[first.start : span.start].encode(encoding))
    if last.verbatim:
        end -= len(text[span.end : last.end].encode(encoding))
    return start, end


def _encoded(text: str, encoding: str) -> bytes | None:
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return None


def _start(piece: Piece | ByteRun) -> int:
    return piece.start


def _touching_start(pieces: Sequence[Piece] | Sequence[ByteRun], position: int) -> int:
    """Return which piece holds the character at `position` (not a removed one before it)."""
    return max(0, bisect_right(pieces, position, key=_start) - 1)


def _touching_end(pieces: Sequence[Piece] | Sequence[ByteRun], position: int) -> int:
    """Return which piece holds the character before `position`."""
    return max(0, bisect_left(pieces, position, key=_start) - 1)


def _through(under: Sequence[Piece], piece: Piece) -> Iterator[Piece]:
    """Yield the parts of a verbatim `piece`, each within one of the pieces that its source is made of."""
    shift = piece.start - piece.source_start
    for index in range(_touching_start(under, piece.source_start), len(under)):
        below = under[index]
        if below.start >= piece.source_end:
            return
        left, right = max(below.start, piece.source_start), min(below.end, piece.source_end)
        if right <= left:
            continue
        offset = below.source_start - below.start
        if below.verbatim:
            yield Piece(left + shift, right + shift, left + offset, right + offset, True)
        else:
            yield Piece(left + shift, right + shift, below.source_start, below.source_end, False)


def _without_gaps(pieces: Iterable[Piece], length: int, source_length: int) -> Iterator[Piece]:
    """Yield `pieces` with an empty one wherever characters of the source were removed between two."""
    at = 0
    for piece in pieces:
        start = max(piece.source_start, at)
        if start > at:
            yield Piece(piece.start, piece.start, at, start, False)
        yield piece if start == piece.source_start else piece._replace(source_start=start)
        at = piece.source_end
    if at < source_length:
        yield Piece(length, length, at, source_length, False)


def _compositions(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the smallest stretches that composition changes, looking only into lines that need it."""
    for line in _LINE.finditer(text):
        if unicodedata.is_normalized("NFC", line[0]):
            continue
        start = line.start()
        for position in range(line.start() + 1, line.end() + 1):
            if position < line.end() and _joins(text[position]):
                continue
            piece = text[start:position]
            composed_piece = unicodedata.normalize("NFC", piece)
            if composed_piece != piece:
                yield start, position, composed_piece
            start = position


def _joins(character: str) -> bool:
    """Say whether composition may join `character` with what stands before it."""
    return (
        unicodedata.combining(character) != 0
        or unicodedata.category(character).startswith("M")
        or "\u1160" <= character <= "\u11ff"  # Hangul vowels and finals
        or "\U00016d63" <= character <= "\U00016d6a"  # Kirat Rai vowels, letters that compose
    )
