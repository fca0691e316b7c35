"""Other ways to cut a text, to be compared with the program's own: fixed windows, recursive splits, semantic breaks.

- `fixed`: windows of the target size, cut at white space, whatever they cut through.
- `recursive`: at blank lines, then lines, then sentence ends, then spaces, until a piece is small enough; small pieces
  are joined again (the splitter that most frameworks have as their default). Headings are text like any other.
- `semantic`: where the two sentences before lie far from the two after: beyond the 85th percentile of the document's
  own distances (blocks as in TextTiling, Hearst 1997, over embeddings, with Kamradt's percentile).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from ingest.chunk import Cut, size, structure
from ingest.embed.port import Embedder, Vectors
from ingest.types import ReadResult, Span

SEPARATORS = (r"\n\s*\n", r"\n", r"(?<=[.!?])\s+|(?<=[。！？；])", r"\s+")
SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")
PERCENTILE = 85
AROUND = 2
"""Sentences on each side that are compared."""
LEAST = 1 / 3
"""Of the target: a semantic break does not make a smaller chunk."""


def cutter(name: str, embedder: Embedder) -> Cut:
    """Return the way to cut that has this name: `structure` (the program's), `fixed`, `recursive` or `semantic`."""
    ways: dict[str, Callable[[], Cut]] = {
        "structure": lambda: structure, "fixed": lambda: fixed, "recursive": lambda: recursive,
        "semantic": lambda: Semantic(embedder),
    }  # fmt: skip
    return ways[name]()


def fixed(read: ReadResult, target: int) -> Iterator[Span]:
    """Yield windows of about `target` tokens."""
    yield from _windows(read.text, Span(0, len(read.text)), target)


def recursive(read: ReadResult, target: int) -> Iterator[Span]:
    """Yield pieces split at the coarsest separator that makes them small enough, small neighbours joined."""
    yield from _joined(read.text, _split(read.text, Span(0, len(read.text)), target, 0), target)


class Semantic:
    """Cuts between sentences that are far apart in meaning."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def __call__(self, read: ReadResult, target: int) -> Iterator[Span]:
        """Yield runs of sentences; a run ends at a break in meaning, or where it would be larger than the target."""
        sentences = list(_at(read.text, Span(0, len(read.text)), SENTENCE))
        breaks = self._breaks([one.of(read.text) for one in sentences])
        start: int | None = None
        for number, one in enumerate(sentences):
            start = one.start if start is None else start
            following = sentences[number + 1] if number + 1 < len(sentences) else None
            held = size(read.text[start : one.end])
            full = following is None or size(read.text[start : following.end]) > target
            if full or (number in breaks and held >= LEAST * target):
                yield from _windows(read.text, Span(start, one.end), int(target * 1.5))
                start = None

    def _breaks(self, sentences: Sequence[str]) -> set[int]:
        """Return after which sentences the meaning breaks."""
        if len(sentences) < 3:
            return set()
        vectors = self._embedder.embed_passages(sentences)
        distances = np.array([_distance(vectors, number) for number in range(len(sentences) - 1)])
        limit = np.percentile(distances, PERCENTILE)
        around = np.pad(distances, 1)
        peak = (distances >= around[:-2]) & (distances >= around[2:])
        return {int(number) for number in np.nonzero(peak & (distances >= limit))[0]}


def _distance(vectors: Vectors, number: int) -> float:
    """Return how far the sentences up to `number` lie from those after it, as 1 - cosine of their sums."""
    left = vectors[max(0, number - AROUND + 1) : number + 1].sum(axis=0)
    right = vectors[number + 1 : number + 1 + AROUND].sum(axis=0)
    return float(1.0 - left @ right / (np.linalg.norm(left) * np.linalg.norm(right) + 1e-9))


def _windows(text: str, span: Span, target: int) -> Iterator[Span]:
    start = span.start
    while start < span.end:
        stop, weight = start, 0.0
        while stop < span.end and weight < target:
            weight += size(text[stop])
            stop += 1
        if stop < span.end:
            space = max(text.rfind(" ", start + 1, stop), text.rfind("\n", start + 1, stop))
            stop = space + 1 if space > start else stop
        yield from _trimmed(text, start, stop)
        start = stop


def _split(text: str, span: Span, target: int, level: int) -> Iterator[Span]:
    if size(span.of(text)) <= target:
        yield from _trimmed(text, span.start, span.end)
    elif level == len(SEPARATORS):
        yield from _windows(text, span, target)
    else:
        for piece in _at(text, span, re.compile(SEPARATORS[level])):
            yield from _split(text, piece, target, level + 1)


def _joined(text: str, pieces: Iterable[Span], target: int) -> Iterator[Span]:
    held: Span | None = None
    for piece in pieces:
        joined = piece if held is None else Span(held.start, piece.end)
        if held is not None and size(joined.of(text)) > target:
            yield held
            joined = piece
        held = joined
    if held is not None:
        yield held


def _at(text: str, span: Span, separator: re.Pattern[str]) -> Iterator[Span]:
    start = span.start
    for match in separator.finditer(text, span.start, span.end):
        yield from _trimmed(text, start, match.end())
        start = match.end()
    yield from _trimmed(text, start, span.end)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    piece = text[start:end]
    if piece.strip():
        yield Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))
