from __future__ import annotations

import re
import time
from itertools import pairwise

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
        ("It is old [(e7f1)].", "It is old.", ("e7f1",), ()),
        ("It is old [(e7f1)(e2a3)].", "It is old.", ("e7f1", "e2a3"), ()),
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


@pytest.mark.parametrize("size", [1, 40_000])
@pytest.mark.parametrize("unit", ["It is old. ", "It is old [e7f1].\n", "它很旧。[e7f1]"])
def test_thousands_of_sentences(unit: str, size: int) -> None:
    assert len(read(unit * 3000, size)) == 3000


@pytest.mark.parametrize("size", [1, 40_000])
@pytest.mark.parametrize("unit", ["ab,\nc ", "e.g. ", "v1.5 ", "word ", "(a. b) ", "[", "[3] ", "它很旧，", "…", "\n"])
def test_a_text_without_an_end_takes_no_longer_for_what_came_before(unit: str, size: int) -> None:
    begun = time.process_time()
    read(unit * (20_000 // len(unit)), size)
    assert time.process_time() - begun < 10


def test_a_table_row_that_comes_later_does_not_join_what_was_given() -> None:
    assert cited("It is old. [e7f1] See a | b.", 1) == cited("It is old. [e7f1] See a | b.", 1000)


PIECES = st.sampled_from(
    ["It is old", "Dr", "3", "e.g", "x", " b", "No", "它很旧", "41", ". ", ".", "。", "! ", "？", "\n", "\n\n", " ",
     "- ", "1. ", "# ", "|", " | ", "[e7f1]", " [e2a3]", "【e7f1】", "（e2a3）", "[e7f1, e2a3]", "[3]", "[e9zz]",
     "[note]", "[", "]", "(e7f1)", "(", "<think>", "</think>", "<THINKING>", "</thinking>", "<", ", ", "\"", "”", "…"]
)  # fmt: skip


def without_stray_tags(text: str) -> str:
    """Leave out a closing tag that nothing opened: what it drops depends on what was given before it came."""
    kept, thinking = [], False
    for part in re.split(r"(</?think(?:ing)?>)", text, flags=re.IGNORECASE):
        closing = part.lower() in ("</think>", "</thinking>")
        if closing and not thinking:
            continue
        thinking = not closing and (thinking or part.lower() in ("<think>", "<thinking>"))
        kept.append(part)
    return "".join(kept)


@given(st.lists(PIECES, max_size=25).map("".join).map(without_stray_tags), st.data())
@example("A. [e7f1]. B", None)
@example("A [(e7f1)] B. [(e2a3)(e7f1)] C", None)
def test_pieces_do_not_change_the_sentences(text: str, data: st.DataObject | None) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=9))) if data else [3, 5]
    pieces = [text[start:end] for start, end in pairwise([0, *cuts, len(text)])]
    stream = SentenceStream(KNOWN)
    cut = [draft for piece in pieces for draft in stream.feed(piece)] + list(stream.close())
    assert cut == read(text, len(text) + 1) == read(text, 1)


@given(st.integers(0, 200), st.text(max_size=8))
def test_keys_are_unique_stable_and_opaque(count: int, seed: str) -> None:
    keys = make_keys(count, seed)
    assert len(set(keys)) == count
    assert keys == make_keys(count, seed)
    assert all(len(key) >= 4 and key[0] == "e" and key.isalnum() for key in keys)


def test_keys_differ_between_runs() -> None:
    assert not set(make_keys(20, "one")) & set(make_keys(20, "two"))
