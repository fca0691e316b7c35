"""How does a worker search? Reserved before, traced after, off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from app.agent.context import Deps
from app.core.types import Passage

PER_SEARCH = 10


async def search(
    deps: Deps, role: str, query: str, task_id: str | None, document_ids: Sequence[str] | None
) -> list[Passage] | None:
    """Return the reranked passages for a query, best first, and keep them with the run; None if the budget is spent."""
    granted = deps.reservations.reserve("searches")
    if granted is not None:
        deps.recorder.trace(
            "tool", {"tool": "search", "role": role, "query": query, "task_id": task_id, "hint": granted}
        )
        return None
    async with deps.researchers:
        result = await asyncio.to_thread(deps.retriever.search, query, PER_SEARCH, document_ids)
    passages = result.passages
    kept = (
        [passage for passage in passages if deps.reservations.reserve("evidence") is None]
        if role == "researcher"
        else passages
    )
    deps.recorder.add_passages(kept)
    deps.recorder.trace(
        "tool",
        {
            "tool": "search", "role": role, "query": query, "task_id": task_id, "found": len(kept),
            "best": kept[0].scores.rerank if kept else None, "timings": dict(result.timings),
        },
    )  # fmt: skip
    return kept
