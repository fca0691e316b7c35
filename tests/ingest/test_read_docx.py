from __future__ import annotations

import datetime
import zipfile
from io import BytesIO

import docx
import pytest

from ingest.errors import ReadError, TooLarge
from ingest.read import archive, read


def make_docx() -> bytes:
    document = docx.Document()
    document.core_properties.title = "A report"
    document.core_properties.created = datetime.datetime(2024, 5, 1)  # noqa: DTZ001 - the format has no zone
    document.add_heading("Chapter", 1)
    document.add_paragraph("第一段 first.")
    table = document.add_table(2, 2)
    for row, values in zip(table.rows, [("a", "b"), ("1", "2")], strict=True):
        for cell, value in zip(row.cells, values, strict=True):
            cell.text = value
    document.add_heading("Section", 2)
    paragraph = document.add_paragraph("Seen.")
    paragraph.add_run(" Hidden.").font.hidden = True
    document.add_paragraph("Item", style="List Bullet")
    buffer = BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def test_paragraphs_headings_and_rows_come_in_order() -> None:
    result = read(make_docx(), "a.docx")
    assert result.text == "Chapter\n\n第一段 first.\n\na | b\n1 | 2\n\nSection\n\nSeen.\n\nItem"
    assert [(h.level, h.title) for h in result.headings] == [(1, "Chapter"), (2, "Section")]
    assert [block.of(result.text) for block in result.blocks][2:4] == ["a | b", "1 | 2"]
    assert (result.title, result.date) == ("A report", "2024-05-01")


def test_a_damaged_file_is_refused() -> None:
    buffer = BytesIO()
    with zipfile.ZipFile(BytesIO(make_docx())) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            new.writestr(name, b"<broken" if name == "word/document.xml" else old.read(name))
    with pytest.raises(ReadError, match="damaged"):
        read(buffer.getvalue(), "a.docx")


def test_a_bomb_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_UNPACKED", 1000)
    with pytest.raises(TooLarge):
        read(make_docx(), "a.docx")
