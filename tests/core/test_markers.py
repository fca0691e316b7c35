from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.core.markers import SentenceStream, make_keys, parse_sentence
from app.core.types import Draft

KNOWN = frozenset({"e7f1", "e2a3"})


def read(text: str, size: int) -> list[Draft]:
    stream = SentenceStream(KNOWN)
    found = [draft for at in range(0, len(text), size) for draft in stream.feed(text[at : at + size])]
    return found + list(stream.close())


def cited(text: str, size: int = 1) -> list[tuple[str, tuple[str, ...]]]:
    return [(draft.text, draft.keys) for draft in read(text, size)]


@pytest.mark.parametrize(
    ("text", "plain", "keys", "dropped"),
    [
        ("It is old [e7f1].", "It is old.", ("e7f1",), ()),
        ("It is old. [e7f1]", "It is old.", ("e7f1",), ()),
        ("It is old. [e7f1].", "It is old.", ("e7f1",), ()),
        ("It is old [e7f1][e2a3].", "It is old.", ("e7f1", "e2a3"), ()),
        ("It is old [e7f1, e2a3].", "It is old.", ("e7f1", "e2a3"), ()),
        ("It is old [e7f1 and e2a3].", "It is old.", ("e7f1", "e2a3"), ()),
        ("It is old [E7F1; e7f1].", "It is old.", ("e7f1",), ()),
        ("It is old (e7f1).", "It is old.", ("e7f1",), ()),
        ("It is old [key e7f1].", "It is old.", ("e7f1",), ()),
        ("它很旧【e7f1】。", "它很旧。", ("e7f1",), ()),
        ("它很旧［e7f1，e2a3］。", "它很旧。", ("e7f1", "e2a3"), ()),
        ("It is old [3] [1, 2] [e9z9].", "It is old.", (), ("3", "1", "2", "e9z9")),
        ("It is old [^4].", "It is old.", (), ("4",)),
        ("The clock [e7f1] is old.", "The clock is old.", ("e7f1",), ()),
        ("See [the manual] and (page 3).", "See [the manual] and (page 3).", (), ()),
        ("Wait... [e7f1]", "Wait...", ("e7f1",), ()),
        ("The list is ⟦a, b⟧. [e7f1]", "The list is [a, b].", ("e7f1",), ()),
    ],
)
def test_markers_come_off(text: str, plain: str, keys: tuple[str, ...], dropped: tuple[str, ...]) -> None:
    assert parse_sentence(text, KNOWN) == Draft(plain, keys, dropped)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 1000])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is old. [e7f1] It weighs 41 kg. [e2a3]", [("It is old.", ("e7f1",)), ("It weighs 41 kg.", ("e2a3",))]),
        ("It is old.[e7f1] It weighs 41 kg.[e2a3]", [("It is old.", ("e7f1",)), ("It weighs 41 kg.", ("e2a3",))]),
        ("It is old [e7f1]. It weighs 41 kg [e2a3].", [("It is old.", ("e7f1",)), ("It weighs 41 kg.", ("e2a3",))]),
        ("It is old. [e7f1] [e2a3]\nEnd.", [("It is old.", ("e7f1", "e2a3")), ("End.", ())]),
        ("It is old.\n[e7f1]\nEnd.", [("It is old.", ("e7f1",)), ("End.", ())]),
        ("它很旧。[e7f1]它重41公斤。[e2a3]", [("它很旧。", ("e7f1",)), ("它重41公斤。", ("e2a3",))]),
        ("It costs 3.50 euros. [e7f1] v2.1 is e.g. new. [e2a3]", [
            ("It costs 3.50 euros.", ("e7f1",)), ("v2.1 is e.g. new.", ("e2a3",)),
        ]),
        ("Dr. Lee wrote\nit down. [e7f1]\n\nEnd.", [("Dr. Lee wrote\nit down.", ("e7f1",)), ("End.", ())]),
        ("- One [e7f1]\n- Two [e2a3]", [("- One", ("e7f1",)), ("- Two", ("e2a3",))]),
        ("day | note\nMon. | No. 3 [e7f1]\n", [("day | note", ()), ("Mon. | No. 3", ("e7f1",))]),
        ("A <b. C > d.", [("A <b.", ()), ("C > d.", ())]),
    ],
)  # fmt: skip
def test_keys_belong_to_the_sentence_before_them(
    text: str, expected: list[tuple[str, tuple[str, ...]]], size: int
) -> None:
    assert cited(text, size) == expected


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "<think>SECRET one. SECRET two.</think>It is old. [e7f1] End.",
        "It is old. [e7f1] <think>SECRET. SECRET</think>End.",
        "It is old. [e7f1] End.<think>SECRET one. SECRET two.",
        "It is old. [e7f1] End.<THINKING>SECRET one. SECRET two.</Thinking>",
        "<think>SECRET</think>It is old. [e7f1]<think>SECRET</think> End.",
    ],
)
def test_thought_is_never_given(text: str, size: int) -> None:
    assert cited(text, size) == [("It is old.", ("e7f1",)), ("End.", ())]


def test_a_closing_tag_alone_drops_what_is_still_held() -> None:
    assert cited("I think it is old</think>It is old. [e7f1]", 1000) == [("It is old.", ("e7f1",))]


def test_a_sentence_is_given_as_soon_as_the_next_has_begun() -> None:
    stream = SentenceStream(KNOWN)
    assert [draft.text for draft in stream.feed("It is old. [e7f1] I")] == ["It is old."]


def test_thousands_of_sentences_in_one_piece() -> None:
    assert len(read("It is old. " * 3000, 40_000)) == 3000


PIECES = st.sampled_from(
    ["It is old", "Dr", "3", "e.g", "x", "它很旧", "41", ". ", ".", "。", "! ", "？", "\n", "\n\n", " ", "- ",
     "[e7f1]", " [e2a3]", "[3]", "[note]", "[", "]", "(e7f1)", "<think>", "</think>", "<", ", ", "\"", "”", "…"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=25).map("".join), st.integers(1, 9))
@example("A. [e7f1]. B", 1)
def test_pieces_do_not_change_the_sentences(text: str, size: int) -> None:
    text = text.replace("</think>", "") if "<think>" not in text else text
    assert read(text, size) == read(text, 3)


@given(st.integers(0, 200), st.text(max_size=8))
def test_keys_are_unique_stable_and_opaque(count: int, seed: str) -> None:
    keys = make_keys(count, seed)
    assert len(set(keys)) == count
    assert keys == make_keys(count, seed)
    assert all(len(key) >= 4 and key[0] == "e" and key.isalnum() for key in keys)


def test_keys_differ_between_runs() -> None:
    assert not set(make_keys(20, "one")) & set(make_keys(20, "two"))
