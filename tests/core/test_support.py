from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.support import PARTLY_WORDS, disagrees, judge, lexical_support, numbers_agree
from app.core.types import Verdict

SHARED = Path(os.environ.get("CITEDRAG_SHARED", Path(__file__).parents[3] / "shared"))
CLAIMS = SHARED / "data/claim_support"
LEAVE = "Full-time employees are entitled to 24 days of annual leave."


@pytest.mark.parametrize(
    ("claim", "quote", "semantic", "verdict"),
    [
        pytest.param(LEAVE, LEAVE, None, Verdict.SUPPORTED, id="the same"),
        pytest.param("Employees have 24 days of annual leave.", LEAVE, None, Verdict.SUPPORTED, id="shorter"),
        pytest.param("Employees have 25 days of annual leave.", LEAVE, 0.97, Verdict.UNSUPPORTED, id="another number"),
        pytest.param("Staff get 24 vacation days each year.", LEAVE, 0.93, Verdict.SUPPORTED, id="paraphrase"),
        pytest.param("Staff get 24 vacation days each year.", LEAVE, 0.80, Verdict.UNSUPPORTED, id="not near enough"),
        pytest.param("全职员工有24天年假。", LEAVE, 0.89, Verdict.SUPPORTED, id="across languages"),
        pytest.param("全职员工有25天年假。", LEAVE, 0.95, Verdict.UNSUPPORTED, id="across languages, another number"),
        pytest.param(
            "Dogs may enter the main hall.", "Dogs must not enter the large hall.",
            0.97, Verdict.UNSUPPORTED, id="negated",
        ),
        pytest.param("Dogs are allowed.", "Dogs are not allowed.", 0.99, Verdict.UNSUPPORTED, id="same but for not"),
        pytest.param("狗可以进入。", "狗不可以进入。", 0.99, Verdict.UNSUPPORTED, id="same but for 不"),
        pytest.param(
            "The fee is 30 euros.", "The fee, which is not refundable, is 30 euros.",
            None, Verdict.SUPPORTED, id="something else is negated",
        ),
        pytest.param(
            "The drug increases blood pressure in adults.", "In adults this drug decreases the pressure.",
            0.96, Verdict.UNSUPPORTED, id="the other way",
        ),
        pytest.param("", LEAVE, 0.99, Verdict.UNSUPPORTED, id="nothing claimed"),
    ],
)  # fmt: skip
def test_verdicts(claim: str, quote: str, semantic: float | None, verdict: Verdict) -> None:
    assert judge(claim, quote, semantic)[0] is verdict


@pytest.mark.parametrize(
    ("claim", "quote", "agree"),
    [
        ("1,200 people", "1200 people", True),
        ("3.50 euros", "3.5 euros", True),
        ("3 ships", "three ships", True),
        ("3艘船", "三艘船", True),
        ("on 2024-05-01", "on 2024-05-02", False),
        ("at 9:30", "at 9:45", False),
        ("5%", "15%", False),
        ("12天", "十二天", True),
        ("2天", "二十天", False),
        ("10天", "二十天", False),
        ("105人", "一百零五人", True),
        ("3万元", "30000元", True),
        ("2009年", "二〇〇九年", True),
        ("22 days", "twenty-two days", True),
        ("2 days", "twenty-two days", False),
        ("200 people", "two hundred people", True),
        ("no number", "12", True),
        ("1" * 40, "1" * 39 + "2", False),
        ("12", "一" * 9000, False),
    ],
)
def test_numbers(claim: str, quote: str, agree: bool) -> None:
    assert numbers_agree(claim, quote) is agree


@pytest.mark.parametrize(
    ("claim", "quote", "expected"),
    [
        ("It is allowed.", "It isn't allowed.", True),
        ("可以带走。", "不可以带走。", True),
        ("价格上升。", "价格下降。", True),
        ("It is higher.", "It is higher.", False),
        ("It is higher.", "It was lower, then higher.", False),
    ],
)
def test_what_disagrees(claim: str, quote: str, expected: bool) -> None:
    assert disagrees(claim, quote) is expected


@given(st.text(max_size=60), st.text(max_size=60), st.floats(-1, 1))
def test_support_is_a_share_and_no_nearness_mends_numbers(claim: str, quote: str, semantic: float) -> None:
    verdict, support = judge(claim, quote, semantic)
    assert 0.0 <= lexical_support(claim, quote) <= 1.0
    assert 0.0 <= support <= 1.0
    if not numbers_agree(claim, quote):
        assert verdict is Verdict.UNSUPPORTED
        assert support < PARTLY_WORDS


def area(positive: list[float], negative: list[float]) -> float:
    """Return the area under the ROC curve: the share of pairs in order, ties counting half."""
    pairs = [(good > bad) + (good == bad) / 2 for good in positive for bad in negative]
    return sum(pairs) / len(pairs)


def lines(path: Path) -> Iterator[dict[str, object]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


@pytest.mark.shared
@pytest.mark.skipif(not CLAIMS.exists(), reason="the evaluation data are not here")
@pytest.mark.parametrize(("kind", "against", "least"), [
    ("scifact_claim", "not_enough_info", 0.82), ("wice_claim", "not_supported", 0.80),
])  # fmt: skip
def test_claims_of_scifact_and_wice_are_told_apart(
    kind: str, against: str, least: float, record_property: Callable[[str, object], None]
) -> None:
    documents = {str(one["id"]): one["sentences"] for one in lines(CLAIMS / "docs.jsonl")}
    scores: dict[str, list[float]] = {"supported": [], against: []}
    for one in lines(CLAIMS / "questions.jsonl"):
        if one["type"] == kind and one["label"] in scores:
            found = documents[one["evidence_doc_ids"][0]]  # type: ignore[index]
            scores[str(one["label"])].append(max(lexical_support(str(one["claim"]), text) for text in found))  # type: ignore[attr-defined]
    found_area = area(scores["supported"], scores[against])
    record_property("auc", round(found_area, 3))
    print(f"{kind}: AUC {found_area:.3f}")
    assert found_area >= least
