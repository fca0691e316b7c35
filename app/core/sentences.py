"""Where are the sentences of a text? English and Chinese; lists, table rows and headings line by line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_ABBREVIATED = """e.g i.e etc vs cf al dr mr mrs ms prof st no nos fig figs vol pp p ch sec art approx dept est inc ltd
co corp jr sr jan feb mar apr jun jul aug sep sept oct nov dec u.s u.k a.m p.m ph.d rev"""
_ABBREVIATIONS = frozenset(_ABBREVIATED.split())
_BEFORE_NUMBERS = frozenset({"no", "nos", "art", "sec", "ch", "mar"})
"""These are words too, and shortened only before a number."""
_LATIN_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s|$)")
_CJK_END = re.compile(r"[。！？；…]+[”’」』）)\"']*|[!?]+(?=[\u3400-\u9fff])")
_WORD_BEFORE = re.compile(r"([A-Za-z][A-Za-z.]*)$")
_OWN_LINE = re.compile(r"\s*(?:[-*•·▪●–]\s|\d{1,3}[.)、]\s|[（(]\d{1,3}[)）]|#{1,6}\s|>|\||```)")
SHORT_LINE = 0.6
"""A line below this share of the longest one was not broken for lack of room."""
_SPACE = re.compile(r"\s*")


def sentences(text: str, headings: Collection[str] = ()) -> list[tuple[int, int]]:
    """Return the spans of the sentences, in order, without overlap; together they hold every visible character.

    A line that is one of `headings` stands for itself: text that came from a PDF does not mark it otherwise.
    """
    return [span for start, end in _lines(text, frozenset(headings)) for span in _split(text, start, end)]


def split_sentences(text: str, headings: Collection[str] = ()) -> list[str]:
    """Return the sentences as texts."""
    return [text[start:end] for start, end in sentences(text, headings)]


def is_table_row(line: str) -> bool:
    """Say whether a line is a row of cells divided by bars."""
    return " | " in line or line.lstrip().startswith("|")


def _lines(text: str, headings: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield paragraphs: lines joined where a sentence runs on, kept apart where a line stands for itself."""
    start = position = 0
    previous = ""
    full = max((_width(line) for line in text.splitlines()), default=0)
    for line in text.splitlines(keepends=True):
        ends = previous.strip() in headings or line.strip() in headings or _falls_short(previous, line, full)
        if position > start and (ends or _breaks(previous, line)):
            yield start, position
            start = position
        position += len(line)
        previous = line
    if position > start:
        yield start, position


def _breaks(previous: str, line: str) -> bool:
    if not previous.strip() or not line.strip():
        return True
    return bool(_OWN_LINE.match(line)) or is_table_row(line) or is_table_row(previous) or previous.lstrip()[:1] == "#"


def _falls_short(previous: str, line: str, full: int) -> bool:
    """Say whether a line was ended by its writer: it is much shorter than others, and the next begins anew."""
    begins = line.strip()[:1]
    anew = begins.isupper() or begins.isdigit() or begins > "\u2e80"
    return anew and _width(previous) < SHORT_LINE * full and not previous.rstrip().endswith((",", "-", "，", "、"))


def _width(line: str) -> int:
    return sum(2 if ch > "\u2e80" else 1 for ch in line.strip())


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    position = start
    for stop in _ends(text, start, end):
        yield from _trimmed(text, position, stop)
        position = stop
    yield from _trimmed(text, position, end)


def _ends(text: str, start: int, end: int) -> list[int]:
    if is_table_row(text[start:end]):
        return []
    stops = {match.end() for match in _CJK_END.finditer(text, start, end)}
    for match in _LATIN_END.finditer(text, start, end):
        if not (match.group()[0] == "." and _abbreviated(text, start, match.start(), match.end(), end)):
            stops.add(match.end())
    return sorted(stops)


def _abbreviated(text: str, start: int, dot: int, after: int, end: int) -> bool:
    """Say whether the full stop at `dot` belongs to an abbreviation, an initial or a list number."""
    word = _WORD_BEFORE.search(text, max(start, dot - 12), dot)
    following = text[_SPACE.match(text, after).end() : end][:1]  # type: ignore[union-attr]  # the pattern matches the empty string
    if word is None:
        return text[start:dot].strip().isdigit()
    token = word.group(1)
    if following and following.islower():
        return True
    if token.lower() in _BEFORE_NUMBERS:
        return following.isdigit()
    return token.lower() in _ABBREVIATIONS or (len(token) == 1 and token.isupper())


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    piece = text[start:end]
    if piece.strip():
        yield start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
