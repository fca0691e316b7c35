from __future__ import annotations

import random

import pypdfium2
import pytest

from ingest.read import read
from ingest.read.pdf_text import LOCK, PageTexts, is_garbled, opened, pdf_boxes
from tests.ingest.pdf_samples import Line, drawn, vertical_font, with_letters

LEFT = ["The committee met in the", "spring of that year and", "decided to build a hall", "for all of its members,",
        "and to pay for it with the infor-", "mation that it sold."]  # fmt: skip
RIGHT = ["Another column tells how", "the money was found and", "who paid for all of the", "work that had been done",
         "in the two years that had", "passed since then."]  # fmt: skip


def in_turns(left: list[str], right: list[str], x: float = 320) -> list[Line]:
    return [line for row, pair in enumerate(zip(left, right, strict=True))
            for line in ((72, 700 - 14 * row, pair[0]), (x, 700 - 14 * row, pair[1]))]  # fmt: skip


def bounded(data: bytes, start: int, end: int) -> str:
    """Return what PDFium finds in the boxes of a part of the first page."""
    boxes = pdf_boxes(data, 1, start, end)
    with LOCK, opened(data) as document:
        page = document[0].get_textpage()
        return " ".join(page.get_text_bounded(box.x0, box.y0, box.x1, box.y1) for box in boxes).strip()


def test_two_columns_drawn_in_turns_are_read_one_after_the_other() -> None:
    title, end = (72.0, 720.0, "A title over the whole of the page, from its left to its right edge"), (
        72.0, 560.0, "And a last line over the whole of the page, from its left to its right edge"
    )  # fmt: skip
    data = drawn([[title, *in_turns(LEFT, RIGHT), end]])
    text = read(data, "a.pdf").text
    joined = " ".join(LEFT).replace("infor- mation", "information")
    assert " ".join(text.split()) == f"{title[2]} {joined} {' '.join(RIGHT)} {end[2]}"
    start = text.index("decided")
    assert bounded(data, start, start + len("decided to build")) == "decided to build"
    assert [round(box.y0) for box in pdf_boxes(data, 1, text.index("members"), text.index("members") + 7)] == [658]


def test_a_table_of_two_columns_stays_in_rows() -> None:
    left = [f"Name of the person number {row}" for row in range(8)]
    right = [f"Place where number {row} lives" for row in range(8)]
    assert read(drawn([in_turns(left, right)]), "a.pdf").text.split("\n")[0] == f"{left[0]} {right[0]}"


def test_a_table_of_short_cells_stays_in_rows() -> None:
    left = [f"Term {letter}" for letter in "abcdefgh"]
    right = [f"what {letter} is for, in short" for letter in "abcdefgh"]
    assert read(drawn([in_turns(left, right)]), "a.pdf").text.split("\n")[1] == "Term b what b is for, in short"


def test_vertical_columns_are_read_from_the_right() -> None:
    columns = ["日本語の文章は縦書きで", "書くことができます。", "これは三行目です。"]
    data = drawn([[(400 - 30 * number, 700, column) for number, column in enumerate(columns)]], vertical_font(), 14)
    text = read(data, "a.pdf").text
    assert text.split("\n") == columns
    (box,) = pdf_boxes(data, 1, text.index("書くこと"), text.index("書くこと") + 4)
    assert box.y1 - box.y0 > 2 * (box.x1 - box.x0)


def test_a_glyph_of_two_arabic_letters_is_not_turned_round() -> None:
    letters = {"a": "\u0627", "L": "\u0644\u0625", "n": "\u0646"}
    assert read(with_letters(drawn([[(72, 700, "nLa")]]), letters), "a.pdf").text == "\u0627\u0644\u0625\u0646"


@pytest.mark.parametrize(
    ("written", "text"),
    [
        pytest.param("\ufb01", "first", id="a ligature"),
        pytest.param("\ufe91", "\u0628rst", id="a shape of a letter"),
        pytest.param("\u0640\u0640\u0640", "rst", id="what stretches words"),
    ],
)
def test_letters_are_those_of_words(written: str, text: str) -> None:
    found = read(with_letters(drawn([[(72, 700, "xrst")]]), {"x": written}), "a.pdf").text
    assert sorted(found) == sorted(text)


def test_a_long_string_is_read_whole() -> None:
    words = " ".join(f"w{number}" for number in range(9_000))
    data = drawn([[(10, 700, words)]], size=1)
    assert read(data, "a.pdf").text == words
    assert pdf_boxes(data, 1, 50_000, 50_010) == ()


def test_a_page_of_nameless_characters_counts_as_failed() -> None:
    letters = dict.fromkeys("abcdefghijklmnopqrstuvwxyz", "\ufffd")
    data = with_letters(drawn([[(72, 700, "a page of nameless characters only")]]), letters)
    result = read(data, "a.pdf")
    assert (result.text, result.failed_pages) == ("", (1,))
    assert not is_garbled("A bullet \uf0b7 or two \uf0b7 in a text of the common kind.")


def test_the_text_with_its_way_back_is_the_text() -> None:
    chosen = random.Random(1)
    pieces = ["infor\ufffe", "mation ", "e\u0301", "\ufb01", "word ", "\n", "\u0640\u0640", "\u200b", "Title 1\n"]
    lines = [[(72.0, 700.0 - 14 * row, "".join(chosen.choices(pieces, k=6))) for row in range(9)] for _ in range(5)]
    data = drawn([*lines, in_turns(LEFT, RIGHT)])
    with LOCK:
        document = pypdfium2.PdfDocument(data)
        texts = PageTexts(document)
        for index in range(len(document)):
            mapped = texts.mapped(index)
            assert mapped.text == texts.text(index)
            assert mapped.pieces[-1].source_end == len(texts.arranged(index).text)
        document.close()
