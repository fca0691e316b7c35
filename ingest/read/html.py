"""How is a web page read?

Only what a reader of the page sees of its content: no menus, forms, scripts or hidden parts.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from bs4 import BeautifulSoup, Tag, XMLParsedAsHTMLWarning
from bs4.element import NavigableString, PageElement, PreformattedString

from ingest.errors import ReadError
from ingest.normalize import normalize
from ingest.read.encoding import Decoded, attempt, decode
from ingest.read.plain import refuse_binary
from ingest.types import Heading, ReadResult, Span

MEDIA_TYPE = "text/html"
_FURNITURE = ["script", "style", "nav", "aside", "template", "noscript", "svg", "iframe", "button", "select"]
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_INLINE = re.compile(
    r"a|abbr|acronym|b|bdi|bdo|big|br|cite|code|data|del|dfn|em|font|i|img|ins|kbd|label|map|mark|nobr|"
    r"q|rp|rt|ruby|s|samp|small|span|strike|strong|sub|sup|time|tt|u|var|wbr"
)
_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]+)", re.IGNORECASE)
_WIDER = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso-8859-1": "cp1252",
    "us-ascii": "cp1252",
    "big5": "big5hkscs",
}
_DATES = ("article:published_time", "date", "dc.date", "dcterms.created", "citation_publication_date")
_MAX_DEPTH = 3000
_SEPARATOR = "\n\n"


@dataclass(slots=True)
class _Page:
    """The text so far. Table rows follow each other on lines, all other blocks after a blank line."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    blocks: list[Span] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    in_rows: bool = False

    def flow(self, raw: str) -> None:
        """Append running text; two line breaks in it separate paragraphs."""
        for paragraph in re.split(r"\n\s*\n", raw):
            self.add("\n".join(line for line in map(_folded, paragraph.split("\n")) if line))

    def add(self, raw: str, *, level: int = 0, row: bool = False) -> None:
        """Append one block, unless it is empty."""
        text = normalize(raw).text.strip("\n").rstrip()
        if not text:
            return
        gap = "" if not self.parts else "\n" if row and self.in_rows else _SEPARATOR
        start = self.length + len(gap)
        self.parts.append(gap + text)
        self.length = start + len(text)
        self.blocks.append(Span(start, self.length))
        self.in_rows = row
        if level:
            self.headings.append(Heading(level, _folded(text), start))


def read_html(data: bytes) -> ReadResult:
    """Read an HTML file."""
    decoded = _decode(data)
    refuse_binary(decoded.text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)  # XHTML reads well as HTML
        soup = BeautifulSoup(decoded.text.replace("\0", ""), "lxml")
    title, date, language = _title(soup), _date(soup), _language(soup)
    _refuse_depth(soup)
    _drop_furniture(soup)
    page = _Page()
    _gather(_content(soup), page)
    text = "".join(page.parts)
    first = next((heading.title for heading in page.headings if heading.level == 1), None)
    return ReadResult(
        text=text,
        media_type=MEDIA_TYPE,
        title=title or first,
        date=date,
        language=language,
        encoding=decoded.encoding,
        headings=tuple(page.headings),
        blocks=tuple(page.blocks),
    )


def _decode(data: bytes) -> Decoded:
    """Decode by UTF-8 if it is, since many pages declare what they no longer are; else as declared."""
    utf8 = attempt(data, "utf-8")
    declared = _CHARSET.search(data[:4096])
    name = declared[1].decode("ascii").lower() if declared else ""
    if utf8 is None and declared and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        name = _WIDER.get(name, name)
        text = attempt(data, name)
        if text is None and name in _WIDER.values():
            text = data.decode(name, "replace")  # one bad byte must not turn a declared page into another language
        if text is not None:
            return Decoded(text, name, 0)
    if name.startswith("iso-2022") and (text := attempt(data, name)) is not None:
        return Decoded(text, name, 0)
    return decode(data)


def _refuse_depth(soup: BeautifulSoup) -> None:
    """Raise ReadError for a tree so deep that walking up from its leaves would take for ever."""
    stack: list[tuple[Tag, int]] = [(soup, 0)]
    while stack:
        tag, depth = stack.pop()
        if depth > _MAX_DEPTH:
            raise ReadError(f"The page nests its elements more than {_MAX_DEPTH:,} deep.")
        stack.extend((child, depth + 1) for child in tag.contents if isinstance(child, Tag))


def _folded(text: str) -> str:
    return " ".join(text.split())


def _title(soup: BeautifulSoup) -> str | None:
    tag = soup.title
    return _folded(normalize(tag.get_text()).text) or None if tag else None


def _date(soup: BeautifulSoup) -> str | None:
    for tag in soup.find_all("meta"):
        name = str(tag.get("property") or tag.get("name") or "").lower()
        content = str(tag.get("content") or "").strip()
        if name in _DATES and content:
            return content
    return None


def _language(soup: BeautifulSoup) -> str | None:
    tag = soup.find("html")
    return str(tag.get("lang") or tag.get("xml:lang") or "").strip().lower() or None if tag else None


def _drop_furniture(soup: BeautifulSoup) -> None:
    for line_break in soup.select("pre br"):
        line_break.replace_with("\n")
    for tag in soup.find_all(_FURNITURE):
        tag.decompose()
    for tag in soup.find_all(_is_hidden):
        tag.decompose()
    for tag in soup.find_all(["header", "footer"]):
        if tag.find_parent(["article", "main"]) is None:  # inside an article the header holds its title
            tag.decompose()
    whole = _weight(soup)
    for tag in soup.find_all("form"):
        if _weight(tag) * 2 < whole:  # some frameworks wrap the whole page into a form
            tag.decompose()


def _is_hidden(tag: Tag) -> bool:
    if tag.name in ("html", "body"):
        return False
    style = tag.get("style")
    return (
        tag.has_attr("hidden")
        or tag.get("aria-hidden") == "true"
        or (isinstance(style, str) and _HIDDEN.search(style) is not None)
    )


def _content(soup: BeautifulSoup) -> Tag:
    """Return the main part of the page: what is marked as such, unless most of the text stands elsewhere."""
    body = soup.body or soup
    marked: list[Tag] = list(soup.find_all(["main", "article"])) + list(soup.find_all(role="main"))
    best = max(marked, key=_weight, default=None)
    return best if best is not None and _weight(best) * 3 > _weight(body) else body


def _weight(tag: Tag) -> int:
    return len(_folded(tag.get_text(" ")))


def _gather(root: Tag, page: _Page) -> None:
    """Walk the tree, without recursion, and flush the inline text at the edges of every block."""
    wrapping = _wrapping_blocks(root)
    inline: list[str] = []
    stack: list[PageElement | None] = [root]
    while stack:
        node = stack.pop()
        if node is None:
            page.flow("".join(inline))
            inline.clear()
        elif isinstance(node, NavigableString):
            if not isinstance(node, PreformattedString):  # comments and declarations
                inline.append(re.sub(r"\s+", " ", str(node)))
        elif isinstance(node, Tag):
            if node.name == "br":
                inline.append("\n")
            elif not _is_block(node) and id(node) not in wrapping:
                stack.extend(reversed(node.contents))
            else:
                page.flow("".join(inline))
                inline.clear()
                if not _whole(node, page):
                    stack.extend([None, *reversed(node.contents)])


def _wrapping_blocks(root: Tag) -> set[int]:
    """Return the identities of all tags with a block inside, in time linear in the size of the page."""
    found: set[int] = set()
    for block in root.find_all(_is_block):
        parent = block.parent
        while parent is not None and id(parent) not in found:
            found.add(id(parent))
            parent = parent.parent
    return found


def _is_block(tag: Tag) -> bool:
    return _INLINE.fullmatch(tag.name) is None


def _whole(node: Tag, page: _Page) -> bool:
    """Add `node` if it is a block of one piece: a heading, preformatted text, a row of a table."""
    if node.name in _HEADINGS:
        page.add(_inner_text(node), level=_HEADINGS[node.name])
        return True
    if node.name == "pre":
        page.add(node.get_text())
        return True
    if node.name == "tr" and not _is_layout(node):
        page.add(" | ".join(_cells(node)), row=True)
        return True
    return False


def _is_layout(row: Tag) -> bool:
    """Say whether a row only arranges the page: a row of data has several cells, short and plain ones."""
    if row.find(["table", "pre", *_HEADINGS]) is not None or _weight(row) > 2000:
        return True
    return sum(_weight(cell) > 0 for cell in row.find_all(["td", "th"], recursive=False)) < 2


def _inner_text(tag: Tag) -> str:
    """Return the text of a tag on one line, without gluing together what stands on several in the page."""
    return _folded(tag.get_text(" " if tag.find(_is_block) or tag.find("br") else ""))


def _cells(row: Tag) -> Iterator[str]:
    for cell in row.find_all(["td", "th"], recursive=False):
        yield _inner_text(cell)
