"""Presentations, workbooks, OpenDocument files and books, made where they are needed."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Mapping
from io import BytesIO

import openpyxl
from lxml import etree
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

_SIZE = (Inches(1), Inches(1), Inches(4), Inches(1))


def pptx_file() -> bytes:
    """Return three slides: with all kinds of shapes and notes, hidden and without title, and empty."""
    show = Presentation()
    show.core_properties.title = "The fleet"
    show.core_properties.created = datetime.datetime(2024, 5, 1)  # noqa: DTZ001 - the format has no zone
    show.core_properties.keywords = "ships; 船队"
    slide = show.slides.add_slide(show.slide_layouts[1])
    box = slide.shapes.add_textbox(*_SIZE)
    box.text_frame.text = "Before the title in the file"
    slide.shapes.title.text = "Oil changes 换油"
    slide.placeholders[1].text = "Every 500 hours.\n每五百小时换油。"
    slide.shapes._spTree.remove(box._element)
    slide.shapes._spTree.insert(2, box._element)
    group = slide.shapes.add_group_shape()
    inner = group.shapes.add_group_shape().shapes.add_textbox(*_SIZE)
    inner.text_frame.text = "In a group"
    table = slide.shapes.add_table(3, 2, *_SIZE).table
    for row, values in enumerate([("ship", "hours"), ("Kittiwake", "500"), ("鹿屿星", "400")]):
        for column, value in enumerate(values):
            table.cell(row, column).text = value
    slide.notes_slide.notes_text_frame.text = "Say it twice.\n要说两遍。"
    second = show.slides.add_slide(show.slide_layouts[6])
    second.shapes.add_textbox(*_SIZE).text_frame.text = "A slide without a title"
    second._element.set("show", "0")
    data = CategoryChartData()
    data.categories = ["May", "June"]
    data.add_series("Trips", (12, 7.5))
    second.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *_SIZE, data)
    show.slides.add_slide(show.slide_layouts[6])
    return _saved(show)


def xlsx_file() -> bytes:
    """Return four sheets: rows under a header, two tables with an empty row between, a hidden and a very hidden one."""
    book = openpyxl.Workbook()
    book.properties.title = "Trips 航次"
    book.properties.created = datetime.datetime(2024, 5, 1)  # noqa: DTZ001 - the format has no zone
    sheet = book.active
    sheet.title = "Log 日志"
    sheet.append(["The log of the fleet"])
    sheet.append([])
    sheet.append(["ship", "day", "full", "trips"])
    sheet.append(["Kittiwake", datetime.date(2024, 5, 1), 0.153, 12])
    sheet.append(["鹿屿星", datetime.datetime(2024, 5, 2, 10, 30), 0.5, 0.1 + 0.2])  # noqa: DTZ001
    sheet.append(["two\nlines", None, None, True])
    for cell in sheet["C"][3:5]:
        cell.number_format = "0%"
    sums = book.create_sheet("Sums")
    for row in [("name", "sum"), ("all", 3), (), ("city", "ferry", "port"), ("Alder", "Kittiwake", 3)]:
        sums.append(row)
    book.create_sheet("Lists").append(["a hidden word"])
    book["Lists"].sheet_state = "hidden"
    book.create_sheet("Cache").append(["unseen"])
    book["Cache"].sheet_state = "veryHidden"
    return _saved(book)


def packed(members: Mapping[str, str | bytes]) -> bytes:
    """Return a ZIP archive of these members, in order."""
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def changed(data: bytes, changes: Mapping[str, str | bytes | None]) -> bytes:
    """Return an archive with members replaced, or left out where None is given."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        members: dict[str, str | bytes | None] = {name: archive.read(name) for name in archive.namelist()}
    members.update(changes)
    return packed({name: content for name, content in members.items() if content is not None})


def member(data: bytes, name: str) -> str:
    """Return a member of an archive as text."""
    with zipfile.ZipFile(BytesIO(data)) as archive:
        return archive.read(name).decode()


def _saved(document: Presentation | openpyxl.Workbook) -> bytes:
    buffer = BytesIO()
    document.save(buffer)
    return buffer.getvalue()


_NAMES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style",
        "presentation": "presentation", "meta": "meta", "manifest": "manifest",
    }.items()
)  # fmt: skip
_META = f"""<office:document-meta {_NAMES} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>
<dc:title>The handbook 手册</dc:title><meta:creation-date>2024-05-01T10:00:00</meta:creation-date>
<dc:language>zh-CN</dc:language><meta:keyword>leave</meta:keyword></office:meta></office:document-meta>"""
ODT_BODY = """<office:text><text:tracked-changes><text:changed-region><text:p>Deleted.</text:p></text:changed-region>
</text:tracked-changes><text:table-of-content><text:p>Leave 1</text:p></text:table-of-content>
<text:p text:style-name="P1">The rules</text:p><text:p text:style-name="T1">Nor this.</text:p>
<text:h text:outline-level="1">Leave</text:h>
<text:p>24  days.<text:s text:c="2"/>年假为<text:span>二十四天</text:span>。<text:span
 text:style-name="T1">No.</text:span><text:note><text:note-citation>1</text:note-citation><text:note-body>
<text:p>A note.</text:p></text:note-body></text:note> Ask<text:line-break/>us<office:annotation><text:p>Remark.</text:p>
</office:annotation>.</text:p>
<text:list><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>two</text:p></text:list-item></text:list>
</text:list-item></text:list>
<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>days</text:p></table:table-cell>
<table:table-cell><text:p>pay</text:p></table:table-cell></table:table-row></table:table-header-rows>
<table:table-row><table:table-cell><text:p>1</text:p><text:p>day</text:p></table:table-cell>
<table:table-cell><text:p>all</text:p></table:table-cell></table:table-row></table:table>
<text:h text:outline-level="2">Travel</text:h><text:p>Before<draw:frame><draw:text-box><text:p>In a box.</text:p>
</draw:text-box></draw:frame> and after.</text:p></office:text>"""
ODS_BODY = """<office:spreadsheet><table:table table:name="Log 日志">
<table:table-row><table:table-cell><text:p>ship</text:p></table:table-cell><table:table-cell><text:p>day</text:p>
</table:table-cell><table:table-cell table:number-columns-repeated="16000"/></table:table-row>
<table:table-row table:number-rows-repeated="2"><table:table-cell><text:p>鹿屿星</text:p></table:table-cell>
<table:table-cell office:value-type="date" office:date-value="2024-05-01"><text:p>01.05.24</text:p></table:table-cell>
</table:table-row><table:table-row table:number-rows-repeated="1000000"><table:table-cell/></table:table-row>
</table:table></office:spreadsheet>"""
ODP_BODY = """<office:presentation><draw:page><draw:frame presentation:class="subtitle"><draw:text-box>
<text:p>Every 500 hours.</text:p></draw:text-box></draw:frame><draw:frame presentation:class="title"><draw:text-box>
<text:p>Oil 换油</text:p></draw:text-box></draw:frame><draw:g><draw:custom-shape><text:p>In a group</text:p>
</draw:custom-shape></draw:g><draw:frame presentation:class="footer"><draw:text-box><text:p>Footer</text:p>
</draw:text-box></draw:frame><presentation:notes><draw:frame presentation:class="notes"><draw:text-box>
<text:p>Say it twice.</text:p>
</draw:text-box></draw:frame></presentation:notes></draw:page><draw:page><draw:frame><draw:text-box>
<text:p>No title</text:p></draw:text-box></draw:frame></draw:page></office:presentation>"""


def odf_file(kind: str, body: str) -> bytes:
    """Return an OpenDocument file: `kind` is "text", "spreadsheet" or "presentation"."""
    styles = '<office:automatic-styles><style:style style:name="T1"><style:text-properties text:display="none"/>'
    styles += '</style:style><style:style style:name="P1" style:parent-style-name="Title"/></office:automatic-styles>'
    content = f"<office:document-content {_NAMES}>{styles}<office:body>{body}</office:body></office:document-content>"
    etree.fromstring(content)  # a mistake in a sample must not look like one in a reader
    return packed({
        "mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content, "meta.xml": _META,
    })  # fmt: skip


_CONTAINER = """<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""
_OPF = """<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:title>The ferry 渡船</dc:title><dc:creator>Ann Müller</dc:creator><dc:creator>王伟</dc:creator>
<dc:date>2024-05-01T00:00:00Z</dc:date><dc:language>zh-CN</dc:language><dc:subject>ships</dc:subject></metadata>
<manifest><item id="b" href="text/two%20b.xhtml" media-type="application/xhtml+xml"/>
<item id="a" href="text/one.xhtml" media-type="application/xhtml+xml"/>
<item id="c" href="text/three.xhtml" media-type="application/xhtml+xml"/>
<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>
<item id="font" href="font.otf" media-type="font/otf"/></manifest>
<spine><itemref idref="nav"/><itemref idref="a"/><itemref idref="b"/><itemref idref="c"/></spine></package>"""
_NAV = """<html xmlns:epub="http://www.idpf.org/2007/ops"><body><nav epub:type="toc"><ol>
<li><a href="text/one.xhtml">One</a></li>
<li><a href="text/two%20b.xhtml#start">第二章</a></li></ol></nav></body></html>"""
_ONE = """<?xml version="1.0" encoding="utf-8"?><html><head><title/><script src="a.js"/></head><body>
<header><h1>Chapter one</h1></header><section class="sidebar"><p>It was a ferry.&nbsp;真的。</p></section>
<aside epub:type="footnote"><p>A note.</p></aside><table><tr><th>ship</th><th>hours</th></tr>
<tr><td>Kittiwake</td><td>500</td></tr></table></body></html>"""
_TWO = "<html><head><title>The ferry 渡船</title></head><body><p>它开了。</p><p hidden=''>Unseen</p></body></html>"
_THREE = "<html><body><h2>Chapter three</h2><p>The end.</p></body></html>"


def epub_file() -> bytes:
    """Return a book of three chapters, the second of which has a name in the table of contents only."""
    return packed({
        "mimetype": "application/epub+zip", "META-INF/container.xml": _CONTAINER, "OPS/book.opf": _OPF,
        "OPS/nav.xhtml": _NAV, "OPS/text/one.xhtml": _ONE, "OPS/text/two b.xhtml": _TWO, "OPS/text/three.xhtml": _THREE,
    })  # fmt: skip
