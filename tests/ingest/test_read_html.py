from __future__ import annotations

import pytest

from ingest.errors import ReadError
from ingest.read import read
from ingest.types import ReadResult


def blocks(result: ReadResult) -> list[str]:
    return [block.of(result.text) for block in result.blocks]


PAGE = """<!DOCTYPE html><html lang="en"><head><title>A page: the title</title>
<meta property="article:published_time" content="2024-05-01"><script>var x = 1</script></head><body>
<nav>Menu</nav><header>Site</header>
<main><header><h1>The <em>title</em></h1></header><p>First <b>bold</b>
text.<br>New line.</p><ul><li>one</li><li>two<ul><li>inner</li></ul></li></ul>
<pre>code
  more</pre><table><tr><th>a</th><th>b</th></tr><tr><td><p>1</p></td><td>2</td></tr></table>
<h2>Second</h2>Bare text<div hidden>secret</div><div style="display: none">secret</div><!-- secret --></main>
<aside>Other</aside><form>Search</form><footer>Imprint</footer></body></html>"""


def test_a_page_gives_its_content_and_nothing_around_it() -> None:
    result = read(PAGE.encode(), "a.html")
    assert blocks(result) == [
        "The title",
        "First bold text.\nNew line.",
        "one",
        "two",
        "inner",
        "code\n  more",
        "a | b",
        "1 | 2",
        "Second",
        "Bare text",
    ]
    assert "a | b\n1 | 2\n\nSecond\n\nBare text" in result.text
    assert (result.title, result.date, result.language) == ("A page: the title", "2024-05-01", "en")
    assert [(h.level, h.title) for h in result.headings] == [(1, "The title"), (2, "Second")]
    assert result.text[result.headings[1].start :].startswith("Second")


def test_without_a_title_the_first_heading_is_it() -> None:
    assert read(b"<html><body><h1>Top</h1>x</body></html>", "a.html").title == "Top"


def test_the_declared_encoding_is_used() -> None:
    page = '<html><head><meta charset="gb2312"></head><body><p>故宫</p></body></html>'
    assert read(page.encode("gb18030"), "a.html").text == "故宫"


def test_utf8_wins_over_a_wrong_declaration() -> None:
    page = '<html><head><meta charset="iso-8859-1"></head><body><p>é</p></body></html>'
    assert read(page.encode(), "a.html").text == "é"


def test_a_form_around_the_whole_page_is_kept() -> None:
    assert read(b"<html><body><form><p>All the text.</p></form></body></html>", "a.html").text == "All the text."


def test_a_layout_table_is_read_as_blocks() -> None:
    page = b"<table><tr><td><h1>Head</h1><p>One.</p><p>Two.</p></td></tr></table>"
    assert blocks(read(page, "a.html")) == ["Head", "One.", "Two."]


def test_two_breaks_separate_paragraphs_and_one_does_not_glue_words() -> None:
    page = b"<table><tr><td>One.<br><br>Two<br>lines.</td></tr></table><h2>A<br>B</h2>"
    assert blocks(read(page, "a.html")) == ["One.", "Two\nlines.", "A B"]


@pytest.mark.parametrize("tag", ["div", "b", "table><tr><td"])
def test_nesting_without_end_is_refused(tag: str) -> None:
    with pytest.raises(ReadError, match="deep"):
        read(f"<{tag}>".encode() * 5_000 + b"<p>deep", "a.html")
