"""How is a web page read?

Only what a reader of the page sees of its content: no menus, forms, scripts or hidden parts.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Sequence

from bs4 import BeautifulSoup, Tag, XMLParsedAsHTMLWarning
from bs4.element import NavigableString, PageElement, PreformattedString

from ingest.errors import ReadError
from ingest.normalize import normalize
from ingest.read.builder import Builder
from ingest.read.encoding import Decoded, attempt, decode
from ingest.read.html_content import HEADINGS, content, declares_article, drop_furniture, is_block
from ingest.read.plain import refuse_binary
from ingest.read.tabular import is_header
from ingest.types import ReadResult

MEDIA_TYPE = "text/html"
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
_TITLE_PARTS = re.compile(r"\s+[-–—|·•»«:/]+\s+|\s*[|»«]\s*|:\s+")


def read_html(data: bytes, *, whole: bool = False) -> ReadResult:
    """Read an HTML file; `whole` keeps everything that is shown, as an e-mail has no main part."""
    decoded = _decode(data)
    refuse_binary(decoded.text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)  # XHTML reads well as HTML
        soup = BeautifulSoup(decoded.text.replace("\0", ""), "lxml")
    title, date, language = _title(soup), _date(soup), _language(soup)
    _refuse_depth(soup)
    article = declares_article(soup)
    drop_furniture(soup)
    root = soup.body or soup if whole else content(soup, article=article)
    page = Builder()
    _add_title(soup, root, title, page, article=article)
    _gather(root, page)
    page.end_table()
    first = next((heading.title for heading in page.headings if heading.level == 1), None)
    return ReadResult(
        text=page.text,
        media_type=MEDIA_TYPE,
        title=title or first,
        date=date,
        language=language,
        encoding=decoded.encoding,
        headings=tuple(page.headings),
        blocks=tuple(page.blocks),
        table_headers=tuple(page.table_headers),
    )


def add_page(soup: BeautifulSoup, page: Builder) -> None:
    """Append all of a parsed page, for a reader that knows that it has no furniture. Raises ReadError if too deep."""
    _refuse_depth(soup)
    _gather(soup.body or soup, page)
    page.end_table()


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


def _add_title(soup: BeautifulSoup, root: Tag, title: str | None, page: Builder, *, article: bool) -> None:
    """Put the heading of the page before its content, where the content does not hold it."""
    inside = list(map(_inner_text, root.find_all("h1")))
    if inside and (article or any(_is_like(text, title) for text in inside)):
        return
    top = next((text for text in map(_inner_text, soup.find_all("h1")) if _is_like(text, title)), title)
    parts = {_key(part) for part in [title, *_TITLE_PARTS.split(title)]} if title else set()
    if top and not any(_key(_inner_text(tag)) in parts for tag in root.find_all([*HEADINGS])):
        page.add(top, level=1)


def _is_like(heading: str, title: str | None) -> bool:
    """Say whether a heading is the title of the page in other words, and not the name of the site."""
    words = set(re.findall(r"\w+", heading.casefold()))
    return not title or len(words.intersection(re.findall(r"\w+", title.casefold()))) * 2 > len(words)


def _key(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


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


def _weight(tag: Tag) -> int:
    return len(_folded(tag.get_text(" ")))


def _flow(page: Builder, raw: str) -> None:
    """Append running text; two line breaks in it separate paragraphs."""
    for paragraph in re.split(r"\n\s*\n", raw):
        text = "\n".join(line for line in map(_folded, paragraph.split("\n")) if line)
        if text:
            page.add(text)


def _gather(root: Tag, page: Builder) -> None:
    """Walk the tree, without recursion, and flush the inline text at the edges of every block."""
    wrapping = _wrapping_blocks(root)
    inline: list[str] = []
    stack: list[PageElement | None] = [root]
    while stack:
        node = stack.pop()
        if node is None:
            _flow(page, "".join(inline))
            inline.clear()
        elif isinstance(node, NavigableString):
            if not isinstance(node, PreformattedString):  # comments and declarations
                inline.append(re.sub(r"\s+", " ", str(node)))
        elif isinstance(node, Tag):
            if node.name == "br":
                inline.append("\n")
            elif not is_block(node) and id(node) not in wrapping:
                stack.extend(reversed(node.contents))
            else:
                _flow(page, "".join(inline))
                inline.clear()
                if not _whole(node, page):
                    stack.extend([None, *reversed(node.contents)])


def _wrapping_blocks(root: Tag) -> set[int]:
    """Return the identities of all tags with a block inside, in time linear in the size of the page."""
    found: set[int] = set()
    for block in root.find_all(is_block):
        parent = block.parent
        while parent is not None and id(parent) not in found:
            found.add(id(parent))
            parent = parent.parent
    return found


def _whole(node: Tag, page: Builder) -> bool:
    """Add `node` if it is a block of one piece: a heading, preformatted text, a row of a table."""
    if node.name in HEADINGS:
        page.add(_inner_text(node), level=HEADINGS[node.name])
        return True
    if node.name == "pre":
        page.add(node.get_text())
        return True
    if node.name == "tr" and not _is_layout(node):
        cells = list(_cells(node))
        page.add_row(cells, header=_is_header(node, cells), table=id(node.find_parent("table")))
        return True
    return False


def _is_header(row: Tag, cells: Sequence[str]) -> bool:
    """Say whether a row is marked as header, or is the first of a table without marks and reads like one."""
    names = {tag.name for tag in row.find_all(["td", "th"], recursive=False)}
    if names == {"th"} or (row.parent is not None and row.parent.name == "thead"):
        return True
    table = row.find_parent("table")
    return table is not None and table.find("tr") is row and table.find("th") is None and is_header(cells)


def _is_layout(row: Tag) -> bool:
    """Say whether a row only arranges the page: a row of data has several cells, short and plain ones."""
    if row.find(["table", "pre", *HEADINGS]) is not None or _weight(row) > 2000:
        return True
    return sum(_weight(cell) > 0 for cell in row.find_all(["td", "th"], recursive=False)) < 2


def _inner_text(tag: Tag) -> str:
    """Return the text of a tag on one line, without gluing together what stands on several in the page."""
    return _folded(tag.get_text(" " if tag.find(is_block) or tag.find("br") else ""))


def _cells(row: Tag) -> Iterator[str]:
    for cell in row.find_all(["td", "th"], recursive=False):
        yield _inner_text(cell)
