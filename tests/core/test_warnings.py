from __future__ import annotations

import pytest

from app.core.warnings import WARNINGS, warned
from app.errors import CitedragError, Conflict, InvalidPlan, ModelError, NotConfigured, RunNotFound

PROMISED = [
    "plan_rejected", "answer_incomplete", "claims_removed", "planner_parse_failed", "route_parse_failed",
    "llm_budget_exceeded", "tool_budget_exhausted", "iteration_cap", "worker_degraded", "fallback_to_direct",
    "plan_truncated", "insufficient_evidence", "conflicting_evidence", "injection_suspected", "answer_truncated",
]  # fmt: skip


def test_every_promised_warning_is_there() -> None:
    assert set(PROMISED) <= set(WARNINGS)


@pytest.mark.parametrize("code", WARNINGS)
def test_a_warning_speaks_both_languages(code: str) -> None:
    english, chinese = warned(code, "en")["message"], warned(code, "zh")["message"]
    assert english.isascii()
    assert any("\u4e00" <= ch <= "\u9fff" for ch in chinese)
    assert warned(code, "en", "why") == {"code": code, "message": f"{english} (why)"}


def test_an_unknown_code_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        warned("no_such_code", "en")


def test_errors_carry_what_their_handlers_need() -> None:
    plan = InvalidPlan(2, "`query` is empty.")
    assert (str(plan), plan.index, plan.message) == ("task 2: `query` is empty.", 2, "`query` is empty.")
    conflict = Conflict("already_decided", "Look at the run.", {"action": "approve"})
    assert (conflict.code, conflict.stored) == ("already_decided", {"action": "approve"})
    assert (ModelError("x").retryable, ModelError("x", retryable=True, kind="timeout").kind) == (False, "timeout")
    assert all(
        issubclass(one, CitedragError) for one in (Conflict, InvalidPlan, ModelError, NotConfigured, RunNotFound)
    )
