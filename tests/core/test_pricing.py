from __future__ import annotations

import pytest

from app.core.budget import Limits
from app.core.policy import needs_approval
from app.core.pricing import estimate


@pytest.mark.parametrize(
    ("tasks", "researcher", "judge", "calls"),
    [(1, "parallel", 0, 1), (3, "parallel", 0, 1), (2, "react", 0, 9), (1, "react", 2, 7)],
)
def test_calls_are_tasks_and_the_writer_and_the_judge(tasks: int, researcher: str, judge: int, calls: int) -> None:
    price = estimate(tasks, researcher=researcher, judge_calls=judge)  # type: ignore[arg-type]
    assert price["llm_calls"]["expected"] == calls


def test_two_tasks_of_turn_by_turn_search_wait_for_a_person() -> None:
    assert needs_approval(2, estimate(2, researcher="react")["llm_calls"]["expected"], Limits()) == ("llm_calls>8",)
    assert needs_approval(2, estimate(2)["llm_calls"]["expected"], Limits()) == ()


def test_low_expected_high_are_in_order() -> None:
    price = estimate(3, researcher="react", seconds_per_call=2.0, prices=(0.5, 1.5))
    assert set(price) == {"llm_calls", "tokens_in", "tokens_out", "seconds", "cost"}
    assert all(0 < one["low"] <= one["expected"] <= one["high"] for one in price.values())
    assert price["seconds"]["expected"] == 26.0


def test_without_a_model_it_costs_nothing() -> None:
    price = estimate(3, uses_model=False, prices=(1, 1))
    assert all(value == 0 for one in price.values() for value in one.values())
