"""Are quotations found right where they are, and are citation recall and precision ALCE's?"""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.measures import measure, registry
from eval.measures.attribution import citation_precision, citation_recall
from eval.measures.gold_sentences import hits
from eval.types import Cited, Outcome, Question

GOLD = "Every full-time employee has 24 working days of annual leave per calendar year."
QUESTION = Question(
    "a", "?", documents=("leave", "manual"), snippets=(GOLD, "Adult | 26.50"), pages=(("manual", 3), ("manual", 4))
)


def cite(document: str, page: int | None = None, quote: str = "", *, verified: bool = True) -> Cited:
    return Cited(0, 1, document, page, quote, quote, verified)


def values(*cited: Cited, question: Question = QUESTION) -> dict[str, float]:
    found = measure([question], {"a": Outcome("a", answered=True, answer="x", cited=cited)})
    return {name: value["a"] for name, value in found.items() if value}


def test_shares_of_quotations() -> None:
    found = values(cite("leave"), cite("manual", 3), cite("manual", 9), cite("other", 3, verified=False))
    assert found["quotation_verified"] == found["right_document"] == 0.75
    assert found["right_page"] == 0.5
    assert found["any_right_document"] == 1.0


def test_an_answer_that_quotes_nothing() -> None:
    found = values()
    assert "quotation_verified" not in found
    assert found["right_document"] == found["any_right_document"] == found["right_page"] == 0.0
    assert found["right_sentence"] == found["gold_sentence_recall"] == found["citation_precision"] == 0.0


def test_no_quotation_from_a_document_with_gold_pages_is_on_a_right_page() -> None:
    assert values(cite("leave"), cite("other", 3))["right_page"] == 0.0
    assert "right_page" not in values(cite("leave"), question=replace(QUESTION, pages=()))


def test_gold_sentences() -> None:
    assert values(cite("leave", quote=GOLD))["right_sentence"] == 1.0
    assert values(cite("leave", quote=GOLD))["gold_sentence_recall"] == 0.5
    assert values(cite("leave", quote=GOLD), cite("manual", quote="| Adult | 26.50 |"))["gold_sentence_recall"] == 1.0
    assert values(cite("other", quote=GOLD))["right_sentence"] == 0.0
    assert values(cite("x", quote=GOLD), question=replace(QUESTION, documents=()))["right_sentence"] == 1.0


HITS = [
    (GOLD, GOLD.upper().replace(" ", "\n")),
    (GOLD, f"Before. {GOLD} After."),
    (GOLD[:40], GOLD),
    ("Here every full-time employee has 24 working days of annual leave.", GOLD),
    ("Adult", "adult fares"),
    ("45", "| Lower saloon | 45 |"),
    ("码头监控录像在设备上保存45天。", "码头监控录像在设备上 保存４５天"),
    ("港口的码头监控录像在设备上保存", "码头监控录像在设备上保存45天，逾期删除"),
    ("45天", "保存45天"),
]
MISSES = [
    (GOLD, "Every ferry has 24 lifeboats and leaves the pier on calendar days."),
    ("of annual leave per calendar year", "of annual leave pay and more about how it is worked out by the office"),
    ("45", "1450 dollars"),
    ("dult", "Adult"),
    ("", GOLD),
    ("...", GOLD),
    ("码头监控录像", "码头的监控录像在别处"),
    ("办公系统密码不少于十位且要换", "办公系统由信息部门统一管理和维护"),
]


@pytest.mark.parametrize(("quote", "snippet"), HITS)
def test_a_quotation_hits(quote: str, snippet: str) -> None:
    assert hits(quote, snippet)
    assert hits(snippet, quote)


@pytest.mark.parametrize(("quote", "snippet"), MISSES)
def test_a_quotation_misses(quote: str, snippet: str) -> None:
    assert not hits(quote, snippet)
    assert not hits(snippet, quote)


@settings(deadline=None)
@given(
    st.text(st.sampled_from("abc d 港口天24."), max_size=60), st.text(st.sampled_from("abc d 港口天24."), max_size=60)
)
def test_hitting_is_mutual(one: str, other: str) -> None:
    assert hits(one, other) == hits(other, one)


# -- ALCE


class Table:
    """A judge by a table: a claim wants facts, and each passage gives some; some claims want one passage alone."""

    def __init__(self, wants: dict[str, frozenset[str]]) -> None:
        self.wants = wants

    def entails(self, premise: str, claim: str) -> bool:
        return self.wants[claim] <= set(premise.split())


def oracle(wants: dict[str, frozenset[str]], claims: list[str], cites: dict[int, list[str]]) -> tuple[float, float]:
    """Return ALCE's recall and precision by looking at every subset of every claim's passages."""
    recalls: list[bool] = []
    precise: list[bool] = []
    for number, claim in enumerate(claims):
        passages = cites.get(number, [])
        holds = {}
        for chosen in product([False, True], repeat=len(passages)):
            facts = [passage.split() for passage, taken in zip(passages, chosen, strict=True) if taken]
            holds[chosen] = wants[claim] <= {fact for some in facts for fact in some}
        whole = tuple([True] * len(passages))
        recalls.append(bool(passages) and holds[whole])
        for place in range(len(passages)):
            alone = tuple(other == place for other in range(len(passages)))
            rest = tuple(other != place for other in range(len(passages)))
            irrelevant = not holds[alone] and holds[rest]
            precise.append(recalls[-1] and not irrelevant)
    share = [sum(found) / len(found) if found else 0.0 for found in (recalls, precise)]
    return share[0], share[1]


def test_a_thousand_random_answers_have_the_values_of_alce() -> None:
    for number in range(1000):
        chance = random.Random(number)
        facts = ["f1", "f2", "f3", "f4"]
        claims = [f"claim {n}" for n in range(chance.randint(1, 4))]
        wants = {claim: frozenset(chance.sample(facts, chance.randint(1, 3))) for claim in claims}
        cites = {
            n: [" ".join(chance.sample(facts, chance.randint(1, 3))) for _ in range(chance.randint(0, 3))]
            for n in range(len(claims))
        }
        cited = [
            Cited(claim, place, "d", None, "q", passage, True)
            for claim, passages in cites.items()
            for place, passage in enumerate(passages)
        ]
        chance.shuffle(cited)
        # A second quotation of the same passage is the same citation.
        outcome = Outcome("a", answered=True, claims=tuple(claims), cited=(*cited, *cited[:1]))
        recall, precision = oracle(wants, claims, cites)
        assert citation_recall(outcome, Table(wants)) == pytest.approx(recall), number
        assert citation_precision(outcome, Table(wants)) == pytest.approx(precision), number


def test_sentences_about_gaps_are_no_claims_and_refusals_have_no_value() -> None:
    claims = ("The pier opened in 1903.", "The documents do not say who built it.")
    cited = (Cited(0, 1, "d", None, claims[0], claims[0], True),)
    outcome = Outcome("a", answered=True, claims=claims, verdicts=("supported", "gap"), cited=cited)
    found = measure([QUESTION], {"a": outcome}, ["citation_recall", "citation_precision"])
    assert found == {"citation_recall": {"a": 1.0}, "citation_precision": {"a": 1.0}}
    unmarked = replace(outcome, verdicts=())
    assert measure([QUESTION], {"a": unmarked}, ["citation_recall"])["citation_recall"] == {"a": 0.5}
    refused = replace(outcome, answered=False)
    assert measure([QUESTION], {"a": refused}, ["citation_recall"])["citation_recall"] == {}


def test_another_judge_may_decide() -> None:
    outcome = Outcome("a", answered=True, claims=("c",), cited=(Cited(0, 1, "d", None, "q", "f2", True),))
    for wanted, value in (("f1", 0.0), ("f2", 1.0)):
        judged = registry(Table({"c": frozenset({wanted})}))
        assert measure([QUESTION], {"a": outcome}, ["citation_recall"], judged) == {"citation_recall": {"a": value}}
