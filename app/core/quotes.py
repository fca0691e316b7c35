"""Which words of a passage carry a claim? The shortest run of whole sentences, at its place in the document."""

from __future__ import annotations

from collections.abc import Sequence

from app.core.sentences import is_table_row, sentences
from app.core.support import lexical_support
from app.core.types import Passage, Quote

PAIR_GAIN = 0.12
"""A second sentence is quoted only if it adds this much support."""
TABLE_CHARS = 600
"""A row is quoted with the rows above it, its header first, up to so many characters."""


def candidates(passage: Passage) -> list[Quote]:
    """Return the sentences of a passage as quotations, in the document's coordinates; `support` is 0."""
    return [
        Quote(passage.text[start:end], passage.start + start, passage.start + end, 0.0)
        for start, end in sentences(passage.text, {*passage.headings, passage.document.title})
    ]


def best_quote(claim: str, passage: Passage, scores: Sequence[float]) -> Quote | None:
    """Return the quotation for a claim. `scores` rank `candidates(passage)`, one each; None without candidates."""
    spans = candidates(passage)
    if not spans:
        return None
    best = max(range(len(spans)), key=lambda index: (scores[index], -index))
    single = spans[best]
    alone = lexical_support(claim, single.text)
    options = [(alone, single)]
    for first, last in _runs(spans, best):
        run = _join(passage, spans[first], spans[last])
        gain = lexical_support(claim, run.text)
        if gain >= alone + PAIR_GAIN:
            options.append((gain, run))
    support, quote = max(options, key=lambda option: (option[0], -len(option[1].text)))
    return Quote(quote.text, quote.start, quote.end, support)


def verify(quote: str, start: int, end: int, text: str) -> bool:
    """Say whether the quotation stands in the document's text at exactly this place."""
    return 0 <= start < end <= len(text) and text[start:end] == quote


def _runs(spans: Sequence[Quote], best: int) -> list[tuple[int, int]]:
    runs = []
    if best + 1 < len(spans):
        runs.append((best, best + 1))
    if best > 0:
        runs.append((best - 1, best))
    if is_table_row(spans[best].text):
        first = best
        while first > 0 and is_table_row(spans[first - 1].text):
            first -= 1
        if first < best - 1 and spans[best].end - spans[first].start <= TABLE_CHARS:
            runs.append((first, best))
    return runs


def _join(passage: Passage, first: Quote, last: Quote) -> Quote:
    start, end = first.start - passage.start, last.end - passage.start
    return Quote(passage.text[start:end], first.start, last.end, 0.0)
