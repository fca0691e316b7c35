from __future__ import annotations

import pytest

from app.core.routeparse import parse_route


@pytest.mark.parametrize("role", ["direct", "planner", "researcher", "writer", "finish"])
def test_each_role(role: str) -> None:
    assert parse_route(f" ROLE: {role}\n") == role


@pytest.mark.parametrize(
    "reply",
    ["", " ", "I think ROLE: writer", "ROLE: writer and planner", "role: Writer.", "ROLE:writer", "ROLE: critic",
     "ROLE: writer\nROLE: planner", "ROLE: writer.", "<think>ROLE: writer", "**ROLE: writer**"],
)  # fmt: skip
def test_only_the_whole_reply_counts(reply: str) -> None:
    assert parse_route(reply) is None


@pytest.mark.parametrize(
    "reply",
    [
        "<think>ROLE: planner</think>\nROLE: writer",
        "<THINK>x</THINK>ROLE: writer",
        "some thought</think>ROLE: writer",
        "<thinking>ROLE: planner</thinking>ROLE: writer",
        "a<think>b</think>c</thinking>ROLE: writer",
    ],
)
def test_thought_does_not_count(reply: str) -> None:
    assert parse_route(reply) == "writer"
