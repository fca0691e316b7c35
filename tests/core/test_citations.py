from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.citations import Ledger, joined, problems

POOL = [f"c{n}" for n in range(8)]
SENTENCES = st.lists(st.tuples(st.text(max_size=20), st.lists(st.sampled_from(POOL), max_size=4)), max_size=12)


def markers(text: str) -> list[int]:
    """Read an answer's markers by a regex of this test's own."""
    return [int(found) for found in re.findall(r"\[([0-9]+)\]", text)]


@given(SENTENCES, st.permutations(POOL))
def test_every_prefix_of_an_answer_is_a_valid_answer(sentences: list[tuple[str, list[str]]], pool: list[str]) -> None:
    ledger, answer = Ledger(), ""
    for index, (text, cited) in enumerate(sentences):
        before = ledger
        ledger, numbers, appended = ledger.commit(cited, pool)
        answer += joined(text, numbers, first=index == 0)
        assert ledger.chunk_ids == before.chunk_ids + appended
        assert list(appended) == sorted(appended, key=pool.index)
        assert list(numbers) == sorted(set(numbers))
        assert {ledger.chunk_ids[number - 1] for number in numbers} == set(cited)
        found = markers(answer)
        first_seen = list(dict.fromkeys(found))
        assert first_seen == list(range(1, len(ledger.chunk_ids) + 1))
        assert problems(answer, [{"number": number} for number in first_seen]) == []


@given(SENTENCES, st.sets(st.integers(0, 11)))
def test_a_removed_sentence_appends_nothing(sentences: list[tuple[str, list[str]]], removed: set[int]) -> None:
    kept = [one for index, one in enumerate(sentences) if index not in removed]
    ledgers = []
    for given_sentences in (kept, [one if index not in removed else ("", []) for index, one in enumerate(sentences)]):
        ledger = Ledger()
        for _, cited in given_sentences:
            ledger, _, _ = ledger.commit(cited, POOL)
        ledgers.append(ledger)
    assert ledgers[0] == ledgers[1]


def test_a_resumed_ledger_keeps_its_numbers() -> None:
    assert Ledger(("c5", "c2")).commit(["c0", "c2"], POOL) == (Ledger(("c5", "c2", "c0")), (2, 3), ("c0",))


def test_a_passage_outside_the_pool_comes_last() -> None:
    assert Ledger().commit(["x", "c3"], POOL)[2] == ("c3", "x")


@pytest.mark.parametrize(
    ("text", "numbers", "first", "expected"),
    [
        ("It is old.", (1, 2), True, "It is old.[1][2]"),
        ("It is old.", (1,), False, " It is old.[1]"),
        ("它很旧。", (1,), False, "它很旧。[1]"),
        ("See item [7].", (1,), True, "See item (7).[1]"),
    ],
)
def test_a_sentence_as_it_stands(text: str, numbers: tuple[int, ...], first: bool, expected: str) -> None:
    assert joined(text, numbers, first=first) == expected


@pytest.mark.parametrize(
    ("answer", "numbers", "words"),
    [
        ("A [1].", [2], "contiguous"),
        ("A [1] [2].", [1], "names no citation"),
        ("A [1].", [1, 2], "not used"),
        ("A [2] B [1].", [1, 2], "ascend"),
    ],
)
def test_what_is_wrong_is_said(answer: str, numbers: list[int], words: str) -> None:
    assert any(words in one for one in problems(answer, [{"number": number} for number in numbers]))
