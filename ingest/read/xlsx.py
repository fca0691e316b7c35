"""How is a workbook (XLSX) read? Sheet by sheet, row by row, with the values that its formulas had when it was saved.

Hidden sheets, rows and columns are read too, as one click shows them; sheets that only a program can show ("very
hidden") are not. Why no openpyxl: it refuses workbooks for errors in what is not read here (properties, names).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from lxml import etree

from ingest.errors import Encrypted, ReadError, TooLarge
from ingest.normalize import normalize
from ingest.read.archive import Archive, attribute, children, descendants, local
from ingest.read.builder import Builder
from ingest.read.grid import Row, add_sheet
from ingest.read.number_format import NumberFormat, number_formats, shown
from ingest.read.ooxml import is_off, main_part, properties, relation_id, relations
from ingest.types import ReadResult

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MAX_CELLS = 5_000_000
"""Cells with something in them. A workbook with more is a data base, and is refused as a whole."""
_KIND = "Excel file"
_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d+)")
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Workbook:
    """What the cells of all sheets refer to, how many were read, and whether a sheet was `broken` before its end."""

    archive: Archive
    strings: Sequence[str]
    formats: Sequence[NumberFormat]
    from_1904: bool
    cells: int = 0
    broken: bool = False


def read_xlsx(data: bytes) -> ReadResult:
    """Read a workbook: each sheet is a section, each row a block. Raises TooLarge for more than MAX_CELLS.

    Sheets that cannot be read are in `failed_pages`, counted from 1 among all sheets.
    """
    archive = Archive(data, _KIND)
    main = main_part(archive, "xl/workbook.xml")
    root = archive.xml(main)
    parts = relations(archive, main)
    by_kind = {one.kind: one.target for one in parts.values()}
    from_1904 = any(
        attribute(one, "date1904") is not None and not is_off(one, "date1904") for one in children(root, "workbookPr")
    )
    workbook = _Workbook(
        archive,
        list(_strings(archive, by_kind.get("sharedStrings"))),
        _formats(archive, by_kind.get("styles")),
        from_1904,
    )
    builder = Builder()
    sheets = [sheet for group in children(root, "sheets") for sheet in children(group, "sheet")]
    failed = []
    for number, sheet in enumerate(sheets, 1):
        relation = parts.get(relation_id(sheet))
        if sheet.get("state") == "veryHidden" or (relation is not None and relation.kind != "worksheet"):
            continue  # a sheet that is one chart has no cells
        if relation is None or not _add_sheet(builder, workbook, sheet.get("name") or "", relation.target):
            failed.append(number)
    if failed and not builder.blocks:
        raise ReadError("The Excel file is damaged: none of its sheets can be read.")
    own = properties(archive)
    return ReadResult(
        text=builder.text,
        media_type=MEDIA_TYPE,
        title=own.title,
        date=own.date,
        headings=tuple(builder.headings),
        blocks=tuple(builder.blocks),
        failed_pages=tuple(failed),
        table_headers=tuple(builder.table_headers),
        tags=own.tags,
    )


def _add_sheet(builder: Builder, workbook: _Workbook, name: str, part: str) -> bool:
    """Append a sheet if it holds anything; say whether all of it could be read."""
    sheet = Builder()
    workbook.broken = False
    add_sheet(sheet, name, _readable_rows(workbook, part), _first_column(workbook.archive, part))
    if len(sheet.blocks) > len(sheet.headings):
        builder.add_result(ReadResult(
            text=sheet.text, media_type=MEDIA_TYPE, headings=tuple(sheet.headings), blocks=tuple(sheet.blocks),
            table_headers=tuple(sheet.table_headers),
        ))  # fmt: skip
    return not workbook.broken


def _first_column(archive: Archive, part: str) -> int:
    """Return the first column of a sheet from 0, as it says itself."""
    with suppress(ReadError):  # the rows will tell
        for element in archive.elements(part, ("dimension", "sheetData", "row")):
            match = _REFERENCE.match(element.get("ref") or "") if local(element) == "dimension" else None
            return _column(match[1]) if match else 0
    return 0


def _readable_rows(workbook: _Workbook, part: str) -> Iterator[Row]:
    """Yield the rows before the place where a sheet is broken."""
    try:
        yield from _rows(workbook, part)
    except (Encrypted, TooLarge):
        raise
    except ReadError as error:
        _log.info("%r cannot be read to its end: %s", part, error)
        workbook.broken = True


def _rows(workbook: _Workbook, part: str) -> Iterator[Row]:
    number = -1
    for element in workbook.archive.elements(part, ("row",)):
        given = element.get("r") or ""
        number = int(given) - 1 if given.isdecimal() else number + 1
        row = Row(number, dict(_cells(workbook, element)))
        workbook.cells += len(row.cells)
        if workbook.cells > MAX_CELLS:
            raise TooLarge(f"The Excel file has more than {MAX_CELLS:,} cells: split it, or export what matters.")
        yield row


def _cells(workbook: _Workbook, row: etree._Element) -> Iterator[tuple[int, str]]:
    """Yield column from 0 and text of the cells with something in them, in the order of their columns."""
    column = -1
    for cell in row:
        match = _REFERENCE.match(cell.get("r") or "")
        given = _column(match[1]) if match else -1
        column = given if given > column else column + 1
        text = _value(workbook, cell) if len(cell) else ""
        if text and not text.isascii():  # the builder cleans the rest, but may leave nothing of invisible characters
            text = normalize(text).text
        if text := " ".join(text.split()):
            yield column, text


def _value(workbook: _Workbook, cell: etree._Element) -> str:
    """Return what a cell shows, numbers in full precision."""
    kind = cell.get("t") or "n"
    if kind == "inlineStr":
        return "".join(_rich_text(inner) for inner in children(cell, "is"))
    value = ""
    for inner in cell:
        if local(inner) == "v":
            value = (inner.text or "").strip()
    match kind:
        case "s":
            index = int(value) if value.isdecimal() else -1
            return workbook.strings[index] if 0 <= index < len(workbook.strings) else ""
        case "b":
            return "TRUE" if value == "1" else "FALSE" if value else ""
        case "n":
            style = cell.get("s") or "0"
            index = int(style) if style.isdecimal() else 0
            given = workbook.formats[index] if index < len(workbook.formats) else NumberFormat.PLAIN
            return shown(value, given, from_1904=workbook.from_1904)
    return _unescaped(value)


def _strings(archive: Archive, part: str | None) -> Iterator[str]:
    if part is not None and archive.has(part):
        for element in archive.elements(part, ("si",)):
            yield _rich_text(element)


def _rich_text(element: etree._Element) -> str:
    """Return the text of a string in one or more formats, without the reading aids (`rPh`) of East Asian scripts."""
    parts = []
    for child in element:
        if local(child) == "t":
            parts.append(child.text or "")
        elif local(child) == "r":
            parts.extend(inner.text or "" for inner in children(child, "t"))
    return _unescaped("".join(parts))


def _unescaped(text: str) -> str:
    """Undo the escapes for characters that XML cannot hold (ECMA-376 part 1, 22.9.2.19)."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def _formats(archive: Archive, part: str | None) -> list[NumberFormat]:
    """Return the number format of each style of a cell; none where the styles cannot be read."""
    try:
        root = archive.xml(part) if part is not None and archive.has(part) else None
    except Encrypted:
        raise
    except ReadError as error:
        _log.info("the styles cannot be read: %s", error)
        return []
    if root is None:
        return []
    own = {one.get("numFmtId") or "": one.get("formatCode") or "" for one in descendants(root, "numFmt")}
    used = [one.get("numFmtId") or "0" for group in children(root, "cellXfs") for one in children(group, "xf")]
    return number_formats(used, own)


def _column(letters: str) -> int:
    """Return the column from 0 that is named "A", "Z", "AA" and so on."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1
