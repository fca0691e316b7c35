from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.planparse import QUERY_CHARS, parse_plan, split_question

QUESTION = "What do A and B cost?"
TASKS = [{"question": "What does A cost?", "query": "cost A"}, {"question": "What does B cost?", "query": "cost B"}]


@pytest.mark.parametrize(
    ("reply", "queries", "how"),
    [
        pytest.param(json.dumps(TASKS), ["cost A", "cost B"], "json", id="list of objects"),
        pytest.param(json.dumps({"tasks": TASKS}), ["cost A", "cost B"], "json", id="object with tasks"),
        pytest.param('["cost A", "cost B"]', ["cost A", "cost B"], "json", id="list of strings"),
        pytest.param(f"Here:\n```json\n{json.dumps(TASKS)}\n```\nDone.", ["cost A", "cost B"], "json", id="fenced"),
        pytest.param(f"Sure! {json.dumps(TASKS)} I hope [this] helps.", ["cost A", "cost B"], "json", id="bare, prose"),
        pytest.param(f"As [you] asked: {json.dumps(TASKS)}", ["cost A", "cost B"], "json", id="brackets before"),
        pytest.param(f"<think>[\"no\"]</think>{json.dumps(TASKS)}", ["cost A", "cost B"], "json", id="after thought"),
        pytest.param(f"[\"no\"]</think>{json.dumps(TASKS)}", ["cost A", "cost B"], "json", id="thought, tag unopened"),
        pytest.param(f"<thinking>[\"no\"]</thinking>{json.dumps(TASKS)}", ["cost A", "cost B"], "json", id="thinking"),
        pytest.param('[{"id": 1, "query": "cost A", "depends_on": []}]', ["cost A"], "json", id="query alone"),
        pytest.param('{"question": "cost A", "query": "cost A"}', ["cost A"], "json", id="one object"),
        pytest.param('{"query": "cost A"}\n{"query": "cost B"}', ["cost A", "cost B"], "json", id="an object a line"),
        pytest.param('["cost A", "cost B",]', ["cost A", "cost B"], "json", id="a comma too many"),
        pytest.param('[{"query": "cost A"}, {"query": "cost B"}, {"que', ["cost A", "cost B"], "json", id="cut short"),
        pytest.param("1. cost A\n2. cost B", ["cost A", "cost B"], "list", id="1."),
        pytest.param("Plan:\n1) cost A\n2) cost B\nThat is all.", ["cost A", "cost B"], "list", id="1)"),
        pytest.param("一、A的价格\n二、B的价格", ["A的价格", "B的价格"], "list", id="一、"),
        pytest.param("1、A的价格\n2、B的价格", ["A的价格", "B的价格"], "list", id="1、"),
        pytest.param("（1）A的价格\n（2）B的价格", ["A的价格", "B的价格"], "list", id="（1）"),
        pytest.param("- cost A\n* cost B", ["cost A", "cost B"], "list", id="bullets"),
        pytest.param("1. **cost A**\n2. `cost B`", ["cost A", "cost B"], "list", id="marked up"),
        pytest.param("I cannot plan that.", [QUESTION], "fallback", id="prose"),
        pytest.param("", [QUESTION], "fallback", id="nothing"),
        pytest.param("[]", [QUESTION], "fallback", id="an empty list"),
        pytest.param('[{"query": "  "}, 3, null]', [QUESTION], "fallback", id="nothing in the list"),
        pytest.param("[" * 5000, [QUESTION], "fallback", id="too deep"),
    ],
)  # fmt: skip
def test_json_then_a_list_then_the_question(reply: str, queries: list[str], how: str) -> None:
    plan = parse_plan(reply, QUESTION, 3)
    assert ([task.query for task in plan.tasks], plan.how, plan.dropped) == (queries, how, 0)


def test_what_is_over_the_limit_is_counted() -> None:
    plan = parse_plan(json.dumps([f"query {n}" for n in range(7)]), QUESTION, 3)
    assert ([task.id for task in plan.tasks], plan.dropped) == (["t1", "t2", "t3"], 4)


def test_repeats_and_blanks_do_not_count() -> None:
    plan = parse_plan('["cost A", "", " Cost  a ", "cost B"]', QUESTION, 3)
    assert ([task.query for task in plan.tasks], plan.dropped) == (["cost A", "cost B"], 0)


def test_a_long_question_is_cut_like_a_task() -> None:
    assert len(parse_plan("", "word " * 300, 3).tasks[0].question) <= QUERY_CHARS


@given(st.text(max_size=700), st.text(min_size=1, max_size=900), st.integers(1, 3))
def test_any_reply_gives_tasks(reply: str, question: str, limit: int) -> None:
    plan = parse_plan(reply, question, limit)
    assert 1 <= len(plan.tasks) <= limit
    assert all(len(task.query) <= QUERY_CHARS and len(task.question) <= QUERY_CHARS for task in plan.tasks)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("When was it built?", ["When was it built?"]),
        ("When was it built? Who built it?", ["When was it built?", "Who built it?"]),
        ("什么时候建的？谁建的？", ["什么时候建的？", "谁建的？"]),
        ("When was it built, and what did it cost?", ["When was it built", "what did it cost?"]),
        ("When was it built; and what did it cost?", ["When was it built", "what did it cost?"]),
        ("Compare the price of A, B and C.", ["price of A", "price of B", "price of C"]),
        ("Compare Alpha, Beta and Gamma", ["Alpha", "Beta", "Gamma"]),
        ("Compare A, B, C and D", ["A", "B", "C"]),
        ("比较甲公司与乙公司的年假", ["甲公司的年假", "乙公司的年假"]),
        ("比较甲、乙和丙的价格", ["甲的价格", "乙的价格", "丙的价格"]),
        ("年假有多少天，以及病假怎么申请？", ["年假有多少天", "病假怎么申请？"]),
        ("What is research and development?", ["What is research and development?"]),
        ("试用期多长，工资是多少？", ["试用期多长", "工资是多少？"]),
    ],
)
def test_a_question_splits_into_its_parts(question: str, parts: list[str]) -> None:
    assert split_question(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "When and where was it built?", "Who wrote it and why?", "How do salt and water react?",
        "What are the terms and conditions of the gold plan?", 'What does "Why?" mean in the text?',
        "研究和开发是什么？", "猫与狗有什么关系？", "请假和加班怎么申请？", "如果员工请病假，需要什么材料？",
        "根据员工手册，年假有多少天？", "“为什么？”是什么意思？",
    ],
)  # fmt: skip
def test_an_ordinary_question_stays_whole(question: str) -> None:
    assert split_question(question) == [question]


@given(st.text(max_size=300))
def test_at_most_three_parts_none_blank(question: str) -> None:
    parts = split_question(question)
    assert 1 <= len(parts) <= 3
    assert all(parts) or parts == [""]
