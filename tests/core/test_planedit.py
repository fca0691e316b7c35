from __future__ import annotations

from typing import Any

import pytest

from app.core.planedit import validate_tasks
from app.errors import InvalidPlan


def test_the_first_six_are_kept_and_the_rest_counted() -> None:
    kept, dropped = validate_tasks([{"query": f"q{n}"} for n in range(9)])
    assert ([task["query"] for task in kept], dropped) == ([f"q{n}" for n in range(6)], 3)
    assert [task["id"] for task in kept] == ["t1", "t2", "t3", "t4", "t5", "t6"]


def test_what_comes_after_the_sixth_is_not_looked_at() -> None:
    assert validate_tasks([*({"query": f"q{n}"} for n in range(6)), 7])[1] == 1


def test_a_task_is_cleaned() -> None:
    kept, _ = validate_tasks([{"id": "a", "query": " annual \n leave ", "question": "How much?", "status": "done"}])
    assert kept == [{"id": "a", "query": "annual leave", "question": "How much?"}]


def test_a_task_without_an_id_takes_none_that_is_used() -> None:
    kept, _ = validate_tasks([{"query": "a"}, {"id": "t1", "query": "b"}])
    assert len({task["id"] for task in kept}) == 2


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("text", "object"), (None, "object"), ({}, "empty"), ({"query": " "}, "empty"), ({"query": 3}, "texts"),
        ({"id": 0, "query": "x"}, "texts"), ({"question": [], "query": "x"}, "texts"),
        ({"id": " t1 ", "query": "x"}, "twice"),
        ({"query": "x" * 501}, "500"), ({"query": "x", "tool": "shell"}, "unknown fields: tool"),
        ({"id": "t1", "query": "x"}, "twice"),
    ],
)  # fmt: skip
def test_the_first_wrong_task_is_named(task: Any, words: str) -> None:
    with pytest.raises(InvalidPlan, match=words) as caught:
        validate_tasks([{"id": "t1", "query": "fine"}, task])
    assert caught.value.index == 1


def test_a_blank_question_is_the_query() -> None:
    assert validate_tasks([{"question": " ", "query": "x"}])[0] == [{"id": "t1", "question": "x", "query": "x"}]


def test_an_empty_plan_is_refused() -> None:
    with pytest.raises(InvalidPlan):
        validate_tasks([])
