"""Are F1 and exact match SQuAD's and MLQA's, and when does an answer hold the gold answer?"""

from __future__ import annotations

import random
import re
import string
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.measures import measure
from eval.measures.containment import contains
from eval.measures.correctness import is_correct, is_short
from eval.measures.token_overlap import exact, f1, token_recall
from eval.types import Cited, Outcome, Question

CASES = 1000


# -- the official definitions, written down a second time in another way


def squad_words(text: str) -> list[str]:
    """`normalize_answer` of evaluate-v2.0.py: lower case, punctuation, articles, white space, in this order."""
    kept = "".join(character for character in text.lower() if character not in string.punctuation)
    return [word for word in re.split(r"\s+", re.sub(r"\b(a|an|the)\b", " ", kept)) if word]


def mlqa_segments(text: str) -> list[str]:
    """`normalize_answer` of mlqa_evaluation_v1.py for zh, after NFKC: Chinese characters alone, the rest by blanks."""
    segments, run = [], ""
    for character in unicodedata.normalize("NFKC", text).lower():
        if unicodedata.category(character)[0] == "P" or character in string.punctuation:
            continue
        if "\u4e00" <= character <= "\u9fa5":
            segments += [*run.split(), character]
            run = ""
        else:
            run += character
    return segments + run.split()


def reference_f1(said: list[str], gold: list[str]) -> float:
    """`compute_f1` of evaluate-v2.0.py on tokens, with the shared tokens struck off one by one."""
    if not said or not gold:
        return float(said == gold)
    left, shared = list(gold), 0
    for token in said:
        if token in left:
            left.remove(token)
            shared += 1
    if not shared:
        return 0.0
    precision, recall = shared / len(said), shared / len(gold)
    return 2 * precision * recall / (precision + recall)


ENGLISH = [
    "the",
    "A",
    "an",
    "24",
    "days",
    "Days",
    "80,000",
    "U.S.",
    "co-op",
    "leave",
    "-",
    "24.",
    "«x»",
    "theatre",
    "é",
]
CHINESE = ["港", "口", "天", "24", "３", "，", "。", "《", "》", " ", "PDF", "a", "the", "-", "“", "·", "人"]


def phrases(words: list[str], glue: str, number: int) -> tuple[str, list[str]]:
    chance = random.Random(number)
    made = [glue.join(chance.choices(words, k=chance.randint(0, 8))) for _ in range(chance.randint(2, 4))]
    return made[0], made[1:]


@pytest.mark.parametrize(
    ("words", "glue", "language", "reference"),
    [(ENGLISH, " ", "en", squad_words), (CHINESE, "", "zh", mlqa_segments)],
    ids=["squad", "mlqa"],
)
def test_a_thousand_random_answers_have_the_official_values(
    words: list[str], glue: str, language: str, reference: Callable[[str], list[str]]
) -> None:
    cases = {str(number): phrases(words, glue, number) for number in range(CASES)}
    questions = [Question(key, "?", language, answers=tuple(golds)) for key, (_, golds) in cases.items()]
    outcomes = {key: Outcome(key, answered=True, answer=answer) for key, (answer, _) in cases.items()}
    found = measure(questions, outcomes, ["token_f1", "exact_match"])
    for key, (answer, golds) in cases.items():
        said, wanted = reference(answer), [reference(gold) for gold in golds]
        assert found["token_f1"][key] == pytest.approx(max(reference_f1(said, gold) for gold in wanted)), cases[key]
        assert found["exact_match"][key] == float(said in wanted)


def test_values_by_hand() -> None:
    assert f1("They have 24 days", "24 working days") == pytest.approx(2 * (2 / 4) * (2 / 3) / (2 / 4 + 2 / 3))
    assert exact("The 24 Days.", "24 days") == 1.0
    assert f1("临澜港共24天", "24天", wide=True) == pytest.approx(2 * (2 / 6) * 1 / (2 / 6 + 1))
    assert token_recall("at least the ten days", "ten days off") == pytest.approx(2 / 3)
    assert token_recall("x", "...") == 0.0


def test_markers_are_no_part_of_the_answer() -> None:
    question = Question("a", "?", answers=("24 days",))
    outcome = Outcome("a", answered=True, answer="24 days.[1][2]")
    assert measure([question], {"a": outcome}, ["exact_match"])["exact_match"] == {"a": 1.0}
    one = Question("a", "?", answers=("1",))
    assert measure([one], {"a": outcome}, ["answer_contains"])["answer_contains"] == {"a": 0.0}


def test_a_gold_answer_in_chinese_to_a_question_in_english_goes_by_characters() -> None:
    question = Question("a", "What load?", answers=("40 tonnes", "40吨"))
    outcome = Outcome("a", answered=True, answer="额定起重量为40吨。")
    assert measure([question], {"a": outcome}, ["token_f1"])["token_f1"]["a"] == pytest.approx(2 * 2 / (2 + 8))


@given(st.text(st.sampled_from("ab thé24,. "), max_size=20), st.text(st.sampled_from("ab thé24,. "), max_size=20))
def test_f1_is_symmetric_and_one_for_the_same(one: str, other: str) -> None:
    assert f1(one, other) == f1(other, one)
    assert f1(one, one) == exact(one, one) == 1.0


# -- a gold answer in an answer

HELD = [
    ("There are 24 days of leave.", "24"),
    ("There are 24 days of leave.", "24 Days"),
    ("It costs 80,000 dollars.", "80000"),
    ("It costs 80000 dollars.", "80,000"),
    ("It has 1,234,567 people.", "1234567 people"),
    ("The ratio is 3.24.", "3.24"),
    ("At 24:30, it leaves.", "24:30"),
    ("From 1990-2000.", "2000"),
    ("It was Newton's law.", "Newton"),
    ("The U.S. Army", "US army"),
    ("The US army", "U.S. Army"),
    ("Denver Broncos won", "the Broncos"),
    ("It is vitamin A.", "A"),
    ("ＡＢＣ　２４", "abc 24"),
    ("每年24天年假", "24天"),
    ("每年２４天年假", "24"),
    ("每年 24 天", "24天"),
    ("《红楼梦》的作者是曹雪芹。", "曹雪芹"),
    ("共三天", "三天"),
    ("售价3万元", "3万元"),
    ("年份：1999，三天", "三天"),
    ("使用PDF格式", "pdf"),
    ("It takes\n 12 \n hours", "12 hours"),
]
NOT_HELD = [
    ("It was in 2024.", "24"),
    ("It is 3.24.", "24"),
    ("It is 24.5.", "24"),
    ("At 24:30.", "24"),
    ("It costs 1,240.", "240"),
    ("The 24th day", "24"),
    ("A theatre", "heat"),
    ("24 working days", "24 days"),
    ("Denver", "Denver Broncos"),
    ("2024年", "24年"),
    ("24天", "2"),
    ("共十三天", "三天"),
    ("三十五天", "三十"),
    ("售价3万元", "3"),
    ("PDFS格式", "pdf"),
    ("anything", "..."),
    ("anything", ""),
    ("", "24"),
]


@pytest.mark.parametrize(("answer", "gold"), HELD)
def test_a_gold_answer_stands_in_the_answer(answer: str, gold: str) -> None:
    assert contains(answer, gold)


@pytest.mark.parametrize(("answer", "gold"), NOT_HELD)
def test_a_part_of_a_token_is_not_the_gold_answer(answer: str, gold: str) -> None:
    assert not contains(answer, gold)


@given(st.integers(0, 10**7), st.sampled_from(["It costs {} dollars.", "共{}元。", "({})"]))
def test_numbers_stand_with_and_without_separators_and_never_inside_others(number: int, frame: str) -> None:
    plain, separated = str(number), f"{number:,}"
    assert contains(frame.format(separated), plain)
    assert contains(frame.format(plain), separated)
    assert not contains(frame.format(f"9{plain}"), plain)
    assert not contains(frame.format(f"{plain}9"), plain)


def test_of_each_part_one_wording_is_wanted() -> None:
    question = Question("a", "?", answers=("900 and 600",), parts=(("900", "nine hundred"), ("600",)))
    for answer, wanted in [("900 now, 600 before", 1.0), ("nine hundred; 600", 1.0), ("900 dollars", 0.0)]:
        found = measure([question], {"a": Outcome("a", answered=True, answer=answer)}, ["answer_contains", "correct"])
        assert found == {"answer_contains": {"a": wanted}, "correct": {"a": wanted}}


# -- right or not


LONG = "The ferry leaves the northern pier each morning at seven and comes back to town late every evening"
QUOTE = Cited(0, 1, "ferry", None, "The ferry leaves the northern pier each morning.", "", True)


def answered(text: str, *cited: Cited) -> Outcome:
    return Outcome("a", answered=True, answer=text, cited=cited)


def test_short_and_long_gold_answers() -> None:
    twelve = "one two three four five six seven eight nine ten eleven twelve"
    assert is_short(f"The {twelve}.", wide=False)
    assert not is_short(f"{twelve} thirteen", wide=False)
    assert is_short("港" * 20 + "。", wide=True)
    assert not is_short("港" * 21, wide=True)


def test_a_long_gold_answer_is_given_by_half_of_its_tokens() -> None:
    question = Question("a", "?", answers=(LONG,))
    assert is_correct(question, answered(" ".join(LONG.split()[:10])))
    assert not is_correct(question, answered(" ".join(LONG.split()[:5])))
    assert not is_correct(question, Outcome("a", answered=False, answer=LONG))


def test_a_quoted_gold_sentence_makes_a_long_answer_right_and_no_short_one() -> None:
    snippet = ("The ferry leaves the northern pier each morning.",)
    assert is_correct(Question("a", "?", answers=(LONG,), snippets=snippet), answered("It does.", QUOTE))
    assert is_correct(Question("a", "?", snippets=snippet), answered("It does.", QUOTE))
    assert not is_correct(Question("a", "?", answers=("24", LONG), snippets=snippet), answered("It does.", QUOTE))
    assert not is_correct(Question("a", "?", answers=(LONG,)), answered("It does.", QUOTE))


def test_what_has_no_gold_cannot_be_judged() -> None:
    found = measure([Question("a", "?", documents=("d",))], {"a": answered("It does.")})
    assert found["useful"] == found["answered_correct"] == found["correct"] == found["token_f1"] == {}
    assert found["false_refusal"] == {"a": 0.0}
