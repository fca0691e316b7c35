from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.sentences import is_table_row, sentences, split_sentences

ALPHABET = st.sampled_from(
    [
        *"aB3.!?;:,'\"()[]|#-*•。！？；…，、”」）一的 \n\t\r\u3000\u00a0\u2028\x0b\x0c",
        "Dr. ",
        " | ",
        "\n\n",
        "1. ",
        "e.g. ",
    ]
)


@given(st.lists(ALPHABET, max_size=60).map("".join), st.booleans())
def test_every_visible_character_once_in_order(text: str, with_headings: bool) -> None:
    spans = sentences(text, text.splitlines()[::2] if with_headings else ())
    covered = [position for start, end in spans for position in range(start, end)]
    assert covered == sorted(set(covered))
    assert {position for position, ch in enumerate(text) if not ch.isspace()} <= set(covered)
    assert all(text[start:end] == text[start:end].strip() != "" for start, end in spans)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("One. Two! Three?", ["One.", "Two!", "Three?"], id="ends"),
        pytest.param("Dr. Lee came. He left.", ["Dr. Lee came.", "He left."], id="title"),
        pytest.param("See No. 5 and Fig. 3. Then go.", ["See No. 5 and Fig. 3.", "Then go."], id="No. and Fig."),
        pytest.param("The answer is no. We left.", ["The answer is no.", "We left."], id="no, not number"),
        pytest.param("In the U.S. Congress it failed. Yes.", ["In the U.S. Congress it failed.", "Yes."], id="U.S."),
        pytest.param("J. R. Smith wrote it. Good.", ["J. R. Smith wrote it.", "Good."], id="initials"),
        pytest.param("Use it, e.g. here. And i.e. there.", ["Use it, e.g. here.", "And i.e. there."], id="e.g."),
        pytest.param("It costs 3.50 euros. Really.", ["It costs 3.50 euros.", "Really."], id="decimal"),
        pytest.param("Version 1.2.3 is out. Get v2.0.", ["Version 1.2.3 is out.", "Get v2.0."], id="version"),
        pytest.param("It was 1999. Then it rained.", ["It was 1999.", "Then it rained."], id="ends in a number"),
        pytest.param('He said "Go." Then he left.', ['He said "Go."', "Then he left."], id="quotation"),
        pytest.param("(He left.) She stayed.", ["(He left.)", "She stayed."], id="parentheses"),
        pytest.param("Wait... What?", ["Wait...", "What?"], id="dots"),
        pytest.param("Visit example.com today. Bye.", ["Visit example.com today.", "Bye."], id="address"),
        pytest.param("他来了。她走了！真的？是；好。", ["他来了。", "她走了！", "真的？", "是；", "好。"], id="Han"),
        pytest.param("他说：“走。”她走了。", ["他说：“走。”", "她走了。"], id="Chinese quotation"),
        pytest.param("版本3.5已发布。Get it. 好。", ["版本3.5已发布。", "Get it.", "好。"], id="mixed"),
        pytest.param("# Title\nText here.", ["# Title", "Text here."], id="heading"),
        pytest.param("- one thing\n- two things\n* three", ["- one thing", "- two things", "* three"], id="bullets"),
        pytest.param("1. Open it.\n2. Close it.", ["1. Open it.", "2. Close it."], id="numbered"),
        pytest.param("a | b\n--- | ---\n1. x | 2. Y z. W", ["a | b", "--- | ---", "1. x | 2. Y z. W"], id="table"),
        pytest.param("A sentence that is broken\nover lines. Next.", [
            "A sentence that is broken\nover lines.", "Next.",
        ], id="a broken line"),
        pytest.param("One\n\nTwo", ["One", "Two"], id="paragraphs"),
        pytest.param("", [], id="nothing"),
    ],
)  # fmt: skip
def test_sentences(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


def test_a_known_heading_stands_for_itself() -> None:
    assert split_sentences("Annual leave\nis for all.", ["Annual leave"]) == [
        "Annual leave",
        "is for all.",
    ]


def test_rows() -> None:
    assert is_table_row("a | b")
    assert is_table_row("| a |")
    assert not is_table_row("a || b")
