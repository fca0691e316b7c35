from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.budget import Limits
from app.core.policy import Decision, DecisionState, decide, fallback_route, needs_approval
from app.core.types import TaskStatus

LIMITS = Limits()
OPENING = DecisionState(heuristic="direct", heuristic_reason="single_question")
REFUSED = DecisionState(iterations=1, last_role="direct", refused=True, fallback_present=True)
PENDING, DONE, POOR, FAILED, SKIPPED = (
    TaskStatus.PENDING, TaskStatus.DONE, TaskStatus.INSUFFICIENT, TaskStatus.FAILED, TaskStatus.SKIPPED
)  # fmt: skip
PLANNED = DecisionState(iterations=2, last_role="planner", plan_present=True, task_statuses=(PENDING, PENDING))
WROTE = DecisionState(
    iterations=4, last_role="writer", refused=True, plan_present=True, task_statuses=(DONE,), evidence_count=3
)


@pytest.mark.parametrize(
    ("state", "action", "reason", "rule", "warning"),
    [
        pytest.param(replace(OPENING, has_final=True), "end", "final_answer", 1, None, id="1 a final answer ends"),
        pytest.param(replace(PLANNED, iterations=8), "refuse", "iteration_cap", 1, "iteration_cap", id="1 cap (K26)"),
        pytest.param(
            replace(PLANNED, iterations=8, fallback_cited=True),
            "return_fallback", "iteration_cap", 1, "iteration_cap", id="1 cap with a cited fallback (K26)",
        ),
        pytest.param(replace(PLANNED, iterations=7), "researcher", "tasks_open", 5, None, id="1 below the cap (A5)"),
        pytest.param(
            DecisionState(iterations=1, last_role="direct", mode="direct"),
            "refuse", "direct_only", 2, None, id="2 direct left nothing, and the model is not asked",
        ),
        pytest.param(REFUSED, "planner", "gave_up", 2, None, id="2 direct refused (C2)"),
        pytest.param(replace(REFUSED, gave_up=True, cited=True), "planner", "gave_up", 2, None, id="2 gave up (C13)"),
        pytest.param(
            replace(REFUSED, refused=False, removed_claims=True), "planner", "claims_removed", 2, None, id="2 removed"
        ),
        pytest.param(replace(REFUSED, no_evidence=True), "planner", "no_evidence", 2, None, id="2 no evidence (C13)"),
        pytest.param(replace(REFUSED, mode="direct"), "refuse", "direct_only", 2, None, id="2 direct never escalates"),
        pytest.param(
            replace(REFUSED, mode="direct", cited=True, removed_claims=True),
            "return_fallback", "direct_only", 2, None, id="2 direct keeps what is cited",
        ),
        pytest.param(
            replace(WROTE, fallback_cited=True),
            "return_fallback", "research_refused", 3, "fallback_to_direct", id="3 fallback is cited (C3)",
        ),
        pytest.param(
            replace(WROTE, fallback_present=True), "refuse", "research_refused", 3, None, id="3 not cited (C4)"
        ),
        pytest.param(
            replace(REFUSED, last_role="planner", no_evidence=True, plan_present=True),
            "refuse", "no_other_queries", 3, None, id="3 no other query: no research",
        ),
        pytest.param(
            replace(PLANNED, plan_needs_approval=True), "interrupt", "approval_required", 4, None, id="4 waits"
        ),
        pytest.param(
            replace(PLANNED, plan_needs_approval=True, plan_approved=True),
            "researcher", "tasks_open", 5, None, id="4 approved goes on",
        ),
        pytest.param(PLANNED, "researcher", "tasks_open", 5, None, id="5 tasks open (C5)"),
        pytest.param(
            replace(PLANNED, last_role="researcher", task_statuses=(DONE, POOR), evidence_count=2),
            "writer", "tasks_ended", 5, None, id="5 ended with evidence (C5)",
        ),
        pytest.param(
            replace(PLANNED, last_role="researcher", task_statuses=(POOR, FAILED, SKIPPED)),
            "refuse", "no_evidence_found", 5, None, id="5 ended without (C5)",
        ),
        pytest.param(
            replace(PLANNED, last_role="researcher", task_statuses=(POOR,), fallback_cited=True),
            "return_fallback", "no_evidence_found", 5, "fallback_to_direct", id="5 ended without, but a fallback",
        ),
        pytest.param(OPENING, "direct", "single_question", 6, None, id="6 words of the question"),
        pytest.param(replace(OPENING, mode="research"), "planner", "asked_for", 6, None, id="6 mode research"),
        pytest.param(replace(OPENING, mode="direct"), "direct", "asked_for", 6, None, id="6 mode direct"),
        pytest.param(DecisionState(), "ask_model", "undecided", 7, None, id="7 the model last (C1)"),
        pytest.param(DecisionState(model_route="planner"), "planner", "model", 7, None, id="7 its route"),
        pytest.param(DecisionState(model_route="finish"), "refuse", "model_finish", 7, None, id="7 finish ends (A5)"),
        pytest.param(DecisionState(model_route="writer"), "direct", "route_fallback", 7, None, id="7 nothing to write"),
        pytest.param(DecisionState(model_route="researcher"), "direct", "route_fallback", 7, None, id="7 no task"),
    ],
)  # fmt: skip
def test_the_rules(state: DecisionState, action: str, reason: str, rule: int, warning: str | None) -> None:
    decision = decide(state, LIMITS)
    assert (decision.action, decision.reason, decision.rule, decision.warning) == (action, reason, rule, warning)


def test_only_a_search_without_results_asks_for_other_queries() -> None:
    assert decide(replace(REFUSED, no_evidence=True), LIMITS).planner_hint == "other_queries"
    assert decide(REFUSED, LIMITS).planner_hint is None


@pytest.mark.parametrize(
    ("state", "action"),
    [
        (DecisionState(), "direct"),
        (PLANNED, "researcher"),
        (replace(PLANNED, task_statuses=(DONE,), evidence_count=1), "writer"),
    ],
)
def test_a_bad_route_falls_back_by_what_is_there(state: DecisionState, action: str) -> None:
    assert fallback_route(state).action == action


@pytest.mark.parametrize(
    ("pending", "calls", "expected"),
    [(2, 8, ()), (2, 9, ("llm_calls>8",)), (3, 1, ("tasks>=3",)), (3, 13, ("tasks>=3", "llm_calls>8"))],
)
def test_what_needs_a_person(pending: int, calls: float, expected: tuple[str, ...]) -> None:
    assert needs_approval(pending, calls, LIMITS) == expected


OUTCOMES = st.fixed_dictionaries(
    {name: st.booleans() for name in ("refused", "removed_claims", "no_evidence", "gave_up", "cited", "has_final")}
)
STEPS = st.lists(
    st.tuples(
        OUTCOMES, st.lists(st.sampled_from(TaskStatus), max_size=3), st.integers(0, 5), st.booleans(), st.booleans()
    ),
    min_size=12, max_size=12,
)  # fmt: skip
Step = tuple[dict[str, bool], list[TaskStatus], int, bool, bool]


def after(state: DecisionState, decision: Decision, step: Step) -> DecisionState:
    """Play a worker that does as it likes."""
    outcome, statuses, evidence, wants, _ = step
    state = replace(state, iterations=state.iterations + 1, last_role=decision.action, model_route=None, **outcome)
    if decision.action == "direct":
        return replace(state, fallback_present=True, fallback_cited=outcome["cited"])
    if decision.action == "planner":
        return replace(
            state, plan_present=True, plan_needs_approval=wants, plan_approved=False, task_statuses=tuple(statuses)
        )
    if decision.action == "researcher":
        return replace(state, task_statuses=tuple(statuses), evidence_count=evidence)
    return state


@given(
    st.sampled_from(["auto", "direct", "research"]),
    st.sampled_from([None, "direct", "planner"]),
    st.sampled_from(["direct", "planner", "researcher", "writer", "finish"]),
    STEPS,
)
def test_every_run_ends_in_time_and_no_plan_is_researched_unapproved(
    mode: str, heuristic: str | None, route: str, steps: list[Step]
) -> None:
    state = DecisionState(mode=mode, heuristic=heuristic)
    dispatched: list[str] = []
    for step in steps * 4:
        decision = decide(state, LIMITS)
        if decision.action == "ask_model":
            decision = decide(replace(state, model_route=route), LIMITS)
        if decision.action in ("end", "refuse", "return_fallback"):
            break
        if decision.action == "interrupt":
            state = replace(state, plan_approved=step[4])
            if not step[4]:
                break
            continue
        if decision.action == "researcher":
            assert state.plan_approved or not state.plan_needs_approval
        dispatched.append(decision.action)
        state = after(state, decision, step)
    else:
        pytest.fail("the run did not end")
    assert len(dispatched) <= LIMITS.iterations
    if mode == "direct":
        assert set(dispatched) <= {"direct"}
    if mode == "research":
        assert dispatched[:1] == ["planner"]
    if decision.action == "return_fallback":
        assert state.fallback_cited or state.cited
