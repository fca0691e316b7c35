"""How is a Word file (DOCX) read?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO

import docx
from docx.document import Document as WordFile
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.exceptions import OpcError
from lxml import etree

from ingest.errors import ReadError
from ingest.normalize import normalize
from ingest.read.archive import DAMAGE, Archive
from ingest.read.docx_math import MATH, latex
from ingest.read.docx_numbering import Numbering, numbering
from ingest.types import Heading, ReadResult, Span

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_BREAKS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_UNSEEN = {
    f"{_W}del",
    f"{_W}moveFrom",
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",  # repeats what stands beside it
}
_HEADING = re.compile(r"heading\s*([1-9])$", re.IGNORECASE)


@dataclass(slots=True)
class _Text:
    """The text so far. Table rows follow each other on lines, all other blocks after a blank line."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    blocks: list[Span] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    in_rows: bool = False

    def add(self, raw: str, level: int = 0, row: bool = False) -> None:
        text = normalize(raw).text.strip()
        if not text:
            return
        gap = "" if not self.parts else "\n" if row and self.in_rows else "\n\n"
        start = self.length + len(gap)
        self.parts.append(gap + text)
        self.length = start + len(text)
        self.blocks.append(Span(start, self.length))
        self.in_rows = row
        if level:
            self.headings.append(Heading(level, " ".join(text.split()), start))


def read_docx(data: bytes) -> ReadResult:
    """Read a Word file: paragraphs, headings, text boxes and table rows in the order of the document."""
    Archive(data, "Word file")  # refuses bombs, which python-docx would unpack
    try:
        document = docx.Document(BytesIO(data))
        styles = _heading_styles(document)
        numbers = numbering(document)
        title, date = _properties(document)
        body = document.element.body
    except (
        *DAMAGE,
        OpcError,
        KeyError,
        AttributeError,
        etree.XMLSyntaxError,
    ) as error:
        # python-docx raises these for parts that are missing or not what they claim to be
        raise ReadError("The Word file is damaged: open it in a word processor and save it again.") from error
    text = _Text()
    for element in _blocks(body):
        if element.tag == f"{_W}tr":
            text.add(" | ".join(_cells(element, numbers)), row=True)
        else:
            text.add(_numbered(element, numbers), _level(element, styles))
    return ReadResult(
        text="".join(text.parts),
        media_type=MEDIA_TYPE,
        title=title or next((heading.title for heading in text.headings if heading.level == 1), None),
        date=date,
        headings=tuple(text.headings),
        blocks=tuple(text.blocks),
    )


def _properties(document: WordFile) -> tuple[str | None, str | None]:
    """Return title and date; python-docx would invent both where the file has no such part."""
    if not any(rel.reltype == RELATIONSHIP_TYPE.CORE_PROPERTIES for rel in document.part.package.rels.values()):
        return None, None
    core = document.core_properties
    made = core.created or core.modified
    return normalize(core.title or "").text.strip() or None, made.date().isoformat() if made else None


def _heading_styles(document: WordFile) -> dict[str, int]:
    """Return the level of each paragraph style that makes a heading, by style id."""
    levels: dict[str, int] = {}
    for style in document.styles:
        name = style.name or ""
        match = _HEADING.match(name)
        if match or name.lower() == "title":
            levels[style.style_id] = int(match[1]) if match else 1
    return levels


def _level(paragraph: etree._Element, styles: dict[str, int]) -> int:
    outline = paragraph.find(f"{_W}pPr/{_W}outlineLvl")
    if outline is not None and (outline.get(f"{_W}val") or "").isdigit():
        level = int(outline.get(f"{_W}val")) + 1
        return level if level <= 9 else 0
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    return styles.get(style.get(f"{_W}val") or "", 0) if style is not None else 0


def _blocks(body: etree._Element) -> Iterator[etree._Element]:
    """Yield paragraphs and table rows in order; a text box inside a paragraph comes after it."""
    stack = list(reversed(body))
    while stack:
        element = stack.pop()
        if element.tag in _UNSEEN:
            continue
        if element.tag == f"{_W}tr":
            yield element
            continue
        if element.tag == f"{_W}p":
            yield element
        stack.extend(reversed(element))


def _numbered(paragraph: etree._Element, numbers: Numbering) -> str:
    """Return the text of a paragraph after the number that is shown before it."""
    text = _paragraph(paragraph)
    label = numbers.label(paragraph)  # empty ones count as well
    return f"{label} {text}" if label and text.strip() else text


def _paragraph(paragraph: etree._Element) -> str:
    """Return the text of a paragraph without that of text boxes in it, deleted text and hidden text."""
    parts: list[str] = []
    stack = list(reversed(paragraph))
    while stack:
        element = stack.pop()
        if element.tag in _UNSEEN or element.tag == f"{_W}p" or _is_hidden(element):
            continue
        if element.tag == f"{_W}t":
            parts.append(element.text or "")
        elif element.tag == MATH:
            parts.append(f"${latex(element)}$")
        elif element.tag in _BREAKS:
            parts.append(_BREAKS[element.tag])
        else:
            stack.extend(reversed(element))
    return "".join(parts)


def _is_hidden(element: etree._Element) -> bool:
    vanish = element.find(f"{_W}rPr/{_W}vanish") if element.tag == f"{_W}r" else None
    return vanish is not None and vanish.get(f"{_W}val") not in ("0", "false", "off")


def _cells(row: etree._Element, numbers: Numbering) -> Iterator[str]:
    for cell in row.iter(f"{_W}tc"):
        if next(cell.iterancestors(f"{_W}tr")) is row:
            yield " ".join(" ".join(_numbered(inner, numbers).split()) for inner in _blocks_in_cell(cell)).strip()


def _blocks_in_cell(cell: etree._Element) -> Iterator[etree._Element]:
    for element in _blocks(cell):
        if element.tag == f"{_W}p":
            yield element
        else:
            yield from element.iter(f"{_W}p")
