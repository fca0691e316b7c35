"""Which passages does the writer see? The best above a low threshold, within a budget of tokens and items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.types import Passage
from ingest.chunk import size


@dataclass(frozen=True, slots=True)
class Selection:
    """What was kept, best first, and for each dropped passage why: `threshold`, `items` or `tokens`."""

    kept: tuple[Passage, ...]
    dropped: tuple[tuple[Passage, str], ...]


def select(ranked: Sequence[Passage], threshold: float, max_items: int, max_tokens: int) -> Selection:
    """Choose from passages that are ranked best first."""
    kept: list[Passage] = []
    dropped: list[tuple[Passage, str]] = []
    spent = 0.0
    for passage in ranked:
        cost = size(passage.text)
        if (passage.scores.rerank or 0.0) < threshold:
            dropped.append((passage, "threshold"))
        elif len(kept) >= max_items:
            dropped.append((passage, "items"))
        elif spent + cost > max_tokens:
            dropped.append((passage, "tokens"))
        else:
            kept.append(passage)
            spent += cost
    return Selection(tuple(kept), tuple(dropped))
