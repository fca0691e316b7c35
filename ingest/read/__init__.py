"""Which reader reads a file? The content decides where it can, the name where it cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePath

from ingest.errors import ReadError, Unsupported
from ingest.read import eml, pdf, text_kind, zip_kind
from ingest.read.archive import refuse_old_office
from ingest.types import ReadResult

MEDIA_TYPES = {
    ".pdf": pdf.MEDIA_TYPE,
    **zip_kind.SUFFIXES,
    **text_kind.SUFFIXES,
}
"""Media types by suffix."""

_READERS: dict[str, Callable[[bytes], ReadResult]] = {
    pdf.MEDIA_TYPE: pdf.read_pdf,
    **zip_kind.READERS,
    eml.MEDIA_TYPE: eml.read_eml,
    **text_kind.READERS,
}
_NAMES = {pdf.MEDIA_TYPE: "a PDF", **zip_kind.NAMES}


@dataclass(frozen=True, slots=True)
class _Signature:
    """How a binary format begins, and what to tell about it."""

    start: bytes
    name: str


_FOREIGN = (
    _Signature(b"\x89PNG", "a PNG image"),
    _Signature(b"\xff\xd8\xff", "a JPEG image"),
    _Signature(b"GIF8", "a GIF image"),
    _Signature(b"II*\0", "a TIFF image"),
    _Signature(b"MM\0*", "a TIFF image"),
    _Signature(b"\x7fELF", "a program"),
    _Signature(b"MZ\x90", "a program"),
    _Signature(b"\x1f\x8b", "a compressed file"),
    _Signature(b"7z\xbc\xaf", "an archive"),
    _Signature(b"Rar!", "an archive"),
    _Signature(b"%!PS", "a PostScript file"),
)


def supported(name: str) -> bool:
    """Say whether there is a reader for files of this name."""
    return PurePath(name).suffix.lower() in MEDIA_TYPES


def read(data: bytes, name: str) -> ReadResult:
    """Read a file. Raises a ReadError that says what is wrong with it."""
    return _READERS[media_type_of(data, name)](data)


def media_type_of(data: bytes, name: str) -> str:
    """Return the media type of a file; raises ReadError where content and name contradict each other."""
    if not data.strip():
        raise ReadError("The file is empty.")
    named = MEDIA_TYPES.get(PurePath(name).suffix.lower())
    found = _sniffed(data)
    if found is None and named in _NAMES:
        raise ReadError(f"The file is named like {_NAMES[named]} but is none: {_looks_like(data)}.")
    media_type = found or text_kind.text_kind(data, name)
    if media_type is None:
        raise Unsupported(f"There is no reader for files of the kind {PurePath(name).suffix or name!r}.")
    return media_type


def _sniffed(data: bytes) -> str | None:
    """Return the media type of formats told by their content; raises Unsupported for foreign ones."""
    if b"%PDF-" in data[:1024]:
        return pdf.MEDIA_TYPE
    if data.startswith(b"PK\x03\x04"):
        return zip_kind.zip_kind(data)
    refuse_old_office(data)
    for signature in _FOREIGN:
        if data.startswith(signature.start):
            raise Unsupported(f"The file is {signature.name}, which cannot be read.")
    return None


def _looks_like(data: bytes) -> str:
    start = data[:1024].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")) or b"<html" in start:
        return "it holds a web page, perhaps a download that failed"
    return "it holds plain text" if b"\0" not in data[:1024] and start.isascii() else "its content is something else"
