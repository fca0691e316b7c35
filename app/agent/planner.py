"""What does `planner` do? It splits the question into at most three tasks, and prices them."""

from __future__ import annotations

from dataclasses import asdict

from app.agent.context import Deps, count_failed, count_llm
from app.agent.state import AgentState, AgentUpdate, Json
from app.core.planparse import parse_plan
from app.core.policy import needs_approval
from app.core.pricing import estimate
from app.core.types import Task, TaskStatus
from app.core.warnings import warned
from app.errors import ModelError
from app.ports import Completion

OTHER_QUERIES = 2
"""Tasks of a second try, after a search that found nothing."""


async def planner(state: AgentState, deps: Deps) -> AgentUpdate:
    """Make the plan; a reply that cannot be read is one task, the question, with a warning."""
    question, language = state["question"], state["language"]
    retry = bool(state.get("direct", {}).get("no_evidence")) or bool(state.get("outcome", {}).get("no_evidence"))
    limit = OTHER_QUERIES if retry else deps.limits.planner_tasks
    avoid = state.get("queries", []) if retry else []
    warnings: list[Json] = []
    try:
        reply = await deps.roles.plan(question, limit, avoid)
    except ModelError as error:
        warnings.append(warned("worker_degraded", language, f"planner: {error}"))
        count_failed(deps, "planner", error)
        reply = Completion("", calls=0)
    count_llm(deps, "planner", reply)
    parsed = parse_plan(reply.text, question, limit)
    if parsed.how == "fallback":
        warnings.append(warned("planner_parse_failed", language))
    if parsed.dropped:
        warnings.append(warned("plan_truncated", language))
    tasks = [task for task in parsed.tasks if task.query not in avoid]
    return {**plan_update(state, deps, tasks, 1), "warnings": warnings}


def plan_update(state: AgentState, deps: Deps, tasks: list[Task], version: int) -> AgentUpdate:
    """Write the plan down: whether it needs a person is decided here, once, and stored."""
    price = estimate(len(tasks), uses_model=deps.roles.uses_model)
    pending = sum(task.status is TaskStatus.PENDING for task in tasks)
    reasons = needs_approval(pending, price["llm_calls"]["expected"], deps.limits)
    wanted = {"auto": bool(reasons), "always": True, "never": False}[state["approval"]]
    rows = [task_json(task) for task in tasks]
    plan: Json = {
        "plan_version": version, "estimate": price, "reasons": list(reasons),
        "needs_approval": wanted and state["checkpointed"] and bool(tasks), "approved": False,
    }  # fmt: skip
    deps.recorder.save_plan({**plan, "tasks": rows})
    deps.recorder.emit("plan", {"tasks": rows, "plan_version": version, "estimate": price})
    return {
        "research_tasks": [{"replace": True}, *rows],
        "plan": plan,
        "outcome": {"role": "planner", "refused": not tasks, "tasks": len(tasks)},
    }


def task_json(task: Task) -> Json:
    """Return a task as state keeps it."""
    return {
        **asdict(task), "status": task.status.value,
        "evidence_ids": list(task.evidence_ids), "depends_on": list(task.depends_on),
    }  # fmt: skip
