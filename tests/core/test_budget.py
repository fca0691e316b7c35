from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.budget import TOOLS, Limits, Reservations


def test_the_defaults_are_those_that_are_promised() -> None:
    limits = Limits()
    assert (limits.iterations, limits.searches, limits.pages, limits.evidence, limits.llm_calls) == (8, 12, 24, 24, 12)
    assert (limits.planner_tasks, limits.edited_tasks, limits.approval_tasks, limits.approval_calls) == (3, 6, 3, 8)
    assert (limits.done_threshold, limits.writer_threshold) == (0.40, 0.15)
    assert (limits.writer_tokens, limits.writer_items) == (6000, 24)


@pytest.mark.parametrize("name", TOOLS)
def test_one_limit_bites_alone(name: str) -> None:
    budget = Reservations.of(Limits(**{name: 1}))
    assert budget.reserve(name) is None
    hint = budget.reserve(name)
    assert hint is not None
    assert name in hint
    assert all(budget.reserve(other) is None for other in TOOLS if other != name)


def test_what_was_used_before_a_resume_counts() -> None:
    assert Reservations.of(Limits(searches=2), {"searches": 5}).reserve("searches") is not None


def test_sixteen_threads_share_five_searches() -> None:
    budget = Reservations.of(Limits(searches=5))
    with ThreadPoolExecutor(16) as pool:
        hints = list(pool.map(lambda _: budget.reserve("searches"), range(200)))
    assert hints.count(None) == 5


@given(st.lists(st.integers(1, 6), max_size=20), st.integers(0, 20))
def test_never_more_than_the_limit(amounts: list[int], limit: int) -> None:
    budget = Reservations.of(Limits(evidence=limit))
    granted = sum(amount for amount in amounts if budget.reserve("evidence", amount) is None)
    assert granted <= limit
    assert budget.left["evidence"] == limit - granted


@pytest.mark.parametrize("amount", [0, -1])
def test_a_reservation_is_of_something(amount: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Reservations.of(Limits()).reserve("pages", amount)
