"""How does a worker search? Reserved before, traced after, off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from app.agent.context import Deps
from app.core.budget import Limits
from app.core.types import Passage

PER_SEARCH = 10


@dataclass(frozen=True, slots=True)
class Found:
    """The passages of a search; `hint` is what a budget said that kept some of them, or the search, back."""

    passages: list[Passage]
    hint: str | None = None
    searched: bool = True


def share(tasks: int, limits: Limits) -> int:
    """Return how many passages each of so many tasks may read, so that none of a plan spends all of the budget."""
    return min(PER_SEARCH, max(1, limits.evidence // max(1, tasks)))


async def search(
    deps: Deps, role: str, query: str, task_id: str | None, document_ids: Sequence[str] | None, limit: int = PER_SEARCH
) -> Found:
    """Return at most `limit` reranked passages for a query, best first, and keep them with the run."""
    asked = {"tool": "search", "role": role, "query": query, "task_id": task_id}
    refused = deps.reservations.reserve("searches")
    if refused is not None:
        deps.recorder.trace("tool", {**asked, "hint": refused})
        return Found([], refused, searched=False)
    async with deps.researchers:
        result = await asyncio.to_thread(deps.retriever.search, query, limit, document_ids)
    kept, read, hint = _granted(deps, result.passages) if role == "researcher" else (result.passages, 0, None)
    deps.recorder.add_passages(kept)
    deps.recorder.trace(
        "tool",
        {
            **asked, "found": len(kept), "read": read, "cut": hint,
            "best": kept[0].scores.rerank if kept else None, "timings": dict(result.timings),
        },
    )  # fmt: skip
    return Found(kept, hint)


def _granted(deps: Deps, passages: Sequence[Passage]) -> tuple[list[Passage], int, str | None]:
    """Reserve one page and one item of evidence a passage; return what was granted, how many pages, and the hint."""
    for number in range(len(passages)):
        hint = deps.reservations.reserve("pages")
        if hint is not None:
            return list(passages[:number]), number, hint
        hint = deps.reservations.reserve("evidence")
        if hint is not None:
            return list(passages[:number]), number + 1, hint
    return list(passages), len(passages), None
