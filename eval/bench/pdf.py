"""How is a plain PDF written without a library for it? English in Helvetica, Chinese in a font that readers know.

The fonts are not embedded: Helvetica is one of the 14 standard fonts, STSong-Light with the encoding UniGB-UCS2-H one
of the predefined CMaps (ISO 32000-1, 9.6.2.2 and 9.7.5.2).
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from eval.bench.corpus import Section

LINES = 44
"""On a page."""
COLUMNS, WIDE_COLUMNS = 88, 40
LATIN_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
CHINESE_FONT = (
    b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts ["
    b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /DW 1000 "
    b"/CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 0 >> "
    b"/FontDescriptor << /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 1000 880] "
    b"/ItalicAngle 0 /Ascent 880 /Descent -254 /CapHeight 880 /StemV 93 >> >>] >>"
)


def write_pdf(title: str, sections: Sequence[Section], *, chinese: bool) -> bytes:
    """Return a PDF of A4 pages with a title and sections."""
    columns = WIDE_COLUMNS if chinese else COLUMNS
    lines = [title, ""]
    for section in sections:
        lines += [section.heading, ""]
        for paragraph in section.paragraphs:
            lines += [*textwrap.wrap(paragraph, columns), ""]
    pages = [lines[start : start + LINES] for start in range(0, len(lines), LINES)]
    return _file([_content(page, chinese=chinese) for page in pages], CHINESE_FONT if chinese else LATIN_FONT)


def _content(lines: Sequence[str], *, chinese: bool) -> bytes:
    shown = b"\n".join(b"%s Tj T*" % _string(line, chinese=chinese) for line in lines)
    return b"BT /F1 11 Tf 16 TL 60 780 Td\n%s\nET" % shown


def _string(text: str, *, chinese: bool) -> bytes:
    if chinese:
        return b"<%s>" % text.encode("utf-16-be").hex().encode()
    escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
    return b"(%s)" % escaped.encode("cp1252", "replace")


def _file(contents: Sequence[bytes], font: bytes) -> bytes:
    """Join the objects: the catalog, the pages, the font, then each page and its content."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * number) for number in range(len(contents)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(contents)),
        font,
    ]
    for number, content in enumerate(contents):
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (5 + 2 * number)
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    out, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(out))
    return bytes(out + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + trailer)
