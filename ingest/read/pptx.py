"""How is a presentation (PPTX) read? Slide by slide: its title, its shapes in the order of the file, its notes.

The order of the file is the one in which a screen reader tells the shapes. Hidden slides are read too: who opens the
file sees them. Why no python-pptx: it opens no file with one broken part, and here that costs one slide.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from ingest.errors import Encrypted, ReadError
from ingest.read.archive import Archive, attribute, children, descendants, local
from ingest.read.builder import Builder
from ingest.read.ooxml import Relation, is_off, main_part, properties, relation_id, relations
from ingest.read.slides import SlideShow
from ingest.read.tabular import is_header
from ingest.types import ReadResult

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_KIND = "PowerPoint file"
_TITLES = ("title", "ctrTitle")
_FURNITURE = ("dt", "ftr", "hdr", "sldNum", "sldImg")
"""Placeholders that repeat the same on every slide."""
_INVENTED_TITLE = "PowerPoint Presentation"
_log = logging.getLogger(__name__)


def read_pptx(data: bytes) -> ReadResult:
    """Read a presentation: slides are its pages. Raises ReadError if no slide can be read."""
    archive = Archive(data, _KIND)
    main = main_part(archive, "ppt/presentation.xml")
    presentation = archive.xml(main)
    parts = relations(archive, main)
    first = attribute(presentation, "firstSlideNum") or "1"
    number = int(first) if first.isdecimal() else 1
    show = SlideShow()
    for entry in (one for group in children(presentation, "sldIdLst") for one in children(group, "sldId")):
        relation = parts.get(relation_id(entry))
        if relation is None:
            show.add_failed(str(number))
        else:
            _add_slide(show, archive, relation.target, str(number))
        number += 1
    own = properties(archive)
    return show.result(MEDIA_TYPE, own.title if own.title != _INVENTED_TITLE else None, own.date, own.tags)


def _add_slide(show: SlideShow, archive: Archive, part: str, label: str) -> None:
    try:
        slide = _slide(archive, part)
    except Encrypted:
        raise
    except ReadError as error:
        _log.info("slide %s cannot be read: %s", label, error)
        show.add_failed(label)
    else:
        show.add(label, slide.title, slide.add_to, slide.notes)


@dataclass(frozen=True, slots=True)
class _Slide:
    """A slide with all its parts: shapes with text, tables and drawings in order."""

    title: str
    shapes: tuple[etree._Element, ...]
    drawings: dict[str, etree._Element]
    notes: tuple[str, ...]

    def add_to(self, builder: Builder) -> None:
        """Append what stands on the slide beside its title."""
        for shape in self.shapes:
            if local(shape) == "tbl":
                _add_table(builder, shape)
            elif local(shape) == "p":
                builder.add(_paragraph(shape))
            else:
                self._add_drawing(builder, shape)

    def _add_drawing(self, builder: Builder, reference: etree._Element) -> None:
        drawing = self.drawings.get(attribute(reference, "dm") or relation_id(reference))
        if drawing is None:
            return
        if local(drawing) == "chartSpace":
            _add_chart(builder, drawing)
            return
        for paragraph in descendants(drawing, "p"):
            builder.add(_paragraph(paragraph))


def _slide(archive: Archive, part: str) -> _Slide:
    root = archive.xml(part)
    parts = relations(archive, part)
    title: list[str] = []
    shapes: list[etree._Element] = []
    for shape in _shapes(root):
        kind = _placeholder(shape)
        if kind in _TITLES and not title:
            title = [text for text in map(_paragraph, descendants(shape, "p")) if text.strip()]
        elif kind not in _FURNITURE:
            shapes.extend(_content(shape))
    drawings = {
        key: archive.xml(one.target)
        for key, one in parts.items()
        if one.kind in ("chart", "diagramData") and archive.has(one.target)
    }
    return _Slide("\n".join(title), tuple(shapes), drawings, tuple(_notes(archive, parts)))


def _notes(archive: Archive, parts: dict[str, Relation]) -> Iterator[str]:
    for one in parts.values():
        if one.kind == "notesSlide" and archive.has(one.target):
            for shape in _shapes(archive.xml(one.target)):
                if _placeholder(shape) == "body":
                    yield from map(_paragraph, descendants(shape, "p"))


def _shapes(root: etree._Element) -> Iterator[etree._Element]:
    """Yield the shapes and frames of a slide, also those in groups, in the order of the file."""
    stack = [root]
    while stack:
        element = stack.pop()
        name = local(element)
        if name in ("sp", "graphicFrame", "cxnSp"):
            yield element
        elif name != "Fallback":  # repeats what stands beside it, for older programs
            stack.extend(reversed(element))


def _placeholder(shape: etree._Element) -> str | None:
    """Return which placeholder of the layout a shape fills; "" for one of no kind, None for a free shape."""
    for outer in shape:
        for inner in children(outer, "nvPr"):
            for mark in children(inner, "ph"):
                return mark.get("type") or ""
    return None


def _content(shape: etree._Element) -> Iterator[etree._Element]:
    """Yield the paragraphs of a shape, or what a frame shows: a table, a reference to a chart or a diagram."""
    if local(shape) != "graphicFrame":
        yield from descendants(shape, "p")
        return
    for data in descendants(shape, "graphicData"):
        yield from children(data, "tbl", "chart", "relIds")


def _paragraph(paragraph: etree._Element) -> str:
    """Return the text of a paragraph, with its line breaks."""
    parts = []
    stack = list(reversed(paragraph))
    while stack:
        element = stack.pop()
        name = local(element)
        if name == "t":
            parts.append(element.text or "")
        elif name == "br":
            parts.append("\n")
        elif name != "p":  # no valid file has one in another, and it would be read once for each that it stands in
            stack.extend(reversed(element))
    return "".join(parts)


def _add_table(builder: Builder, table: etree._Element) -> None:
    marked = any(attribute(one, "firstRow") and not is_off(one, "firstRow") for one in children(table, "tblPr"))
    builder.end_table()
    for number, row in enumerate(children(table, "tr")):
        cells = [" ".join(" ".join(map(_paragraph, descendants(cell, "p"))).split()) for cell in children(row, "tc")]
        builder.add_row(cells, header=number == 0 and (marked or is_header(cells)))
    builder.end_table()


def _add_chart(builder: Builder, chart: etree._Element) -> None:
    """Append a chart as a table of its last values: a row for each category, a column for each series."""
    for title in (one for found in descendants(chart, "chart") for one in children(found, "title")):
        builder.add(" ".join(map(_paragraph, descendants(title, "p"))))
    series = list(descendants(chart, "ser"))
    names = [" ".join(_points(one, "tx").values()) for one in series]
    values = [_points(one, "val") or _points(one, "yVal") for one in series]
    categories: dict[int, str] = {}
    for one in series:
        categories = categories or _points(one, "cat") or _points(one, "xVal")
    builder.end_table()
    if any(names):
        builder.add_row(["", *names], header=True)
    for index in sorted({*categories, *(index for found in values for index in found)}):
        builder.add_row([categories.get(index, ""), *(found.get(index, "") for found in values)])
    builder.end_table()


def _points(series: etree._Element, name: str) -> dict[int, str]:
    """Return the stored values of one aspect of a series by their index."""
    found: dict[int, str] = {}
    for aspect in children(series, name):
        for point in descendants(aspect, "pt"):
            index = point.get("idx") or ""
            text = " ".join(" ".join(value.text or "" for value in children(point, "v")).split())
            if index.isdecimal() and text:
                found.setdefault(int(index), text)
    return found
