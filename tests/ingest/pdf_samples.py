"""What PDFs do tests read? Pages of lines at places, drawn in the order given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from io import BytesIO

import pypdf
from pypdf.generic import DecodedStreamObject, NameObject
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

Line = tuple[float, float, str]


def drawn(pages: Sequence[Iterable[Line]], font: str = "Helvetica", size: float = 11) -> bytes:
    """Make a PDF of pages of `(x, y, text)`."""
    buffer = BytesIO()
    canvas = Canvas(buffer, invariant=True)
    for lines in pages:
        canvas.setFont(font, size)
        for x, y, text in lines:
            canvas.drawString(x, y, text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def listed(pages: Sequence[Sequence[str]]) -> bytes:
    """Make a PDF of pages of lines below each other."""
    return drawn([[(72, 760 - 14 * row, line) for row, line in enumerate(lines)] for lines in pages])


def vertical_font() -> str:
    """Return the name of a font for vertical Japanese."""
    font = UnicodeCIDFont("HeiseiMin-W3", isVertical=True)
    pdfmetrics.registerFont(font)
    return font.fontName


def with_letters(data: bytes, letters: dict[str, str]) -> bytes:
    """Say in the fonts of the first page what letters stand for, as for glyphs that are several letters."""
    codes = "".join(f"<{ord(code):02X}> <{text.encode('utf-16-be').hex()}>\n" for code, text in letters.items())
    table = DecodedStreamObject()
    table.set_data(
        "/CIDInit /ProcSet findresource begin begincmap /CMapType 2 def 1 begincodespacerange <00> <FF> "
        f"endcodespacerange {len(letters)} beginbfchar\n{codes}endbfchar endcmap end".encode()
    )

    def change(writer: pypdf.PdfWriter) -> None:
        reference = writer._add_object(table)
        fonts = writer.pages[0]["/Resources"]["/Font"]
        for name in fonts:
            fonts[name].get_object()[NameObject("/ToUnicode")] = reference

    return changed(data, change)


def changed(data: bytes, change: Callable[[pypdf.PdfWriter], object]) -> bytes:
    """Return a PDF after `change`."""
    writer = pypdf.PdfWriter(clone_from=BytesIO(data))
    change(writer)
    buffer = BytesIO()
    writer.write(buffer)
    return buffer.getvalue()
