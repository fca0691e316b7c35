"""Are recall, nDCG and the reciprocal rank what trec_eval makes of the same ranking?"""

from __future__ import annotations

import random
from dataclasses import replace

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, Qrel, R, ScoredDoc, nDCG

from eval.measures import MEASURES, measure
from eval.types import Outcome, Question

REFERENCES = {
    "recall@5": R @ 5, "recall@10": R @ 10, "recall@20": R @ 20, "ndcg@10": nDCG @ 10, "mrr": RR, "mrr@10": RR @ 10,
}  # fmt: skip
CASES = 1000


def drawn(number: int) -> tuple[Question, Outcome]:
    """Return a random question and ranking; some gold has grade 0, and some of it is not retrieved."""
    chance = random.Random(number)
    pool = [f"d{n}" for n in range(chance.randint(2, 60))]
    gold = chance.sample(pool, chance.randint(1, min(len(pool), 30)))
    grades = [chance.choice([0, 1, 1, 2, 3]) for _ in gold]
    grades[0] = max(grades[0], 1)
    ranked = tuple(chance.sample(pool, chance.randint(0, len(pool))))
    key = str(number)
    return Question(key, "?", documents=tuple(gold), relevance=tuple(grades)), Outcome(key, ranked)


def test_a_thousand_random_rankings_have_the_values_of_trec_eval() -> None:
    cases = [drawn(number) for number in range(CASES)]
    found = measure([one for one, _ in cases], {one.question_id: one for _, one in cases}, list(REFERENCES))
    qrels = [Qrel(one.id, name, grade) for one, _ in cases for name, grade in one.grades().items()]
    run = [
        ScoredDoc(one.question_id, name, float(-rank)) for _, one in cases for rank, name in enumerate(one.ranked)
    ]  # fmt: skip
    wanted = {
        (str(one.measure), one.query_id): one.value for one in ir_measures.iter_calc(REFERENCES.values(), qrels, run)
    }
    for name, reference in REFERENCES.items():
        assert len(found[name]) == CASES
        for key, value in found[name].items():
            assert value == pytest.approx(wanted[str(reference), key], abs=1e-9), (name, key)


def test_all_gold_documents_are_there_or_not() -> None:
    for number in range(CASES):
        question, outcome = drawn(number)
        gold = [name for name, grade in question.grades().items() if grade]
        for depth in (10, 20):
            wanted = all(name in outcome.ranked[:depth] for name in gold)
            assert MEASURES[f"all_gold@{depth}"].value(question, outcome) == float(wanted)


def test_without_gold_documents_nothing_is_retrieved_right_or_wrong() -> None:
    bare = Question("a", "?", answers=("24",))
    irrelevant = replace(bare, documents=("d",), relevance=(0,))
    for question in (bare, irrelevant):
        found = measure([question], {"a": Outcome("a", ("d",))})
        assert all(values == {} for name, values in found.items() if name != "seconds")


def test_values_by_hand() -> None:
    question = Question("a", "?", documents=("x", "y"), relevance=(2, 1))
    found = measure([question], {"a": Outcome("a", ("n", "y", "m", "x"))})
    assert found["mrr"]["a"] == 0.5
    assert found["recall@5"]["a"] == found["all_gold@10"]["a"] == 1.0
    assert found["ndcg@10"]["a"] == pytest.approx((1 / 1.5849625 + 2 / 2.3219281) / (2 + 1 / 1.5849625))


RANKINGS = st.integers(0, 10**6).map(drawn).filter(lambda case: bool(set(case[0].documents) & set(case[1].ranked)))


@given(RANKINGS, st.data())
def test_a_gold_document_moved_up_never_lowers_a_value(case: tuple[Question, Outcome], data: st.DataObject) -> None:
    question, outcome = case
    gold = [name for name, grade in question.grades().items() if grade and name in outcome.ranked]
    if not gold:
        return
    moved = data.draw(st.sampled_from(gold))
    place = outcome.ranked.index(moved)
    target = data.draw(st.integers(0, place))
    rest = [name for name in outcome.ranked if name != moved]
    # It changes places with a document that is no gold, or passes over what is less relevant.
    passed = rest[target:place]
    grades = question.grades()
    if any(grades.get(name, 0) > grades[moved] for name in passed):
        return
    better = replace(outcome, ranked=(*rest[:target], moved, *rest[target:]))
    for name in ("ndcg@10", "mrr", "mrr@10"):
        assert MEASURES[name].value(question, better) >= MEASURES[name].value(question, outcome) - 1e-12


@given(st.integers(0, 10**6).map(drawn))
def test_a_gold_document_added_in_front_never_lowers_a_value(case: tuple[Question, Outcome]) -> None:
    question, outcome = case
    missing = [name for name, grade in question.grades().items() if grade and name not in outcome.ranked]
    for name in missing[:1]:
        kept = [one for one in outcome.ranked if question.grades().get(one, 0) <= question.grades()[name]]
        before = replace(outcome, ranked=tuple(kept))
        after = replace(outcome, ranked=(name, *kept))
        for one in ("ndcg@10", "mrr", "mrr@10"):
            assert MEASURES[one].value(question, after) >= MEASURES[one].value(question, before) - 1e-12
