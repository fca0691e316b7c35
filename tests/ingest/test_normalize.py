from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.normalize import byte_runs, byte_span, normalize, normalized_text
from ingest.types import Span

TRICKY = st.sampled_from(
    [
        "\r\n",
        "\r",
        "\n",
        "\0",
        "\ufeff",
        "\u200b",
        "\u200d",
        "e\u0301",
        "e",
        "\u0301",
        "\u0323",
        "\xa0",
        "\u202e",
        "\U000e0041",
        "\ud800",
        "\u1100",
        "\u1161",
        "\u11a8",
        "中",
        "a",
        "\u0958",
        "\u0344",
        "\u2126",
        "\x0c",
        "😀",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(TRICKY, max_size=30).map("".join))
FILES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.lists(TRICKY.filter(lambda piece: piece != "\ud800"), max_size=30).map("".join),
)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        pytest.param("a\r\nb\rc", "a\nb\nc", id="line ends become LF"),
        pytest.param("\ufeffa\u200bb\u2060c", "abc", id="marks and zero-width spaces go"),
        pytest.param("a\u200db\u200cc", "a\u200db\u200cc", id="joiners stay"),
        pytest.param("a\0b\x07c\td\n", "abc\td\n", id="controls go, tab and line feed stay"),
        pytest.param("a\ud800b", "ab", id="half a surrogate pair goes"),
        pytest.param("x\U000e0049\U000e0067y\u202ez\u2066", "xyz", id="tags and bidirectional controls go"),
        pytest.param("e\u0301 ﬁ ２", "é ﬁ ２", id="NFC, not NFKC"),
        pytest.param("e\u200b\u0301", "é", id="what a removal brings together is composed"),
        pytest.param("a\xa0b", "a b", id="no-break space becomes a space"),
        pytest.param("a\x0cb", "a\nb", id="a form feed ends a line"),
    ],
)
def test_cleaning(text: str, clean: str) -> None:
    assert normalize(text).text == clean


@given(TEXTS)
def test_normalizing_twice_changes_nothing_more(text: str) -> None:
    once = normalize(text).text
    assert normalize(once).text == once
    assert unicodedata.is_normalized("NFC", once)


@given(TEXTS)
def test_the_fast_way_gives_the_same_text(text: str) -> None:
    assert normalized_text(text) == normalize(text).text


@given(TEXTS)
def test_composing_in_pieces_equals_composing_the_whole(text: str) -> None:
    once = normalize(text)
    assert unicodedata.normalize("NFC", once.text) == once.text


@given(TEXTS)
def test_pieces_cover_both_texts_and_verbatim_ones_agree(text: str) -> None:
    result = normalize(text)
    at = source_at = 0
    for piece in result.pieces:
        assert (piece.start, piece.source_start) == (at, source_at)
        at, source_at = piece.end, piece.source_end
        if piece.verbatim:
            assert result.text[piece.start : piece.end] == text[piece.source_start : piece.source_end]
    assert (at, source_at) == (len(result.text), len(text))


@given(FILES, st.sampled_from([("utf-8", 3), ("utf-8", 0), ("utf-16-le", 2), ("utf-32-be", 4), ("gb18030", 0)]))
def test_verbatim_runs_decode_to_their_text(source: str, kind: tuple[str, int]) -> None:
    encoding, mark = kind
    raw = b"\xff" * mark + source.encode(encoding)
    clean = normalize(source)
    runs = byte_runs(clean, source, raw, encoding, mark)
    assert runs is not None
    for run in runs:
        if run.verbatim:
            assert raw[run.byte_start : run.byte_end].decode(encoding) == clean.text[run.start : run.end]
    if clean.text:
        whole = byte_span(runs, Span(0, len(clean.text)), clean.text, encoding)
        assert whole is not None
        assert normalize(raw[whole[0] : whole[1]].decode(encoding)).text == clean.text


@given(FILES, st.data())
def test_any_span_comes_back_from_its_bytes(source: str, data: st.DataObject) -> None:
    raw = source.encode()
    clean = normalize(source)
    runs = byte_runs(clean, source, raw, "utf-8", 0)
    assert runs is not None
    start = data.draw(st.integers(0, len(clean.text)))
    end = data.draw(st.integers(start, len(clean.text)))
    found = byte_span(runs, Span(start, end), clean.text, "utf-8")
    if start == end:
        assert found is None
    else:
        assert found is not None
        assert clean.text[start:end] in normalize(raw[found[0] : found[1]].decode()).text


def test_a_shifting_encoding_has_no_byte_runs() -> None:
    raw = "日本".encode("iso2022_jp")
    assert byte_runs(normalize("日本"), "日本", raw, "iso2022_jp", 0) is None
