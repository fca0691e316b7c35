"""How is an OpenDocument file read: a text (ODT), a workbook (ODS), a presentation (ODP)?

Not read are what was deleted under change tracking, hidden text, comments, and tables of contents, which only repeat
the headings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from lxml import etree

from ingest.errors import Encrypted, ReadError
from ingest.normalize import normalize
from ingest.read.archive import Archive, attribute, children, descendants, local
from ingest.read.builder import Builder
from ingest.read.grid import WIDEST_GAP, Row, add_sheet
from ingest.read.ooxml import iso_date, keywords
from ingest.read.slides import SlideShow
from ingest.read.tabular import is_header
from ingest.types import ReadResult

_PREFIX = "application/vnd.oasis.opendocument."
TEXT, SHEET, SLIDES = f"{_PREFIX}text", f"{_PREFIX}spreadsheet", f"{_PREFIX}presentation"
_KIND = "OpenDocument file"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_UNSEEN = {
    "tracked-changes", "table-of-content", "annotation", "forms", "hidden-text", "hidden-paragraph", "ruby-text",
    "title", "desc", "sequence-decls", "variable-decls", "user-field-decls", "shapes", "note-citation", "script",
    "event-listeners",
}  # fmt: skip
_ON_EVERY_SLIDE = {"header", "footer", "date-time", "page-number"}
_BLANK = re.compile(r"[ \t\r\n]+")
_MOST_SPACES = 100
_MOST_REPEATS = 100
"""Equal rows after each other that are kept: more say nothing more, and a small file may name millions."""
_DEEPEST_TABLE = 20


class _Styles(NamedTuple):
    """The names of styles that matter: of hidden text, and of the title of a document."""

    hidden: frozenset[str]
    title: frozenset[str]


@dataclass(slots=True)
class _Walk:
    """Appends what stands in a tree to `builder`."""

    builder: Builder
    styles: _Styles
    depth: int = 0

    def add(self, roots: list[etree._Element]) -> None:
        """Append headings, paragraphs, list items and tables; notes and text boxes come after their paragraph."""
        stack = list(reversed(roots))
        while stack:
            element = stack.pop()
            name = local(element)
            if name in _UNSEEN or attribute(element, "style-name") in self.styles.hidden:
                continue
            if name in ("h", "p"):
                self.builder.add(_tidy(self._text(element)), level=self._level(element))
                stack.extend(reversed(list(_apart(element))))
            elif name == "table":
                self._add_table(element)
            else:
                stack.extend(reversed(element))

    def line(self, roots: list[etree._Element]) -> str:
        """Return all paragraphs in a tree on one line."""
        if self.depth >= _DEEPEST_TABLE:
            raise ReadError(f"The OpenDocument file nests tables more than {_DEEPEST_TABLE} deep.")
        inner = _Walk(Builder(), self.styles, self.depth + 1)
        inner.add(roots)
        return " ".join(inner.builder.text.split())

    def _add_table(self, table: etree._Element) -> None:
        self.builder.end_table()
        for number, row in enumerate(_rows_of(table)):
            cells = [self.line(list(cell)) for cell in children(row, "table-cell", "covered-table-cell")]
            marked = local(row.getparent()) == "table-header-rows"
            if any(cells):
                self.builder.add_row(cells, header=marked or (number == 0 and is_header(cells)))
        self.builder.end_table()

    def _level(self, paragraph: etree._Element) -> int:
        if local(paragraph) == "h":
            level = attribute(paragraph, "outline-level") or "1"
            return max(1, int(level)) if level.isdecimal() else 1
        return int(attribute(paragraph, "style-name") in self.styles.title)

    def _text(self, paragraph: etree._Element) -> str:
        """Return the text of a paragraph, in which white space counts once and is written by elements beside."""
        parts: list[str] = []
        stack: list[etree._Element | str] = list(_reversed_content(paragraph))
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                parts.append(_BLANK.sub(" ", item))
                continue
            name = local(item)
            if name == "s":
                count = attribute(item, "c") or "1"
                parts.append(" " * min(int(count) if count.isdecimal() else 1, _MOST_SPACES))
            elif name in ("tab", "line-break"):
                parts.append("\t" if name == "tab" else "\n")
            elif not (name in _UNSEEN or _is_apart(item) or attribute(item, "style-name") in self.styles.hidden):
                stack.extend(_reversed_content(item))
        return "".join(parts)


@dataclass(frozen=True, slots=True)
class _About:
    """What `meta.xml` says."""

    title: str | None = None
    date: str | None = None
    language: str | None = None
    tags: tuple[str, ...] = field(default=())


def read_odf(data: bytes) -> ReadResult:
    """Read an OpenDocument file. Raises Encrypted, or ReadError for one that is damaged or of another kind."""
    archive = Archive(data, _KIND)
    _refuse_encrypted(archive)
    root = archive.xml("content.xml")
    bodies = [inner for body in children(root, "body") for inner in children(body, *_READERS)]
    if not bodies:
        raise ReadError("The OpenDocument file holds neither text nor sheets nor slides.")
    return _READERS[local(bodies[0])](bodies[0], _styles(root), _about(archive))


def _styles(root: etree._Element) -> _Styles:
    styles = list(descendants(root, "style"))
    hidden = [
        one for one in styles if any(attribute(text, "display") == "none" for text in children(one, "text-properties"))
    ]
    titles = [one for one in styles if attribute(one, "parent-style-name") == "Title"]
    return _Styles(
        frozenset(attribute(one, "name") or "" for one in hidden),
        frozenset(["Title", *(attribute(one, "name") or "" for one in titles)]),
    )


def _read_text(body: etree._Element, styles: _Styles, about: _About) -> ReadResult:
    builder = Builder()
    _Walk(builder, styles).add(list(body))
    first = next((heading.title for heading in builder.headings if heading.level == 1), None)
    return _result(builder, TEXT, about, about.title or first)


def _read_sheets(body: etree._Element, styles: _Styles, about: _About) -> ReadResult:
    builder = Builder()
    for table in children(body, "table"):
        rows = list(_sheet_rows(_Walk(builder, styles), table))
        if rows:
            left = min(min(row.cells) for row in rows)
            add_sheet(builder, attribute(table, "name") or "", rows, left)
    return _result(builder, SHEET, about, about.title)


def _read_slides(body: etree._Element, styles: _Styles, about: _About) -> ReadResult:
    show = SlideShow()
    for number, page in enumerate(children(body, "page"), 1):
        frames = [one for one in page if attribute(one, "class") not in _ON_EVERY_SLIDE and local(one) != "notes"]
        titles = [one for one in frames if attribute(one, "class") == "title"][:1]
        rest = [one for one in frames if one not in titles]
        title = _Walk(Builder(), styles).line(titles)
        show.add(str(number), title, partial(_add_shapes, rest, styles), _notes(page, styles))
    return show.result(SLIDES, about.title, about.date, about.tags)


def _add_shapes(shapes: list[etree._Element], styles: _Styles, builder: Builder) -> None:
    _Walk(builder, styles).add(shapes)


def _notes(page: etree._Element, styles: _Styles) -> list[str]:
    """Return the paragraphs of the speaker notes."""
    frames = (frame for notes in children(page, "notes") for frame in children(notes, "frame"))
    said = Builder()
    _Walk(said, styles).add([frame for frame in frames if attribute(frame, "class") == "notes"])
    return [block.of(said.text) for block in said.blocks]


_READERS: dict[str, Callable[[etree._Element, _Styles, _About], ReadResult]] = {
    "text": _read_text,
    "spreadsheet": _read_sheets,
    "presentation": _read_slides,
    "drawing": _read_slides,
}


def _result(builder: Builder, media_type: str, about: _About, title: str | None) -> ReadResult:
    return ReadResult(
        text=builder.text,
        media_type=media_type,
        title=title,
        date=about.date,
        language=about.language,
        headings=tuple(builder.headings),
        blocks=tuple(builder.blocks),
        table_headers=tuple(builder.table_headers),
        tags=about.tags,
    )


def _refuse_encrypted(archive: Archive) -> None:
    """Raise Encrypted where the manifest says how the content is encrypted (ODF 1.3 part 2, 4)."""
    manifest = "META-INF/manifest.xml"
    locked = archive.has("encrypted-package")
    if not locked and archive.has(manifest):
        locked = next(descendants(archive.xml(manifest), "encryption-data"), None) is not None
    if locked:
        raise Encrypted("The OpenDocument file needs a password: save it without one.")


def _about(archive: Archive) -> _About:
    try:
        root = archive.xml("meta.xml")
    except ReadError:
        return _About()
    found: dict[str, list[str]] = {}
    for element in (one for group in children(root, "meta") for one in group):
        found.setdefault(local(element), []).append(" ".join(normalize(element.text or "").text.split()))
    first = {name: values[0] for name, values in found.items()}
    return _About(
        first.get("title") or None,
        iso_date(first.get("creation-date", "")) or iso_date(first.get("date", "")),
        first.get("language", "").lower() or None,
        tuple(tag for value in found.get("keyword", []) for tag in keywords(value)),
    )


def _reversed_content(element: etree._Element) -> Iterator[etree._Element | str]:
    """Yield child elements and the text between them, last first."""
    for child in reversed(element):
        if child.tail:
            yield child.tail
        yield child
    if element.text:
        yield element.text


def _tidy(text: str) -> str:
    return "\n".join(line.strip(" ") for line in text.split("\n"))


def _is_apart(element: etree._Element) -> bool:
    """Say whether an element inside a paragraph is no part of its line: a footnote, a frame, a drawing."""
    return local(element) == "note" or (str(element.tag).startswith(_DRAW) and local(element) != "a")


def _apart(paragraph: etree._Element) -> Iterator[etree._Element]:
    """Yield the outermost such elements in a paragraph, in order."""
    stack = list(reversed(paragraph))
    while stack:
        element = stack.pop()
        if _is_apart(element):
            yield element
        elif local(element) not in _UNSEEN:
            stack.extend(reversed(element))


def _rows_of(table: etree._Element) -> Iterator[etree._Element]:
    """Yield the rows of a table, also those in groups, but not those of tables in its cells."""
    stack = list(reversed(table))
    while stack:
        element = stack.pop()
        if local(element) == "table-row":
            yield element
        elif local(element) in ("table-header-rows", "table-row-group", "table-rows"):
            stack.extend(reversed(element))


def _sheet_rows(walk: _Walk, table: etree._Element) -> Iterator[Row]:
    number = 0
    for element in _rows_of(table):
        repeats = _repeats(element, "number-rows-repeated")
        cells = dict(_sheet_cells(walk, element))
        if cells:
            yield from (Row(number + index, cells) for index in range(min(repeats, _MOST_REPEATS)))
        number += repeats


def _sheet_cells(walk: _Walk, row: etree._Element) -> Iterator[tuple[int, str]]:
    column = 0
    for cell in children(row, "table-cell", "covered-table-cell"):
        repeats = _repeats(cell, "number-columns-repeated")
        text = iso_time(cell) or (walk.line(list(cell)) if len(cell) else "") or attribute(cell, "value") or ""
        if text:
            yield from ((column + index, text) for index in range(min(repeats, WIDEST_GAP)))
        column += repeats


def iso_time(cell: etree._Element) -> str | None:
    """Return the day, or day and time, that a cell holds; None for other cells."""
    value = attribute(cell, "date-value")
    return value.removesuffix("T00:00:00").replace("T", " ") if value else None


def _repeats(element: etree._Element, name: str) -> int:
    value = attribute(element, name) or "1"
    return max(1, int(value)) if value.isdecimal() and len(value) < 10 else 1
