"""What do the pages around a PDF page tell about it: which lines are running titles, which hyphens belong to words?

Only near pages are looked at, so that the text of one page can be made again, for its boxes, without reading a book.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ingest.normalize import replaced
from ingest.types import Span

NEAR = 4
"""So many pages before and after a page decide on its running titles."""
_WORDS_NEAR = 8
_EDGE_LINES = 3
_EDGE_CHARACTERS = 600
_REPEATED = 3
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)
_DIGITS = re.compile(r"\d{1,9}")
_LETTERS = re.compile(r"[^\W\d_]")
_PUNCTUATION = ".,;:!?()[]{}<>\"'“”‘’«»…"
_ENDS = re.compile(r"[.!?:;。！？：；…][\"'”’»)\]）」』】]*\s*$")
_SECOND_WORDS = {
    "aware", "based", "case", "compatible", "consuming", "dependent", "driven", "friendly", "level", "mode", "oriented",
    "related", "specific",
}  # fmt: skip
"""English words that make compounds with nearly any other."""
_SMALL_WORDS = {
    "a", "an", "as", "at", "be", "by", "do", "for", "in", "is", "it", "no", "of", "on", "or", "so", "to", "up",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Edge:
    """A line near the top or the bottom of a page; `shape` is what it is without its numbers."""

    span: Span
    shape: str
    numbers: tuple[int, ...]
    letters: int


@dataclass(slots=True)
class Neighbours:
    """The pages of a document around each other. `text_of` gives the raw text of a page, empty where it fails."""

    text_of: Callable[[int], str]
    count: int
    _edges: dict[int, tuple[list[_Edge], list[_Edge]]] = field(default_factory=dict)
    _words: dict[int, frozenset[str]] = field(default_factory=dict)

    def running_lines(self, index: int) -> list[Span]:
        """Return the first and last lines of a page that stand on other pages near it, but for their numbers.

        Where a title stands for the first time it is kept, unless a sentence goes on over it.
        """
        found: set[Span] = set()
        for side in (0, 1):
            for edge in self._edges_of(index)[side]:
                if not self._repeats(index, edge):
                    break
                if not self._is_first(index, edge) or self._is_inside_sentence(index, side):
                    found.add(edge.span)
        lines = sorted(found, key=lambda span: span.start)
        text = self.text_of(index)
        is_all = not replaced(text, ((line.start, line.end, "") for line in lines)).strip()
        return [] if is_all else lines  # pages that are alike as a whole have no titles

    def keeps_hyphen(self, index: int, left: str, right: str) -> bool:
        """Say whether the hyphen between two halves of a word at a line end belongs to it.

        It does not where the whole word is found near; it does where the word is found with it, or where both halves
        are words themselves. An unknown word is taken as divided.
        """
        left, right = left.lower(), right.lower()
        if self._knows(index, left + right):
            return False
        if len(left) == 1 or self._knows(index, f"{left}-{right}"):
            return True
        known = left not in _SMALL_WORDS and self._knows(index, left)
        return known and (right in _SECOND_WORDS or self._knows(index, right))

    def _near(self, index: int, distance: int) -> Iterator[int]:
        return iter(range(max(0, index - distance), min(self.count, index + distance + 1)))

    def _knows(self, index: int, word: str) -> bool:
        return any(word in self._words_of(near) for near in self._near(index, _WORDS_NEAR))

    def _words_of(self, index: int) -> frozenset[str]:
        if index not in self._words:
            words = self.text_of(index).lower().split()
            self._words[index] = frozenset(word.strip(_PUNCTUATION) for word in words)
        return self._words[index]

    def _edges_of(self, index: int) -> tuple[list[_Edge], list[_Edge]]:
        """Return the lines at the top, from the first, and at the bottom, from the last."""
        if index not in self._edges:
            text = self.text_of(index)
            start, end = max(0, len(text) - _EDGE_CHARACTERS), min(len(text), _EDGE_CHARACTERS)
            top = [one for one in _LINE.finditer(text, 0, end) if one.end() < end or end == len(text)]
            bottom = [one for one in _LINE.finditer(text, start) if one.start() > start or not start]
            self._edges[index] = (
                [_edge(match) for match in top[:_EDGE_LINES]],
                [_edge(match) for match in bottom[: -_EDGE_LINES - 1 : -1]],
            )
        return self._edges[index]

    def _repeats(self, index: int, edge: _Edge) -> bool:
        """Say whether three pages in a row, or every other one, have the line."""
        if edge.letters < 2 and not edge.numbers:
            return False
        have = {near for near in self._near(index, NEAR) if self._holds(near, edge, near - index)}
        starts = ((index - step * back, step) for step in (1, 2) for back in range(_REPEATED))
        return any(have.issuperset(range(start, start + step * _REPEATED, step)) for start, step in starts)

    def _holds(self, index: int, edge: _Edge, distance: int) -> bool:
        top, bottom = self._edges_of(index)
        return any(other.shape == edge.shape and _counts(edge, other, distance) for other in (*top, *bottom))

    def _is_first(self, index: int, edge: _Edge) -> bool:
        """Say whether a title, no page number, stands on no page before."""
        if edge.letters < 4:
            return False
        before = (self._edges_of(near) for near in range(max(0, index - NEAR), index))
        return not any(other.shape == edge.shape for top, bottom in before for other in (*top, *bottom))

    def _is_inside_sentence(self, index: int, side: int) -> bool:
        """Say whether a sentence goes on over the top (`side` 0) or the bottom of a page."""
        above = index - 1 if side == 0 else index
        if not 0 <= above < self.count - 1:
            return False
        last = next((edge for edge in self._edges_of(above)[1] if not self._repeats(above, edge)), None)
        first = next((edge for edge in self._edges_of(above + 1)[0] if not self._repeats(above + 1, edge)), None)
        if last is None or first is None:
            return False
        return not _ENDS.search(last.span.of(self.text_of(above))) and not first.shape[:1].isupper()


def _edge(match: re.Match[str]) -> _Edge:
    line = " ".join(match[0].split())
    shape = _NUMBER.sub("#", line)
    return _Edge(Span(*match.span()), shape, tuple(map(int, _DIGITS.findall(line))), len(_LETTERS.findall(shape)))


def _counts(edge: _Edge, other: _Edge, distance: int) -> bool:
    """Say whether the numbers of two lines are the same or count the pages between them; a bare number must count."""
    pairs = list(zip(edge.numbers, other.numbers, strict=False))
    if not all(there in (here, here + distance) for here, there in pairs):
        return False
    return edge.letters > 1 or any(there == here + distance for here, there in pairs)


def without_lines(text: str, lines: Sequence[Span]) -> Iterator[tuple[int, int, str]]:
    """Yield the edits that take whole lines out of a text."""
    for line in lines:
        end = line.end + (text[line.end : line.end + 1] == "\n")
        yield line.start, end, ""
