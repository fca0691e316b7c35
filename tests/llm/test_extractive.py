"""Which sentences answer a question when there is no model?"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from app.core.refusal import refusal_text
from app.core.types import DocumentRef, Passage
from app.llm.extractive import ExtractiveRoles
from app.llm.units import units_of
from app.ports import Completion, DraftRequest, KeyedPassage, Message, Role

EN = """# The Bridge

The Acme bridge opened in 1932 after
six years of work. When did the bridge open? Painting it takes ten years and 40 people.

Year | Tolls
--- | ---
1932 | 6 pence
"""
ZH = "大桥简介\n\n甲桥于1932年建成通车，工期六年。大桥什么时候建成？油漆一次需要四十个人工作十年。"


class Nearness:
    """A scorer of which the test says how near texts with a word are."""

    def __init__(self, near: dict[str, float]) -> None:
        self.near = near

    def scores(self, text: str, sentences: Sequence[str]) -> list[float]:
        return [max([0.75, *(c for word, c in self.near.items() if word in s)]) for s in sentences]


def keyed(key: str, text: str, language: str) -> KeyedPassage:
    document = DocumentRef("d", "Bridges", "bridges.md", "0" * 64, 1)
    return KeyedPassage(key, Passage("c" + key, document, text, 0, len(text), language=language))


async def draft(
    question: str, language: str, *passages: KeyedPassage, near: dict[str, float], role: Role = "direct",
    tasks: tuple[str, ...] = (),
) -> list[str]:  # fmt: skip
    request = DraftRequest(question, language, passages, role, tasks)
    items = [item async for item in ExtractiveRoles(Nearness(near)).draft(request)]
    last = items.pop()
    assert isinstance(last, Completion)
    assert last.calls == 0
    assert last.text == "".join(map(str, items))
    return [str(item) for item in items]


@pytest.mark.parametrize(
    ("question", "passage", "near", "expected"),
    [
        pytest.param(
            "When did the Acme bridge open?", keyed("a1b", EN, "en"), {"opened": 0.88, "When did": 0.95},
            "The Acme bridge opened in 1932 after six years of work. [a1b]\n", id="en",
        ),
        pytest.param(
            "甲桥什么时候建成通车？", keyed("c2d", ZH, "zh"), {"1932": 0.88, "什么时候": 0.95},
            "甲桥于1932年建成通车，工期六年。 [c2d]\n", id="zh",
        ),
        pytest.param(
            "甲桥什么时候建成通车？", keyed("a1b", EN, "en"), {"opened": 0.83},
            "The Acme bridge opened in 1932 after six years of work. [a1b]\n", id="across_languages",
        ),
    ],
)  # fmt: skip
async def test_the_sentence_that_answers(
    question: str, passage: KeyedPassage, near: dict[str, float], expected: str
) -> None:
    language = "zh" if question.endswith("？") else "en"
    assert await draft(question, language, passage, near=near) == [expected]


async def test_a_row_comes_with_its_header() -> None:
    pieces = await draft("Tolls in 1932 in pence?", "en", keyed("a1b", EN, "en"), near={"pence": 0.9})
    assert pieces[0] == "Year | Tolls --- | --- 1932 | 6 pence [a1b]\n"


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_nothing_good_enough_is_the_fixed_refusal(language: str) -> None:
    pieces = await draft("Who wrote Hamlet?", language, keyed("a1b", EN, "en"), near={})
    assert pieces == [refusal_text(language)]
    assert await draft("Who wrote Hamlet?", language, near={}) == [refusal_text(language)]


async def test_what_is_said_twice_is_quoted_once_and_the_writer_serves_each_task() -> None:
    again = keyed("e3f", "As is known, the Acme bridge opened in 1932 after six years of work.", "en")
    tasks = ("When did the Acme bridge open?", "How many people does painting it take?")
    near = {"opened": 0.9, "Painting": 0.89}
    pieces = await draft(" ".join(tasks), "en", keyed("a1b", EN, "en"), again, near=near, role="writer", tasks=tasks)
    assert len(pieces) == 2
    assert "1932" in pieces[0]
    assert pieces[1] == "Painting it takes ten years and 40 people. [a1b]\n"


def test_headings_questions_and_lead_ins_state_nothing() -> None:
    lead_in, question = "The dates are as follows:", "When did it open after all?"
    text = f"Dates\n\n## Opening\n\n{lead_in}\n\n{question}\n\nIt opened in May of 1932.\n"
    assert [unit.text for unit in units_of([keyed("a1b", text, "en")])] == ["It opened in May of 1932."]


def test_a_header_row_states_nothing_alone() -> None:
    text = (
        "Year of the change | Tolls for one car\n--- | ---\n1932 until the war | 6 pence\n1946 until now | 1 shilling\n"
    )
    rows = [unit.text for unit in units_of([keyed("a1b", text, "en")])]
    assert [row.count("|") for row in rows] == [3, 4]
    assert all(row.startswith("Year of the change | Tolls for one car --- | ---") for row in rows)


async def test_routes_and_plans_without_a_model() -> None:
    roles = ExtractiveRoles(Nearness({}))
    assert not roles.uses_model
    simple, double = "When did the bridge open?", "When did the bridge open? Who paid for it?"
    assert (await roles.route([Message("user", simple)], "")).text == "ROLE: direct"
    assert (await roles.route([Message("user", double)], "")).text == "ROLE: planner"
    assert (await roles.route([Message("user", "甲桥和乙桥有什么区别")], "")).text == "ROLE: planner"
    plan = json.loads((await roles.plan(double, 3, [])).text)
    assert [set(task) for task in plan] == [{"question", "query"}] * 2
    assert len(json.loads((await roles.plan(double, 1, [])).text)) == 1
    other = json.loads((await roles.plan(simple, 2, [simple])).text)
    assert other == [{"question": simple, "query": "bridge open"}]
    chinese = json.loads((await roles.plan("请问甲桥什么时候通车？", 2, ["请问甲桥什么时候通车？"])).text)
    assert chinese[0]["query"] == "甲桥 通车"
