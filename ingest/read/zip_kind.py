"""Which format is a ZIP container, and what reads it? It says so itself, whatever its name."""

from __future__ import annotations

from collections.abc import Callable

from ingest.errors import Encrypted, ReadError, Unsupported
from ingest.read import docx, epub, odt, pptx, xlsx
from ingest.read.archive import Archive
from ingest.types import ReadResult

SUFFIXES = {
    ".docx": docx.MEDIA_TYPE,
    ".pptx": pptx.MEDIA_TYPE,
    ".pptm": pptx.MEDIA_TYPE,
    ".ppsx": pptx.MEDIA_TYPE,
    ".potx": pptx.MEDIA_TYPE,
    ".xlsx": xlsx.MEDIA_TYPE,
    ".xlsm": xlsx.MEDIA_TYPE,
    ".xltx": xlsx.MEDIA_TYPE,
    ".odt": odt.TEXT,
    ".ott": odt.TEXT,
    ".ods": odt.SHEET,
    ".odp": odt.SLIDES,
    ".epub": epub.MEDIA_TYPE,
}
"""Media types by suffix."""
READERS: dict[str, Callable[[bytes], ReadResult]] = {
    docx.MEDIA_TYPE: docx.read_docx,
    pptx.MEDIA_TYPE: pptx.read_pptx,
    xlsx.MEDIA_TYPE: xlsx.read_xlsx,
    odt.TEXT: odt.read_odf,
    odt.SHEET: odt.read_odf,
    odt.SLIDES: odt.read_odf,
    epub.MEDIA_TYPE: epub.read_epub,
}
"""Readers by media type."""
NAMES = {
    docx.MEDIA_TYPE: "a Word file",
    pptx.MEDIA_TYPE: "a PowerPoint file",
    xlsx.MEDIA_TYPE: "an Excel file",
    odt.TEXT: "an OpenDocument text",
    odt.SHEET: "an OpenDocument workbook",
    odt.SLIDES: "an OpenDocument presentation",
    epub.MEDIA_TYPE: "a book (EPUB)",
}
"""What to call them."""
_MAIN_TYPES = (
    (".presentationml.", pptx.MEDIA_TYPE),
    ("ms-powerpoint.", pptx.MEDIA_TYPE),
    (".spreadsheetml.", xlsx.MEDIA_TYPE),
    ("ms-excel.sheet.macroenabled", xlsx.MEDIA_TYPE),
    ("ms-excel.template.macroenabled", xlsx.MEDIA_TYPE),
    (".wordprocessingml.", docx.MEDIA_TYPE),
    ("ms-word.", docx.MEDIA_TYPE),
)
"""What the content types of main parts hold; those of binary workbooks hold none of these."""
_MAIN_PARTS = (
    ("word/document.xml", docx.MEDIA_TYPE),
    ("ppt/presentation.xml", pptx.MEDIA_TYPE),
    ("xl/workbook.xml", xlsx.MEDIA_TYPE),
    ("meta-inf/container.xml", epub.MEDIA_TYPE),
)


def zip_kind(data: bytes) -> str:
    """Return the media type. Raises Unsupported for other archives, ReadError for damaged ones, TooLarge for bombs."""
    archive = Archive(data, "ZIP archive or Office file")
    kind = _of_member(archive) or _of_content_types(archive)
    kind = kind or next((kind for part, kind in _MAIN_PARTS if archive.has(part)), None)
    if kind is None:
        raise Unsupported("The file is an archive or an Office file of a kind that cannot be read.")
    return kind


def _of_member(archive: Archive) -> str | None:
    """Return what the member `mimetype` says, which OpenDocument files and books begin with."""
    if not archive.has("mimetype"):
        return None
    said = archive.read("mimetype")[:200].decode("ascii", "replace").strip().lower()
    if said.startswith(epub.MEDIA_TYPE):
        return epub.MEDIA_TYPE
    return next((kind for kind in (odt.TEXT, odt.SHEET, odt.SLIDES) if said.startswith(kind)), None)


def _of_content_types(archive: Archive) -> str | None:
    """Return the kind of the main part of an Office Open XML package."""
    if not archive.has("[Content_Types].xml"):
        return None
    try:
        types = [(one.get("ContentType") or "").lower() for one in archive.xml("[Content_Types].xml")]
    except Encrypted:
        raise
    except ReadError:
        return None
    for said in types:
        if said.endswith(".main+xml"):
            for mark, kind in _MAIN_TYPES:
                if mark in said:
                    return kind
    return None
