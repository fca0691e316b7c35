"""Chunks are the document, cut: nothing lost, nothing twice, nothing across a heading."""

from __future__ import annotations

import textwrap
import time
from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.chunk import MAX_TOKENS, TARGET_TOKENS, chunk_document, heading_paths, searchable_text, size
from ingest.read import read
from ingest.types import Chunk, Heading, Page, ReadResult, Span

MARKDOWN = """Before any heading.

# Leave

Every employee has 24 days.

- carried over: five
- lost: the rest

## Sick leave

| days | pay |
|------|-----|
| 1-30 | all |

# 年假

年休假为七天。结转五天。
"""


@st.composite
def documents(draw: st.DrawFn) -> ReadResult:
    """Draw a text with headings and blocks anywhere, blocks in order and apart."""
    pieces = st.text("ab年。. \n\U00020bb7", max_size=60) | st.sampled_from(
        ["x" * 1500, "年" * 500, "One. " * 300, "\n\n"]
    )
    text = "".join(draw(st.lists(pieces, max_size=8)))
    places = st.integers(0, len(text))
    starts = sorted(draw(st.sets(places, max_size=4)))
    edges = sorted(draw(st.sets(places, max_size=10)))
    return ReadResult(
        text=text,
        media_type="text/plain",
        headings=tuple(Heading(draw(st.integers(1, 3)), f"h{start}", start) for start in starts),
        blocks=tuple(Span(left, right) for left, right in list(pairwise(edges))[::2]),
    )


@given(documents())
def test_chunks_are_the_text_in_order_and_whole(result: ReadResult) -> None:
    chunks = chunk_document("d", 1, result)
    assert all(chunk.text == chunk.span.of(result.text) for chunk in chunks)
    assert all(one.span.end <= other.span.start for one, other in pairwise(chunks))
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert "".join("".join(chunk.text.split()) for chunk in chunks) == "".join(result.text.split())


@given(documents())
def test_no_chunk_crosses_a_heading_or_is_too_long(result: ReadResult) -> None:
    for chunk in chunk_document("d", 1, result):
        assert not any(chunk.span.start < heading.start < chunk.span.end for heading in result.headings)
        assert size(chunk.text) <= MAX_TOKENS


@given(documents())
def test_ids_are_unique_and_follow_from_document_version_and_place(result: ReadResult) -> None:
    ids = [chunk.id for chunk in chunk_document("d", 1, result)]
    assert len(set(ids)) == len(ids)
    assert ids == [chunk.id for chunk in chunk_document("d", 1, result)]
    others = {chunk.id for chunk in [*chunk_document("d", 2, result), *chunk_document("e", 1, result)]}
    assert not others & set(ids)


def test_equal_paragraphs_are_two_chunks() -> None:
    text = "# A\n\nThe same.\n\n# A\n\nThe same.\n"
    one, other = chunk_document("d", 1, read(text.encode(), "x.md"))
    assert one.text == other.text
    assert one.id != other.id


def test_markdown_is_cut_at_its_headings() -> None:
    chunks = chunk_document("d", 1, read(MARKDOWN.encode(), "x.md"))
    assert [chunk.headings for chunk in chunks] == [(), ("Leave",), ("Leave", "Sick leave"), ("年假",)]
    assert [chunk.text.splitlines()[0] for chunk in chunks] == [
        "Before any heading.",
        "# Leave",
        "## Sick leave",
        "# 年假",
    ]


def test_a_long_paragraph_is_cut_at_sentence_ends() -> None:
    text = "The oil is changed every five hundred hours. " * 60
    chunks = chunk_document("d", 1, read(text.encode(), "x.txt"))
    assert len(chunks) > 1
    assert all(chunk.text.endswith("hours.") for chunk in chunks)
    assert all(size(chunk.text) <= TARGET_TOKENS for chunk in chunks)


def test_short_paragraphs_are_gathered() -> None:
    text = "\n\n".join(f"Paragraph {number}." for number in range(10))
    assert len(chunk_document("d", 1, read(text.encode(), "x.md"))) == 1


@pytest.mark.parametrize("text", ["x" * 1_000_000, "年" * 300_000], ids=["latin", "han"])
def test_a_megabyte_without_a_place_to_cut_takes_seconds_at_most(text: str) -> None:
    started = time.process_time()
    chunks = chunk_document("d", 1, ReadResult(text, "text/plain", blocks=(Span(0, len(text)),)))
    assert time.process_time() - started < 4
    assert sum(len(chunk.text) for chunk in chunks) == len(text)


def test_ten_thousand_headings_take_seconds_at_most() -> None:
    text = "# A\n" + "## B\nc\n" * 10_000
    lines = list(accumulate((len(line) for line in text.splitlines(keepends=True)), initial=0))
    headings = [Heading(2, "B", start) for start in lines[1:-1:2]]
    blocks = tuple(Span(left, right - 1) for left, right in pairwise(lines))
    result = ReadResult(text, "text/markdown", headings=(Heading(1, "A", 0), *headings), blocks=blocks)
    started = time.process_time()
    chunks = chunk_document("d", 1, result)
    assert time.process_time() - started < 4
    assert len(chunks) == 10_001
    assert {chunk.headings for chunk in chunks[1:]} == {("A", "B")}


def test_pages_of_a_chunk_are_those_of_its_ends() -> None:
    text = "First page.\n\nSecond page.\n\nThird page."
    edges = [0, text.index("Second"), text.index("Third"), len(text)]
    pages = tuple(Page(number, str(number), Span(*ends)) for number, ends in enumerate(pairwise(edges), 1))
    (chunk,) = chunk_document("d", 1, ReadResult(text, "application/pdf", pages=pages))
    assert (chunk.page, chunk.page_end) == (1, 3)
    (plain,) = chunk_document("d", 1, ReadResult(text, "text/plain"))
    assert (plain.page, plain.page_end) == (None, None)


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([1, 2, 3], ["0", "01", "012"]),
        ([1, 2, 1], ["0", "01", "2"]),
        ([2, 3, 2, 3], ["0", "01", "2", "23"]),
        ([3, 1, 3, 2], ["0", "1", "12", "13"]),
        ([], []),
    ],
)
def test_a_heading_path_holds_the_open_headings(levels: list[int], expected: list[str]) -> None:
    headings = [Heading(level, str(number), number) for number, level in enumerate(levels)]
    assert ["".join(path) for path in heading_paths(headings)] == expected


def test_what_is_searched_has_title_and_headings_once() -> None:
    chunk = Chunk("c", "d", 1, 0, Span(0, 4), "text", headings=("Leave", "Sick"))
    assert searchable_text(chunk, "Handbook") == "Handbook > Leave > Sick\ntext"
    assert searchable_text(chunk, "Leave") == "Leave > Sick\ntext"


def test_a_sentence_that_is_wrapped_is_not_cut_at_the_end_of_a_line() -> None:
    sentences = [
        f"Sentence number {number} tells of the ferry, its berth and its tide, at some length." for number in range(60)
    ]
    wrapped = "\n".join(textwrap.wrap(" ".join(sentences), 72))
    chunks = chunk_document("d", 1, read(wrapped.encode(), "x.txt"))
    assert len(chunks) > 3
    for chunk in chunks:
        assert chunk.text.startswith("Sentence number")
        assert chunk.text.endswith(".")


def test_lines_without_sentences_are_cut_between_lines() -> None:
    lines = [f"key_{number} = value_{number} + other_{number} * factor_{number}" for number in range(120)]
    text = "\n".join(lines)
    chunks = chunk_document("d", 1, ReadResult(text, "text/plain", blocks=(Span(0, len(text)),)))
    assert len(chunks) > 3
    assert [line for chunk in chunks for line in chunk.text.split("\n")] == lines
