"""Other ways to cut: every character that is not white space is in one chunk, in order, and sizes hold."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.cutting import cutter
from ingest.chunk import chunk_document, size
from ingest.embed.hashing import HashingEmbedder
from ingest.read import read
from ingest.types import ReadResult

WAYS = ("structure", "fixed", "recursive", "semantic")
EMBEDDER = HashingEmbedder()
TEXT = st.text(alphabet="ab .。\n#中文!？ ", max_size=400)


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=60, deadline=None)
@given(TEXT, st.integers(4, 60))
def test_every_way_covers_the_text_in_order(way: str, text: str, target: int) -> None:
    spans = list(cutter(way, EMBEDDER)(ReadResult(text, "text/plain"), target))
    assert all(one.end <= other.start for one, other in pairwise(spans))
    assert "".join("".join(one.of(text).split()) for one in spans) == "".join(text.split())


def test_a_semantic_break_lies_where_the_subject_changes() -> None:
    boats = [f"The ferry leaves berth {number} with the tide." for number in range(8)]
    leave = [f"Every employee takes {number} days of annual holiday leave." for number in range(8)]
    text = " ".join([*boats, *leave])
    chunks = [one.of(text) for one in cutter("semantic", EMBEDDER)(ReadResult(text, "text/plain"), 100)]
    assert sum("ferry" in one and "holiday" in one for one in chunks) == 0


@pytest.mark.parametrize("way", ["fixed", "recursive"])
def test_no_chunk_is_much_larger_than_the_target(way: str) -> None:
    text = ("word " * 40 + "\n\n") * 5 + "字" * 500
    for span in cutter(way, EMBEDDER)(ReadResult(text, "text/plain"), 50):
        assert size(span.of(text)) <= 51


def test_only_the_programs_own_way_keeps_headings_apart() -> None:
    result = read(b"# A\n\nOne.\n\n# B\n\nTwo.\n", "x.md")
    assert len(chunk_document("d", 1, result)) == 2
    assert len(chunk_document("d", 1, result, 180, cutter("recursive", EMBEDDER))) == 1
