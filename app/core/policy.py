"""What comes next in a run? One pure function with a strict order of rules; the model is asked last.

1 an end was reached; 2 `direct` failed, so plan; 3 research failed too, so fall back; 4 a costly plan waits for a
person; 5 tasks, then the writer; 6 words of the question; 7 the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.core.budget import Limits
from app.core.types import TaskStatus

Action = Literal[
    "end", "direct", "planner", "researcher", "writer", "interrupt", "ask_model", "refuse", "return_fallback"
]
OPEN = (TaskStatus.PENDING, TaskStatus.RUNNING)


@dataclass(frozen=True, slots=True)
class DecisionState:
    """What the rules look at. The outcome fields are of the last worker; `fallback_*` of what `direct` left."""

    iterations: int = 0
    has_final: bool = False
    last_role: str | None = None
    refused: bool = False
    removed_claims: bool = False
    no_evidence: bool = False
    gave_up: bool = False
    cited: bool = False
    fallback_present: bool = False
    fallback_cited: bool = False
    plan_present: bool = False
    plan_needs_approval: bool = False
    plan_approved: bool = False
    task_statuses: tuple[TaskStatus, ...] = ()
    evidence_count: int = 0
    mode: str = "auto"
    heuristic: str | None = None
    heuristic_reason: str | None = None
    model_route: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do, the rule's number and a short reason; a warning code where one is due.

    `planner_hint` is `other_queries` where the planner must look for what was not searched for yet.
    """

    action: Action
    reason: str
    rule: int
    warning: str | None = None
    planner_hint: Literal["other_queries"] | None = None


def decide(state: DecisionState, limits: Limits) -> Decision:
    """Apply the rules in order."""
    for rule in (_ended, _escalate, _fall_back, _approval, _work, _opening, _model):
        decision = rule(state, limits)
        if decision is not None:
            return decision
    return Decision("refuse", "nothing_applies", 7)


def needs_approval(pending: int, calls: float, limits: Limits) -> tuple[str, ...]:
    """Return why a plan needs a person: its tasks, its price, or neither (empty)."""
    reasons = []
    if pending >= limits.approval_tasks:
        reasons.append(f"tasks>={limits.approval_tasks}")
    if calls > limits.approval_calls:
        reasons.append(f"llm_calls>{limits.approval_calls}")
    return tuple(reasons)


def fallback_route(state: DecisionState) -> Decision:
    """Return the safe route after a routing reply that cannot be read, by what is there already."""
    if any(status in OPEN for status in state.task_statuses):
        return Decision("researcher", "route_fallback", 7)
    if state.evidence_count and state.plan_present:
        return Decision("writer", "route_fallback", 7)
    return Decision("direct", "route_fallback", 7)


def _ended(state: DecisionState, limits: Limits) -> Decision | None:
    if state.has_final:
        return Decision("end", "final_answer", 1)
    if state.iterations >= limits.iterations:
        action: Action = "return_fallback" if state.fallback_cited else "refuse"
        return Decision(action, "iteration_cap", 1, "iteration_cap")
    return None


def _escalate(state: DecisionState, limits: Limits) -> Decision | None:
    if state.last_role != "direct":
        return None
    if state.mode == "direct":
        return Decision("return_fallback" if state.cited else "refuse", "direct_only", 2)
    if not (state.refused or state.removed_claims):
        return None
    if state.no_evidence:
        return Decision("planner", "no_evidence", 2, planner_hint="other_queries")
    return Decision("planner", "gave_up" if state.refused else "claims_removed", 2)


def _fall_back(state: DecisionState, limits: Limits) -> Decision | None:
    planned = state.last_role == "writer" or (state.last_role == "planner" and not state.task_statuses)
    if not (planned and state.refused):
        return None
    if state.fallback_cited:
        return Decision("return_fallback", "research_refused", 3, "fallback_to_direct")
    reason = "no_other_queries" if state.last_role == "planner" else "research_refused"
    return Decision("refuse", reason, 3)


def _approval(state: DecisionState, limits: Limits) -> Decision | None:
    if state.plan_present and state.plan_needs_approval and not state.plan_approved:
        return Decision("interrupt", "approval_required", 4)
    return None


def _work(state: DecisionState, limits: Limits) -> Decision | None:
    if not state.plan_present or not state.task_statuses:
        return None
    if any(status in OPEN for status in state.task_statuses):
        return Decision("researcher", "tasks_open", 5)
    if _answerable(state):
        return Decision("writer", "tasks_ended", 5)
    if state.fallback_cited:
        return Decision("return_fallback", "no_evidence_found", 5, "fallback_to_direct")
    return Decision("refuse", "no_evidence_found", 5)


def _answerable(state: DecisionState) -> bool:
    """Say whether the writer has something to write from.

    A task that ended `done`, that is: evidence below its threshold is shown as the nearest, but not written from.
    """
    done = any(status is TaskStatus.DONE for status in state.task_statuses)
    return state.evidence_count > 0 and done


def _opening(state: DecisionState, limits: Limits) -> Decision | None:
    if state.last_role is not None:
        return None
    if state.mode == "direct":
        return Decision("direct", "asked_for", 6)
    if state.mode == "research":
        return Decision("planner", "asked_for", 6)
    if state.heuristic in ("direct", "planner"):
        action: Action = "direct" if state.heuristic == "direct" else "planner"
        return Decision(action, state.heuristic_reason or "heuristic", 6)
    return None


def _model(state: DecisionState, limits: Limits) -> Decision | None:
    if state.model_route is None:
        return Decision("ask_model", "undecided", 7)
    if state.model_route == "finish":
        return Decision("return_fallback" if state.fallback_cited else "refuse", "model_finish", 7)
    allowed: dict[str, Action] = {"direct": "direct", "planner": "planner"}
    if state.plan_present and state.evidence_count:
        allowed["writer"] = "writer"
    if any(status in OPEN for status in state.task_statuses):
        allowed["researcher"] = "researcher"
    action = allowed.get(state.model_route)
    return Decision(action, "model", 7) if action is not None else fallback_route(state)
