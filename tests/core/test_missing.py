from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.missing import coverage, missing_terms, speaks_to

ENGLISH = "The Orion was built by Ada Lane in 1703. It weighs 41 kg and has three masts."
CHINESE = "猎户座号由李安于1703年建造，重41公斤，有三根桅杆。配置项 umask 的默认值是 022。"


@pytest.mark.parametrize(
    ("question", "text", "missing"),
    [
        pytest.param("Who built the Orion?", ENGLISH, (), id="all there"),
        pytest.param("How much does the Orion weigh?", ENGLISH, (), id="another form"),
        pytest.param("Who built the Vega?", ENGLISH, ("Vega",), id="another name"),
        pytest.param("What happened to the Orion in 1850?", ENGLISH, ("1850", "happened"), id="another year"),
        pytest.param("Has the Orion 3 masts?", ENGLISH, (), id="a number in words"),
        pytest.param("What is part AB-1703?", ENGLISH, ("AB-1703", "part"), id="an identifier, whole"),
        pytest.param("猎户座号重多少公斤？", CHINESE, (), id="Chinese, all there"),
        pytest.param("猎户座号在1850年怎么了？", CHINESE, ("1850",), id="Chinese, another year"),
        pytest.param("umask 的默认值是多少？", CHINESE, (), id="an identifier"),
        pytest.param("chmod 的默认值是多少？", CHINESE, ("chmod",), id="another identifier"),
        pytest.param("谁建造了 Orion？", ENGLISH, (), id="across: a Latin name"),
        pytest.param("Vega 是谁建造的？", ENGLISH, ("Vega",), id="across: another Latin name"),
        pytest.param("谁在1850年建造了它？", ENGLISH, ("1850",), id="across: a number"),
        pytest.param("Who built it?", CHINESE, (), id="across: nothing can be judged"),
        pytest.param("Who built the Vega?", CHINESE, (), id="across: an English name may be translated"),
    ],
)
def test_missing(question: str, text: str, missing: tuple[str, ...]) -> None:
    assert missing_terms(question, [text]) == missing


def test_what_is_asked_beside_the_names() -> None:
    assert missing_terms("What is the top speed of the Orion?", [ENGLISH]) != ()


def test_any_of_the_texts_will_do() -> None:
    assert missing_terms("Did the Orion meet the Vega?", [ENGLISH, "The Vega did meet it."]) == ()


def test_a_number_beside_a_comma_stands_as_it_is_written() -> None:
    assert missing_terms("0,1", ["0,1"]) == ()
    assert missing_terms("Is it 0,1?", ["It is 10,12."]) != ()


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_text_misses_nothing_of_itself(question: str, text: str) -> None:
    assert 0.0 <= coverage(question, [text]) <= 1.0
    assert missing_terms(question, [question, text]) == ()


@pytest.mark.parametrize(
    ("question", "text", "missing"),
    [
        ("What is the top speed of the Alder Pioneer?", "The Alder Pioneer is a ship.", ("top", "speed")),
        ("员工食堂的午餐补贴是多少？", "员工请假须申请。", None),
    ],
)
def test_what_is_missing_is_said_in_the_questions_own_words(
    question: str, text: str, missing: tuple[str, ...] | None
) -> None:
    found = missing_terms(question, [text])
    assert found
    assert all(word in question for word in found)
    assert missing is None or found == missing


@pytest.mark.parametrize(
    ("question", "text", "answers"),
    [
        ("What is the top speed of MV Alder Pioneer?", "MV Alder Pioneer has 14 reefer sockets.", False),
        ("What is the top speed of MV Alder Pioneer?", "The top speed of the ship is 14 knots.", True),
        ("夜间值守人员的夜班津贴是多少？", "接班人员应提前15分钟到岗。", False),
        ("夜班津贴是多少？", "夜班津贴为每夜30元。", True),
        ("What is the top speed?", "最高航速为14节。", True),
    ],
)
def test_a_sentence_speaks_to_what_is_asked_beside_the_names(question: str, text: str, answers: bool) -> None:
    assert speaks_to(question, text) is answers
