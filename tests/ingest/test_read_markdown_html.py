from __future__ import annotations

import time

import pytest

from ingest.normalize import byte_span
from ingest.read import read
from ingest.types import Span

PAGE = """# The <em>title</em>

First<br>line of <b>text</b> and `<b>` as code <!-- unseen -->.

<div align="center">
  <img src="x.png">
  <h3>Inner</h3>
</div>

<!--
# No heading
-->

<table><tr><td>1</td><td>2</td></tr></table>

```html
<b>code</b>
```

Vec<String> and a < b > c

## After
"""


def test_tags_and_comments_go_and_what_they_hold_stays() -> None:
    result = read(PAGE.encode(), "a.md")
    assert "First line of text and `<b>` as code ." in result.text
    assert "  Inner\n" in result.text
    assert "1  2" in result.text
    assert "<b>code</b>" in result.text
    assert "Vec<String> and a < b > c" in result.text
    assert not any(gone in result.text for gone in ("unseen", "No heading", "img", "div", "<em>"))


def test_headings_and_blocks_are_where_the_text_has_them() -> None:
    result = read(PAGE.encode(), "a.md")
    assert [(heading.level, heading.title) for heading in result.headings] == [(1, "The title"), (2, "After")]
    assert result.text[result.headings[1].start :].startswith("## After")
    assert result.blocks[0].of(result.text) == "# The title"
    assert all(block.of(result.text).strip() == block.of(result.text).strip("\n ") for block in result.blocks)


def test_any_word_leads_back_to_the_bytes_of_the_file() -> None:
    data = PAGE.encode()
    result = read(data, "a.md")
    assert result.byte_runs is not None
    for word in ("title", "Inner", "String", "After"):
        start = result.text.index(word)
        found = byte_span(result.byte_runs, Span(start, start + len(word)), result.text, "utf-8")
        assert found is not None
        assert data[found[0] : found[1]].decode() == word


@pytest.mark.parametrize("piece", ["<script>", '<a "', "<a '", "<!--", "<div>", "<td <"])
def test_broken_markup_takes_no_time(piece: str) -> None:
    start = time.process_time()
    read(("# A\n\n" + piece * 20_000).encode(), "a.md")
    assert time.process_time() - start < 5
