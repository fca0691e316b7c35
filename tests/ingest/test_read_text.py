from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import IngestError, ReadError, Unsupported
from ingest.normalize import byte_span
from ingest.read import read, supported
from ingest.read.encoding import decode
from ingest.types import Span

CHINESE = "故宫博物院成立于1925年10月10日，是在明清两朝皇宫及其收藏的基础上建立起来的中国综合性博物馆。"
TRADITIONAL = "國立故宮博物院位於臺北市士林區，是臺灣最具規模的博物館，也是世界上重要的中國藝術史研究機構。"
JAPANESE = (
    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。"
    "何でも薄暗いじめじめした所で泣いていた事だけは記憶している。"
)
KOREAN = "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다."
FRENCH = "L'élève a été reçu à l'école où il était déjà allé l'année précédente, malgré la sévérité du maître."
GERMAN = "Die Prüfung der Anträge für die Gemeinde über das Jahr dauerte länger als üblich, schließlich größer."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "utf-8"),
        (CHINESE, "gb18030"),
        (CHINESE[:9], "gb18030"),
        (TRADITIONAL, "gb18030"),
        (TRADITIONAL, "big5"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (KOREAN, "euc_kr"),
        (FRENCH, "cp1252"),
        (GERMAN, "cp1252"),
        (FRENCH, "utf-16-le"),
        (FRENCH, "utf-16-be"),
    ],
)
def test_encodings_are_recognised(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_the_byte_order_mark_decides(encoding: str) -> None:
    data = CHINESE.encode(encoding)
    text, name, mark = decode(data)
    assert text == CHINESE
    assert data[mark:].decode(name) == CHINESE


@pytest.mark.parametrize("encoding", ["utf-8-sig", "gb18030", "utf-16"])
def test_quotes_of_a_text_file_are_found_in_its_bytes(encoding: str) -> None:
    data = f"第一段。\r\n\r\n{CHINESE}\r\n".encode(encoding)
    result = read(data, "a.txt")
    assert result.byte_runs is not None
    assert result.encoding is not None
    start = result.text.index("博物院")
    found = byte_span(result.byte_runs, Span(start, start + 3), result.text, result.encoding)
    assert found is not None
    assert data[found[0] : found[1]].decode(result.encoding) == "博物院"


def test_paragraphs_are_blocks() -> None:
    result = read(b"One line\nand more.\n\n \n  Two.  \n", "a.txt")
    assert [block.of(result.text) for block in result.blocks] == ["One line\nand more.", "Two."]


MARKDOWN = """---
title: "The book"
date: 2024-05-01
---
Setext *title*
==============

A paragraph
on two lines.

- one
- two
  # not a heading of the document

```
# no heading
```

## Second [link](x)

| a | b |
|---|---|
| 1 | 2 |
"""


def test_markdown_is_its_own_source_with_headings_and_blocks() -> None:
    result = read(MARKDOWN.encode(), "a.md")
    assert result.text == MARKDOWN
    assert (result.title, result.date) == ("The book", "2024-05-01")
    assert [(h.level, h.title) for h in result.headings] == [(1, "Setext title"), (2, "Second link")]
    assert result.text[result.headings[1].start :].startswith("## Second")
    blocks = [block.of(result.text) for block in result.blocks]
    assert "A paragraph\non two lines." in blocks
    assert "```\n# no heading\n```" in blocks
    assert blocks[-2:] == ["| a | b |", "| 1 | 2 |"]


def test_the_first_heading_is_the_title_without_front_matter() -> None:
    assert read(b"## Sub\n\n# Top\n", "a.md").title == "Top"


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        pytest.param(b"", "a.txt", "empty", id="empty file"),
        pytest.param(b" \n", "a.md", "empty", id="only white space"),
        pytest.param(b"<!DOCTYPE html><html></html>", "a.pdf", "web page", id="web page named pdf"),
        pytest.param(b"just text", "a.pdf", "plain text", id="text named pdf"),
        pytest.param(b"just text", "a.docx", "Word", id="text named docx"),
        pytest.param(b"%PDF-1.7\nrubbish", "a.pdf", "damaged", id="rubbish in a pdf"),
        pytest.param(b"PK\x03\x04rubbish", "a.docx", "damaged", id="rubbish in a docx"),
    ],
)
def test_what_is_not_what_it_says_is_refused_with_a_reason(data: bytes, name: str, words: str) -> None:
    with pytest.raises(ReadError, match=words):
        read(data, name)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\x89PNG\r\n\x1a\n", "a.txt"),
        (b"\0\1\2\3" * 100, "a.txt"),
        (b"\0\1\2\3" * 100, "a.csv"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.doc"),
    ],
)
def test_foreign_formats_are_unsupported(data: bytes, name: str) -> None:
    with pytest.raises(Unsupported):
        read(data, name)


def test_supported_goes_by_suffix() -> None:
    assert supported("A.PDF")
    assert not supported("a.exe")


@given(st.binary(max_size=200), st.sampled_from(["a.txt", "a.md", "a.html", "a.docx", "a.pdf", "a"]))
def test_any_bytes_are_read_or_refused(data: bytes, name: str) -> None:
    try:
        result = read(data, name)
    except IngestError:
        return
    assert all(0 <= block.start < block.end <= len(result.text) for block in result.blocks)
