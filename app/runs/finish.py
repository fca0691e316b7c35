"""How is a result put together from what is kept of a run and the state it ended in?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.core.budget import Limits
from app.core.warnings import warned
from app.runs import result as parts
from app.runs.store import RunView

Json = dict[str, Any]


def build_result(view: RunView, state: Json, limits: Limits, refusals: Mapping[str, str]) -> Json:
    """Return the result; it is a refusal if nothing was committed, whatever the state says."""
    answer, claims = parts.claims_json(view.claims)
    refused = not any(claim["citations"] for claim in claims)
    ended = state.get("final") is not None
    if refused and ended:
        answer, claims = parts.refusal(state, refusals), []
    citations = [] if refused else [
        parts.citation_json(view.run_id, number, view.passages[chunk_id], view.claims)
        for number, chunk_id in enumerate(view.evidence, 1)
    ]  # fmt: skip
    usage = parts.usage_json(view.traces, state, _limits(limits), view.seconds)
    plan = state.get("plan", {})
    gaps = parts.gaps_json(state, view.passages, refused, limits.done_threshold) if ended else []
    return {
        "run_id": view.run_id,
        "question": view.question,
        "status": "refused" if refused else "completed",
        "answer": answer,
        "claims": claims,
        "citations": citations,
        "evidence": [] if refused else parts.evidence_json(view.run_id, view.evidence, view.passages, state),
        "refused": refused and ended,
        "gaps": gaps,
        "warnings": _warnings(state, usage),
        "research_tasks": state.get("research_tasks", []),
        "plan_version": plan.get("plan_version"),
        "plan_approved": bool(plan.get("approved")),
        "delegation_path": state.get("delegation_path", []),
        "iterations": state.get("iterations", 0),
        "tool_trace": [one for one in view.traces if one["kind"] == "tool"],
        "usage": usage,
        "estimate": plan.get("estimate"),
        "conflicts": [],
        "traces": _traces(view),
        "fingerprint": view.fingerprint,
    }


def _warnings(state: Json, usage: Json) -> list[Json]:
    """Return the run's warnings; more model calls than the soft limit allows are one of them."""
    calls = usage["budgets"]["llm_calls"]
    over = [warned("llm_budget_exceeded", state["language"])] if calls["used"] > calls["limit"] else []
    return [*state.get("warnings", []), *over]


def _limits(limits: Limits) -> dict[str, int]:
    return {
        "iterations": limits.iterations, "searches": limits.searches, "pages": limits.pages,
        "evidence": limits.evidence, "llm_calls": limits.llm_calls,
    }  # fmt: skip


def _traces(view: RunView) -> list[Json]:
    """Return the three runtime traces that every run ends with."""
    resumes = [one for one in view.traces if one["kind"] == "checkpoint_resume"]
    nodes = [one for one in view.traces if one["kind"] == "node"]
    return [
        {
            "kind": "checkpoint_resume",
            "times": len(resumes),
            "checkpoints": [one["checkpoint"] for one in resumes],
        },
        {"kind": "llm_usage", "calls": [one for one in view.traces if one["kind"] == "llm"]},
        {
            "kind": "node_timings",
            "nodes": [{"node": one["node"], "seconds": one["seconds"]} for one in nodes],
        },
    ]
