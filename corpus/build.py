"""Build the binary documents of the demonstration corpus from ``sources/*.md``.

Each source starts with ``key: value`` lines between two ``---`` lines and goes on in a small
dialect of Markdown: headings, paragraphs, ``- `` items, pipe tables and ``\\pagebreak``.
The output does not depend on the clock, so a rebuild leaves the working tree clean.

Usage: python corpus/build.py [target folder]
"""

from __future__ import annotations

import io
import random
import re
import sys
import zipfile
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import escape

from docx import Document
from docx.oxml.ns import qn
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "sources"
ZIP_TIME = (2025, 1, 1, 0, 0, 0)
DOC_TIME = datetime(2025, 1, 1)  # noqa: DTZ001  (python-docx writes a naive time as UTC)
CHINESE_FONT = "STSong-Light"
NOT_AT_LINE_START = "，。、；：！？）》」』”’％℃,.;:!?)"

BlockKind = Literal["heading", "paragraph", "item", "table", "pagebreak"]


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a source: ``level`` counts for headings, ``rows`` for tables."""

    kind: BlockKind
    text: str = ""
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """One parsed source file."""

    meta: dict[str, str]
    blocks: list[Block] = field(default_factory=list)

    @property
    def chinese(self) -> bool:
        return self.meta["lang"] == "zh"


def parse(text: str) -> Source:
    """Read the front matter and the blocks of a source."""
    _, head, body = text.split("---\n", 2)
    meta = {key.strip(): value.strip() for key, value in (line.split(":", 1) for line in head.splitlines())}
    joiner = "" if meta["lang"] == "zh" else " "
    blocks: list[Block] = []
    for chunk in re.split(r"\n\s*\n", body.strip()):
        lines = [line.strip() for line in chunk.splitlines()]
        first = lines[0]
        if first == "\\pagebreak":
            blocks.append(Block("pagebreak"))
        elif first.startswith("#"):
            marks, title = first.split(" ", 1)
            blocks.append(Block("heading", title, len(marks)))
        elif first.startswith("|"):
            rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines]
            blocks.append(Block("table", rows=tuple(row for row in rows if set("".join(row)) - set("-: "))))
        elif first.startswith("- "):
            blocks.extend(Block("item", line[2:]) for line in lines)
        else:
            blocks.append(Block("paragraph", joiner.join(lines)))
    return Source(meta, blocks)


# --- PDF -----------------------------------------------------------------------------------


def break_chinese(text: str, font: str, size: float, width: float) -> str:
    """Break lines between Chinese characters, but never inside a number or a Latin word."""
    lines: list[str] = []
    line = ""
    for token in re.findall(r"[!-~]+|\s+|.", text):
        too_wide = pdfmetrics.stringWidth(line + token, font, size) > width
        if too_wide and token[0] not in NOT_AT_LINE_START:
            lines.append(line.rstrip())
            line = token.lstrip()
        else:
            line += token
    return "<br/>".join(escape(part) for part in [*lines, line])


class Styles:
    """Fonts and paragraph styles of one document."""

    def __init__(self, chinese: bool) -> None:
        self.chinese = chinese
        self.font = CHINESE_FONT if chinese else "Helvetica"
        self.bold = CHINESE_FONT if chinese else "Helvetica-Bold"
        self.body = ParagraphStyle("body", fontName=self.font, fontSize=10.5, leading=16, spaceAfter=6)
        self.item = ParagraphStyle("item", parent=self.body, leftIndent=14, bulletIndent=3, spaceAfter=3)
        self.cell = ParagraphStyle("cell", parent=self.body, fontSize=9, leading=12, spaceAfter=0)
        self.head = ParagraphStyle("head", parent=self.cell, fontName=self.bold)
        self.headings = [
            ParagraphStyle(
                f"h{level}",
                fontName=self.bold,
                fontSize=size,
                leading=size * 1.35,
                spaceBefore=10,
                spaceAfter=6,
                keepWithNext=1,
            )
            for level, size in enumerate((19, 14, 11.5), start=1)
        ]

    def paragraph(self, text: str, style: ParagraphStyle, width: float, bullet: str | None = None) -> Paragraph:
        if not self.chinese:
            return Paragraph(escape(text), style, bulletText=bullet)
        inner = width - style.leftIndent - style.fontSize
        return Paragraph(break_chinese(text, style.fontName, style.fontSize, inner), style, bulletText=bullet)


class OutlinedDocument(SimpleDocTemplate):
    """A document whose headings become bookmarks."""

    marks = 0

    def afterFlowable(self, flowable: Any) -> None:
        title = getattr(flowable, "outline_title", None)
        if title is None:
            return
        self.marks += 1
        key = f"heading-{self.marks}"
        self.canv.bookmarkPage(key)
        self.canv.addOutlineEntry(title, key, level=flowable.outline_level, closed=False)


def pdf_table(block: Block, styles: Styles, width: float) -> Table:
    """Lay out a table whose columns are as wide as their text asks, within the page."""
    columns = list(zip(*block.rows, strict=True))
    longest = [
        max(pdfmetrics.stringWidth(cell, styles.bold, styles.cell.fontSize) for cell in column) + 16
        for column in columns
    ]
    capped = [min(wanted, width * 0.45) for wanted in longest]
    scale = width / sum(capped)
    widths = [wanted * scale for wanted in capped]
    rows = [
        [
            styles.paragraph(cell, styles.cell if number else styles.head, cell_width - 12)
            for cell, cell_width in zip(row, widths, strict=True)
        ]
        for number, row in enumerate(block.rows)
    ]
    table = Table(rows, colWidths=widths, repeatRows=1, spaceBefore=4, spaceAfter=10)
    table.setStyle(
        TableStyle(
            [
                ("GRID", (0, 0), (-1, -1), 0.5, colors.HexColor("#8a98a5")),
                ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor("#e3ebf1")),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ]
        )
    )
    return table


def build_pdf(source: Source, target: Path) -> None:
    """Write a PDF with an outline, a running title and page numbers."""
    styles = Styles(source.chinese)
    margin = 22 * mm
    width = A4[0] - 2 * margin - 12
    story: list[Any] = []
    for block in source.blocks:
        if block.kind == "pagebreak":
            story.append(PageBreak())
        elif block.kind == "table":
            story.append(pdf_table(block, styles, width))
        elif block.kind == "item":
            story.append(styles.paragraph(block.text, styles.item, width, bullet="•"))
        elif block.kind == "heading":
            heading = styles.paragraph(block.text, styles.headings[block.level - 1], width)
            heading.outline_title = block.text
            heading.outline_level = block.level - 1
            story.append(heading)
        else:
            story.append(styles.paragraph(block.text, styles.body, width))
    story.append(Spacer(1, 1))

    def furniture(canvas: Canvas, document: OutlinedDocument) -> None:
        canvas.saveState()
        canvas.setFont(styles.font, 8)
        canvas.setFillColor(colors.HexColor("#5a6670"))
        canvas.drawString(margin, A4[1] - 13 * mm, source.meta["title"])
        number = f"第 {document.page} 页" if source.chinese else f"Page {document.page}"
        canvas.drawRightString(A4[0] - margin, 12 * mm, number)
        canvas.restoreState()

    document = OutlinedDocument(
        str(target),
        pagesize=A4,
        leftMargin=margin,
        rightMargin=margin,
        topMargin=20 * mm,
        bottomMargin=20 * mm,
        title=source.meta["title"],
        author="Merrow Strait Lines",
        lang="zh-CN" if source.chinese else "en",
        invariant=1,
    )
    document.build(story, onFirstPage=furniture, onLaterPages=furniture)


# --- a scanned page: one image, no text layer ----------------------------------------------


def build_scan(source: Source, target: Path) -> None:
    """Draw the page as a black-and-white picture, a little crooked and dusty, like a scan."""
    page = Image.new("L", (1240, 1754), 255)
    pen = ImageDraw.Draw(page)
    down = 170
    for block in source.blocks:
        size = 46 if block.kind == "heading" else 27
        words = block.text.split()
        line = ""
        for word in [*words, ""]:
            if word and len(line) + len(word) < 1900 // size:
                line = f"{line} {word}".strip()
                continue
            pen.text((150, down), line, fill=0, font=ImageFont.load_default(size))
            down += int(size * 1.5)
            line = word
        down += 22
    pen.rectangle((110, 120, 1130, down + 40), outline=0, width=4)
    page = page.rotate(0.7, fillcolor=255, resample=Image.Resampling.BICUBIC)
    dust = random.Random(7)
    for _ in range(260):
        page.putpixel((dust.randrange(1240), dust.randrange(1754)), 0)
    canvas = Canvas(str(target), pagesize=A4, invariant=1)
    canvas.setTitle("Scan")
    canvas.drawImage(ImageReader(page.convert("1")), 0, 0, A4[0], A4[1])
    canvas.showPage()
    canvas.save()


# --- DOCX ----------------------------------------------------------------------------------


def build_docx(source: Source, target: Path) -> None:
    """Write a Word document with heading styles and real tables."""
    document = Document()
    latin, east_asian = ("Times New Roman", "SimSun") if source.chinese else ("Calibri", "SimSun")
    for name in ("Normal", "Heading 1", "Heading 2", "Heading 3", "List Bullet"):
        style = document.styles[name]
        style.font.name = latin
        style.element.get_or_add_rPr().get_or_add_rFonts().set(qn("w:eastAsia"), east_asian)
    for block in source.blocks:
        if block.kind == "heading":
            document.add_heading(block.text, level=block.level)
        elif block.kind == "item":
            document.add_paragraph(block.text, style="List Bullet")
        elif block.kind == "pagebreak":
            document.add_page_break()
        elif block.kind == "table":
            table = document.add_table(rows=0, cols=len(block.rows[0]), style="Table Grid")
            for number, row in enumerate(block.rows):
                for cell, text in zip(table.add_row().cells, row, strict=True):
                    cell.paragraphs[0].add_run(text).bold = number == 0
            document.add_paragraph()
        else:
            document.add_paragraph(block.text)
    properties = document.core_properties
    properties.title = source.meta["title"]
    properties.author = "Merrow Strait Lines"
    properties.language = "zh-CN" if source.chinese else "en-GB"
    properties.comments = ""
    properties.created = properties.modified = DOC_TIME
    buffer = io.BytesIO()
    document.save(buffer)
    with zipfile.ZipFile(buffer) as loose, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as fixed:
        for name in loose.namelist():
            entry = zipfile.ZipInfo(name, ZIP_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            fixed.writestr(entry, loose.read(name))


# --- plain text in other encodings -----------------------------------------------------------


def build_text(source: Source, target: Path) -> None:
    """Write plain text in the encoding the source asks for."""
    parts: list[str] = []
    for block in source.blocks:
        if block.kind == "table":
            parts.append("\n".join("\t".join(row) for row in block.rows))
        elif block.kind == "item":
            parts.append(f"- {block.text}")
        else:
            parts.append(block.text)
    text = "\n\n".join(parts) + "\n"
    encoding = source.meta["encoding"]
    mark = b"\xff\xfe" if encoding == "utf-16-le" else b""
    target.write_bytes(mark + text.encode(encoding))


BUILDERS = {"pdf": build_pdf, "scan": build_scan, "docx": build_docx, "text": build_text}


def build_all(target: Path) -> list[Path]:
    """Build every source into ``target`` and return the files written."""
    pdfmetrics.registerFont(UnicodeCIDFont(CHINESE_FONT))
    written: list[Path] = []
    for path in sorted(SOURCES.glob("*.md")):
        source = parse(path.read_text(encoding="utf-8"))
        output = target / source.meta["output"]
        output.parent.mkdir(parents=True, exist_ok=True)
        BUILDERS[source.meta["build"]](source, output)
        written.append(output)
    return written


if __name__ == "__main__":
    for built in build_all(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "documents"):
        print(built)
