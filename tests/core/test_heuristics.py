from __future__ import annotations

import pytest

from app.core.heuristics import opening_route


@pytest.mark.parametrize(
    ("question", "role", "reason"),
    [
        ("When was the clock built?", "direct", "single_question"),
        ("钟是什么时候建的？", "direct", "single_question"),
        ("What is research and development?", "direct", "single_question"),
        ("Which settings and flags does it take?", "direct", "single_question"),
        ("Compare the Orion and the Vega.", "planner", "comparison"),
        ("What is the difference between the two?", "planner", "comparison"),
        ("Orion vs. Vega: which is heavier?", "planner", "comparison"),
        ("Which is heavier, the Orion or the Vega?", "planner", "comparison"),
        ("比较两种方案。", "planner", "comparison"),
        ("两者有什么区别？", "planner", "comparison"),
        ("When was it built? Who built it?", "planner", "several_questions"),
        ("什么时候建的？谁建的？", "planner", "several_questions"),
        ("When was it built, and what did it cost?", "planner", "conjunction"),
        ("年假有多少天，以及病假怎么申请？", "planner", "conjunction"),
    ],
)
def test_the_words_choose(question: str, role: str, reason: str) -> None:
    route = opening_route(question)
    assert route is not None
    assert (route.role, route.reason) == (role, reason)


@pytest.mark.parametrize("question", ["word " * 41, "字" * 61])
def test_a_long_one_is_left_to_the_model(question: str) -> None:
    assert opening_route(question) is None
