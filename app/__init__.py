"""How a question becomes a cited answer.

`core` decides, `agent` does, `runs` keeps; `cli`, `api` and the page are thin over `runs.service`.
"""

from __future__ import annotations

import os
from typing import Any

os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")  # read when langgraph is imported, so it stands here


async def answer(question: str, run_id: str | None = None) -> dict[str, Any]:
    """Answer a question from the corpus in `CITEDRAG_HOME` and return the run's result.

    Without `run_id` nothing is kept and nothing waits; with one, a UUID of the caller's, the run is checkpointed and
    a costly plan comes back with status `awaiting_approval`. Raises what `app.wiring.open_services` raises.
    """
    from app.runs.requests import RunRequest
    from app.settings import Settings
    from app.wiring import close_services, open_services

    services = await open_services(Settings())
    try:
        request = RunRequest(question=question)
        if run_id is None:
            return await services.runs.answer(request)
        created = await services.runs.create(request, run_id)
        async for _ in services.runs.events(created["run_id"]):
            pass
        return services.runs.get(created["run_id"])
    finally:
        await close_services(services)
