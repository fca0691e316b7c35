from __future__ import annotations

from itertools import pairwise

import pytest

from ingest.read import read
from ingest.read.pdf_context import Neighbours
from ingest.read.pdf_text import pdf_boxes
from tests.ingest.pdf_samples import listed

TEXTS = [
    "It began in the spring.\nThe town decided to build a",
    "hall for its people.\nNobody had asked them whether they",
    "wanted one.\nThe mayor spoke.\nThen all was built by",
    "the same firm as the bridge.\nIt stands to this day.",
    "Later a second one was added.\nIt burnt down.",
]


def running(pages: list[str]) -> list[list[str]]:
    """Return the running lines of each page."""
    near = Neighbours(pages.__getitem__, len(pages))
    return [[span.of(page) for span in near.running_lines(index)] for index, page in enumerate(pages)]


def test_titles_and_page_numbers_go_after_their_first_page() -> None:
    pages = [f"A history of halls\n{text}\nPage {number}" for number, text in enumerate(TEXTS, 1)]
    assert running(pages) == [["Page 1"], *(["A history of halls", f"Page {number}"] for number in (2, 3, 4, 5))]


def test_a_title_in_a_sentence_goes_also_where_it_is_the_first() -> None:
    pages = [TEXTS[0], *(f"A history of halls\n{text}" for text in TEXTS[1:])]
    assert running(pages) == [[], *[["A history of halls"]] * 4]


def test_left_and_right_pages_have_their_own() -> None:
    pages = [f"{('Author', 'The halls')[number % 2]}\n{text}" for number, text in enumerate([*TEXTS, *TEXTS])]
    assert running(pages)[4:] == [["Author"], ["The halls"]] * 3


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["Note", "Other", "Note", "More", "Some", "Note"], id="a heading that comes now and then"),
        pytest.param(["Chapter 1", "Walls", "Chapter 2", "Doors", "Chapter 3"], id="numbers that count no pages"),
        pytest.param(["17", "4", "230", "12", "5"], id="numbers of a table"),
        pytest.param(["A hall", "A hall"], id="two pages"),
    ],
)
def test_lines_that_only_look_alike_stay(lines: list[str]) -> None:
    assert not any(running([f"{line}\n{text}" for line, text in zip(lines, [*TEXTS, TEXTS[0]], strict=False)]))


def test_bare_page_numbers_go() -> None:
    assert running([f"{text}\n{number}" for number, text in enumerate(TEXTS, 7)]) == [[str(n)] for n in range(7, 12)]


def test_titles_and_feet_of_several_lines_go() -> None:
    pages = [f"A history\nof halls\nVolume 2\n{text}\nThe press\nA town\nPage {n}" for n, text in enumerate(TEXTS)]
    assert [len(lines) for lines in running(pages)[1:]] == [6] * 4


def test_pages_that_are_alike_as_a_whole_stay() -> None:
    assert not any(running(["Hello world"] * 5))


def test_a_sentence_over_two_pages_has_no_title_inside_and_its_boxes_are_right() -> None:
    data = listed([["A history of halls", *text.split("\n"), f"{number} / 5"] for number, text in enumerate(TEXTS, 1)])
    result = read(data, "a.pdf")
    assert any("decided to build a\n\nhall for its people." in block.of(result.text) for block in result.blocks)
    assert result.text.count("A history of halls") == 1
    assert [page.number for page in result.pages] == [1, 2, 3, 4, 5]
    assert all(left.span.end <= right.span.start for left, right in pairwise(result.pages))
    second = result.pages[1].span.of(result.text)
    (box,) = pdf_boxes(data, 2, second.index("people"), second.index("people") + 6)
    assert 740 < box.y0 < 760 - 11  # the second line of the page, below the title that is no more in the text


@pytest.mark.parametrize(
    ("left", "right", "elsewhere", "kept"),
    [
        pytest.param("infor", "mation", "The information is here.", False, id="the whole word is known"),
        pytest.param("hyphen", "ation", "Nothing.", False, id="nothing is known"),
        pytest.param("e", "mail", "Nothing.", True, id="a single letter"),
        pytest.param("on", "line", "They were on the line, on-line.", True, id="it is written so elsewhere"),
        pytest.param("well", "known", "They were well and he had known.", True, id="two words"),
        pytest.param("in", "side", "They were in one side.", False, id="a small word and another"),
        pytest.param("time", "consuming", "There was time.", True, id="the second half of many compounds"),
    ],
)
def test_the_hyphen_at_a_line_end(left: str, right: str, elsewhere: str, kept: bool) -> None:
    pages = [f"It was {left}\ufffe{right} to us.", elsewhere]
    assert Neighbours(pages.__getitem__, 2).keeps_hyphen(0, left, right) is kept
