"""Pages that are pictures, drawn for tests of OCR, and programs that stand in for Tesseract."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

DPI = 150
POINTS = 72
A4 = (595, 842)
TESSERACT = shutil.which("tesseract")
needs_tesseract = pytest.mark.skipif(TESSERACT is None, reason="Tesseract is not installed")
_FONTS = (
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc",
    "/System/Library/Fonts/PingFang.ttc",
)
CHINESE_FONT = next((path for path in _FONTS if Path(path).exists()), None)


def languages() -> set[str]:
    if TESSERACT is None:
        return set()
    return set(subprocess.run([TESSERACT, "--list-langs"], capture_output=True, text=True, check=True).stdout.split())


def picture(lines: Sequence[str], size: int = 12, font: str | None = None, turned: int = 0) -> Image.Image:
    """Draw lines on an A4 page, the first one an inch from its left and upper edge."""
    page = Image.new("L", (A4[0] * DPI // POINTS, A4[1] * DPI // POINTS), 255)
    pen = ImageDraw.Draw(page)
    pixels = size * DPI // POINTS
    face = ImageFont.load_default(pixels) if font is None else ImageFont.truetype(font, pixels)
    for row, line in enumerate(lines):
        pen.text((DPI, DPI + row * pixels * 3 // 2), line, fill=0, font=face)
    return page.rotate(turned, expand=True)


def scan(*pages: Image.Image | str | None) -> bytes:
    """Return a PDF with a page for each: a picture, lines of text, or nothing."""
    buffer = BytesIO()
    canvas = Canvas(buffer, pagesize=A4, invariant=1)
    for number, page in enumerate(pages, 1):
        canvas.bookmarkPage(f"p{number}")
        if isinstance(page, str):
            canvas.addOutlineEntry(page.split(".")[0], f"p{number}", 0)
            for row, line in enumerate(page.splitlines()):
                canvas.drawString(72, 760 - 18 * row, line)
        elif page is not None:
            canvas.drawImage(ImageReader(page), 0, 0, *A4)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def program(folder: Path, script: str) -> Path:
    """Write a program named tesseract that lists `eng` as its language and else does what `script` says."""
    folder.mkdir(exist_ok=True)
    path = folder / "tesseract"
    path.write_text(f'#!/bin/sh\nif [ "$1" = --list-langs ]; then echo eng; exit 0; fi\n{script}\n', encoding="utf-8")
    path.chmod(0o755)
    return path
