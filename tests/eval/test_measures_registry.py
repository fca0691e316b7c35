"""Which measure applies where, and what does a question without a result count?"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.errors import EvalError
from eval.measures import MEASURES, known, measure
from eval.stats import compare
from eval.types import Cited, Outcome, Question

SENTENCE = "Every full-time employee has 24 working days of leave."
ANSWERABLE = Question(
    "a", "How many days?", answers=("24", SENTENCE), documents=("leave",), snippets=(SENTENCE,), pages=(("leave", 2),)
)
OTHER = replace(ANSWERABLE, id="b")
UNANSWERABLE = Question("c", "Who painted it?", answerable=False)
QUESTIONS = (ANSWERABLE, OTHER, UNANSWERABLE)
CITED = Cited(0, 1, "leave", 2, SENTENCE, SENTENCE, True)
RIGHT = Outcome(
    "a", ("leave",), True, f"{SENTENCE} [1]", (SENTENCE,), ("supported",), (CITED,), searches=1, seconds=1.0
)
REFUSED = Outcome("c", ("leave",), False, searches=2, seconds=3.0)
GOOD = {"a": RIGHT, "b": replace(RIGHT, question_id="b"), "c": REFUSED}
COSTS = {"llm_calls", "tokens", "searches", "seconds"}
OF_ANSWERS_ALONE = {
    "correct", "quotation_verified", "right_document", "right_page", "citation_recall", "citation_precision",
}  # fmt: skip


def mean(values: dict[str, float]) -> float:
    return sum(values.values()) / len(values)


def test_a_perfect_run_has_the_best_value_everywhere() -> None:
    for name, values in measure(QUESTIONS, GOOD).items():
        if name not in COSTS:
            assert mean(values) == (1.0 if MEASURES[name].better == "high" else 0.0), name


@pytest.mark.parametrize("lost", ["missing", "failed", "unanswered"])
def test_a_question_without_a_result_lowers_the_mean_and_does_not_vanish(lost: str) -> None:
    holed = {"a": RIGHT, "c": REFUSED}
    if lost == "failed":
        holed["b"] = replace(GOOD["b"], error="ModelError: timeout")
    if lost == "unanswered":
        holed["b"] = replace(GOOD["b"], answered=None)
    whole, found = measure(QUESTIONS, GOOD), measure(QUESTIONS, holed)
    for name, one in MEASURES.items():
        if lost == "unanswered" and one.needs == "retrieval":
            assert found[name] == whole[name]
        elif name in COSTS | OF_ANSWERS_ALONE:
            assert "b" not in found[name]
        elif one.better == "high":
            assert found[name]["b"] == 0.0, name
            assert mean(found[name]) < mean(whole[name]), name
    assert found["false_refusal"] == {"a": 0.0, "b": 1.0}


def test_a_crash_is_neither_a_false_answer_nor_better_than_one() -> None:
    answering = {**GOOD, "c": replace(RIGHT, question_id="c")}
    crashed = {**GOOD, "c": Outcome("c", error="ModelError")}
    assert measure(QUESTIONS, answering, ["false_answer"]) == {"false_answer": {"c": 1.0}}
    assert measure(QUESTIONS, crashed, ["false_answer"]) == {"false_answer": {}}
    assert measure(QUESTIONS, crashed, ["useful"])["useful"] == measure(QUESTIONS, answering, ["useful"])["useful"]


def test_a_run_without_answers_has_no_measures_of_answers() -> None:
    searched = {key: Outcome(key, ("leave",)) for key in "ab"} | {"c": Outcome("c", error="OSError")}
    found = measure(QUESTIONS, searched)
    for name, one in MEASURES.items():
        assert bool(found[name]) == (one.needs == "retrieval"), name


def test_a_run_that_failed_altogether_counts_as_one_that_was_to_answer() -> None:
    for outcomes in ({}, {key: Outcome(key, error="OSError") for key in "abc"}):
        found = measure(QUESTIONS, outcomes)
        assert found["useful"] == {"a": 0.0, "b": 0.0, "c": 0.0}
        assert found["false_refusal"] == {"a": 1.0, "b": 1.0}


def always(answered: bool) -> dict[str, Outcome]:
    made = RIGHT if answered else REFUSED
    return {key: replace(made, question_id=key) for key in "abc"}


def test_refusing_everything_and_answering_everything_both_lose() -> None:
    good, refusing, answering = (measure(QUESTIONS, one) for one in (GOOD, always(False), always(True)))
    assert mean(refusing["false_answer"]) == mean(answering["false_refusal"]) == 0.0
    assert mean(refusing["false_refusal"]) == mean(answering["false_answer"]) == 1.0
    assert mean(refusing["answered_correct"]) == mean(refusing["right_sentence"]) == 0.0
    assert mean(good["useful"]) == 1.0
    assert mean(refusing["useful"]) == pytest.approx(1 / 3)
    assert mean(answering["useful"]) == pytest.approx(2 / 3)


def test_refusing_and_answering_everything_are_worse_beyond_chance_on_enough_questions() -> None:
    questions = [replace(ANSWERABLE, id=f"a{n}") for n in range(10)]
    questions += [replace(UNANSWERABLE, id=f"c{n}") for n in range(10)]
    runs = [
        {one.id: replace(RIGHT if answers(one) else REFUSED, question_id=one.id) for one in questions}
        for answers in (lambda one: one.answerable, lambda one: True, lambda one: False)
    ]
    good, answering, refusing = (list(measure(questions, one, ["useful"])["useful"].values()) for one in runs)
    assert compare(good, answering, "high").verdict == compare(good, refusing, "high").verdict == "worse"


def test_a_refusal_has_no_quotations_to_measure_and_counts_where_the_question_is_asked() -> None:
    found = measure([ANSWERABLE], {"a": replace(REFUSED, question_id="a")})
    assert all(found[name] == {} for name in OF_ANSWERS_ALONE)
    assert all(found[name] == {"a": 0.0} for name in ("right_sentence", "any_right_document", "token_f1", "useful"))


def test_cost_is_what_was_spent_on_questions_that_came_out() -> None:
    spent = replace(RIGHT, llm_calls=2, tokens_in=300, tokens_out=40, searches=3, seconds=1.5)
    failed = Outcome("b", error="ModelError", llm_calls=9)
    found = measure(QUESTIONS, {"a": spent, "b": failed}, sorted(COSTS))
    assert found == {"llm_calls": {"a": 2.0}, "searches": {"a": 3.0}, "seconds": {"a": 1.5}, "tokens": {"a": 340.0}}


def test_names_are_checked() -> None:
    assert known([]) == []
    assert known(["mrr", "useful"]) == ["mrr", "useful"]
    with pytest.raises(EvalError, match=r"no measure 'recall@7': give some of recall@5, "):
        measure(QUESTIONS, GOOD, ["recall@7"])


def test_every_measure_says_what_it_is_in_a_sentence() -> None:
    for name, one in MEASURES.items():
        assert one.name == name
        assert one.says.endswith(".")
        assert one.says[0].isupper() or one.says[0].isdigit()
        assert (
            (one.failed == 0.0) if one.better == "high" and name not in OF_ANSWERS_ALONE else one.failed in {None, 1.0}
        )


# -- whatever comes, a value is in its range

NAMES = st.sampled_from(["leave", "oil", "路", "x"])
TEXTS = st.text(st.sampled_from("ab 24,.三天港[1]\n"), max_size=30)
QUOTES = st.builds(
    Cited, st.integers(0, 2), st.integers(1, 3), NAMES, st.none() | st.integers(1, 3), TEXTS, TEXTS, st.booleans()
)
ASKED = st.builds(
    Question,
    id=st.just("a"), text=TEXTS, language=st.sampled_from(["en", "zh"]), answerable=st.booleans(),
    answers=st.lists(TEXTS, max_size=2).map(tuple),
    parts=st.lists(st.lists(TEXTS, min_size=1, max_size=2).map(tuple), max_size=2).map(tuple),
    documents=st.lists(NAMES, unique=True, max_size=3).map(tuple), snippets=st.lists(TEXTS, max_size=2).map(tuple),
    pages=st.lists(st.tuples(NAMES, st.integers(1, 3)), max_size=2).map(tuple),
)  # fmt: skip
CAME = st.builds(
    Outcome,
    question_id=st.just("a"), ranked=st.lists(NAMES, unique=True).map(tuple),
    answered=st.sampled_from([None, True, False]), answer=TEXTS, claims=st.lists(TEXTS, max_size=3).map(tuple),
    verdicts=st.lists(st.sampled_from(["supported", "gap"]), max_size=3).map(tuple),
    cited=st.lists(QUOTES, max_size=4).map(tuple), error=st.sampled_from([None, None, None, "OSError"]),
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(ASKED, CAME)
def test_every_value_is_in_its_range(question: Question, outcome: Outcome) -> None:
    found = measure([question], {"a": outcome})
    for name, values in found.items():
        assert set(values) <= {"a"}
        for value in values.values():
            assert type(value) is float
            assert value >= 0.0 if name in COSTS else 0.0 <= value <= 1.0
    for part, whole in (
        ("exact_match", "token_f1"), ("answered_correct", "useful"), ("right_sentence", "any_right_document"),
        ("gold_sentence_recall", "right_sentence"), ("recall@5", "recall@10"), ("all_gold@10", "recall@10"),
    ):  # fmt: skip
        for key in found[part].keys() & found[whole].keys():
            assert found[part][key] <= found[whole][key], (part, whole)
