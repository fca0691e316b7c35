"""What does `researcher` do? It runs one task's query as it stands, and says how good the evidence is."""

from __future__ import annotations

from typing import TypedDict

from app.agent.context import Deps
from app.agent.search import search
from app.agent.state import AgentUpdate, Json
from app.core.types import Passage, TaskStatus
from app.core.warnings import warned


class TaskInput(TypedDict):
    """What one `Send` carries: the task itself, since it does not see the update of its `Command`."""

    task: Json
    document_ids: list[str] | None
    language: str
    limit: int


async def researcher(payload: TaskInput, deps: Deps) -> AgentUpdate:
    """Search for one task. `done` from the threshold on, else `insufficient_evidence`; `skipped` without budget."""
    task, language = payload["task"], payload["language"]
    deps.recorder.emit("task_started", {"task_id": task["id"], "query": task["query"]})
    try:
        found = await search(deps, "researcher", task["query"], task["id"], payload["document_ids"], payload["limit"])
    except Exception as error:  # noqa: BLE001  # any failure of an engine or a disk is this task's status, never a 500
        ended = {**task, "status": TaskStatus.FAILED.value, "reason": type(error).__name__}
        return _end(deps, ended, [], [warned("worker_degraded", language, f"researcher: {type(error).__name__}")])
    warnings = [] if found.hint is None else [warned("tool_budget_exhausted", language)]
    if found.hint is not None and not found.passages:
        return _end(deps, {**task, "status": TaskStatus.SKIPPED.value, "reason": "budget"}, [], warnings)
    return _end(deps, judged_task(task, found.passages, deps.limits.done_threshold), found.passages, warnings)


def judged_task(task: Json, found: list[Passage], threshold: float) -> Json:
    """Return the task with its status by the best score."""
    best = max((one.scores.rerank or 0.0 for one in found), default=None)
    done = best is not None and best >= threshold
    status = TaskStatus.DONE if done else TaskStatus.INSUFFICIENT
    reason = None if done else ("no_evidence" if best is None else "irrelevant")
    ids = [one.chunk_id for one in found]
    return {**task, "status": status.value, "best": best, "reason": reason, "evidence_ids": ids}


def _end(deps: Deps, task: Json, found: list[Passage], warnings: list[Json]) -> AgentUpdate:
    deps.recorder.emit(
        "task_finished",
        {"task_id": task["id"], "status": task["status"], "found": len(found), "best": task["best"]},
    )
    pool = [{"chunk_id": one.chunk_id, "task_ids": [task["id"]], "score": one.scores.rerank or 0.0} for one in found]
    return {"research_tasks": [task], "pool": pool, "queries": [task["query"]], "warnings": warnings}
