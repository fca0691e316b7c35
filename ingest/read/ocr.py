"""Is OCR to be had, and what does a file say whose pages are pictures?

OCR is off unless it is asked for: it is slow beside reading, and what it reads may be wrong. Pages are read one by
one, so that a page that fails or takes too long costs no other page; a file is given up after `GIVE_UP` in a row.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ingest.errors import IngestError, ReadError, Unsupported
from ingest.read import pdf, sandbox
from ingest.read.ocr_insert import inserted
from ingest.read.ocr_page import Engine, Recognised
from ingest.types import Document, FileStatus, Page, ReadResult, Span

LANGUAGES = ("eng", "chi_sim")
"""What `on` means, as far as it is installed."""
PAGE_SECONDS = 60.0
"""What one page may take; a dense one takes 2 to 9 seconds on a busy machine."""
MAX_PAGES = 3_000
GIVE_UP = 3
_OFF = ("", "off", "0", "false", "no", "none")
_ON = ("on", "1", "true", "yes")
_IMAGES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"II*\0": "image/tiff",
    b"MM\0*": "image/tiff",
}
_LISTED = re.compile(r"^[\w/.-]+$", re.MULTILINE)
_LIST_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Ocr:
    """Whether OCR is `wanted`; `engine` is None where it is off or not to be had, and `reason` says what to do then."""

    wanted: bool = False
    engine: Engine | None = None
    reason: str = "set CITEDRAG_OCR=on to have it read by Tesseract, or run OCR over it first"

    @property
    def languages(self) -> str:
        """Return what is kept with a document: the languages, empty where nothing is read by OCR."""
        return self.engine.languages if self.engine else ""

    def would_differ(self, document: Document) -> bool:
        """Say whether a file that was read under another setting is to be read again.

        Where OCR is wanted but not to be had, only what has no text is: what OCR once read is not thrown away.
        """
        textless = document.status in (FileStatus.NO_TEXT, FileStatus.UNSUPPORTED)
        if self.wanted and self.engine is None:
            return textless
        concerned = textless or document.media_type == pdf.MEDIA_TYPE or document.media_type in _IMAGES.values()
        return concerned and document.ocr_languages != self.languages


OFF = Ocr()


@dataclass(frozen=True, slots=True)
class _Pages:
    """What OCR gave: pages by number, and of those that gave nothing, why."""

    found: dict[int, Recognised] = field(default_factory=dict)
    silent: list[int] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    reason: str = ""


def find_ocr(setting: str) -> Ocr:
    """Return what `CITEDRAG_OCR` comes to on this machine: off, `on`, or languages such as `eng+chi_sim`."""
    wanted = setting.strip()
    if wanted.lower() in _OFF:
        return OFF
    program = shutil.which("tesseract")
    if program is None:
        return Ocr(True, None, "OCR is on, but there is no Tesseract: install it (apt install tesseract-ocr)")
    try:
        installed = _installed(program)
    except (OSError, subprocess.SubprocessError) as error:
        return Ocr(True, None, f"OCR is on, but {program} does not run ({type(error).__name__})")
    asked = [name for name in wanted.split("+") if name]
    if wanted.lower() in _ON:
        asked = [name for name in LANGUAGES if name in installed] or [LANGUAGES[0]]
    missing = [name for name in asked if name not in installed]
    if missing:
        packages = " ".join(f"tesseract-ocr-{name.replace('_', '-').lower()}" for name in missing)
        reason = f"OCR is on, but Tesseract lacks {', '.join(missing)}: install it (apt install {packages})"
        return Ocr(True, None, reason)
    return Ocr(True, Engine(program, "+".join(asked), "osd" in installed), "")


def _installed(program: str) -> frozenset[str]:
    listed = subprocess.run(
        [program, "--list-langs"], capture_output=True, text=True, errors="replace", timeout=_LIST_SECONDS, check=True
    )
    return frozenset(_LISTED.findall(listed.stdout + listed.stderr))


def read_file(
    path: Path, data: bytes, timeout_seconds: float, ocr: Ocr = OFF, kept: Mapping[int, Recognised] | None = None
) -> ReadResult:
    """Read `data`, the content of `path`, and by OCR those pages of a PDF that have no text, and pictures.

    `kept` are pages that are not to be read by OCR, with what they say. Raises what `read_safely` raises; where OCR
    fails, `ocr_note` and `failed_pages` of the result say so.
    """
    image_type = next((kind for start, kind in _IMAGES.items() if data.startswith(start)), None)
    if image_type is not None and ocr.wanted:
        return _read_image(data, image_type, ocr)
    result = sandbox.read_safely(path, data, timeout_seconds)
    silent = [page.number for page in result.pages if not page.span.of(result.text).strip()]
    if not silent or not ocr.wanted or result.media_type != pdf.MEDIA_TYPE:
        return result
    if ocr.engine is None:
        return replace(result, ocr_note=ocr.reason)
    kept = kept or {}
    pages = _recognised(data, [number for number in silent if number not in kept], ocr.engine)
    told = {*result.failed_pages, *pages.silent, *pages.failed}
    whole = inserted(replace(result, failed_pages=tuple(sorted(told))), {**kept, **pages.found})
    return replace(whole, ocr_note=_note(pages))


def _read_image(data: bytes, media_type: str, ocr: Ocr) -> ReadResult:
    if ocr.engine is None:
        raise Unsupported(f"The file is a picture. {ocr.reason}")
    found = dict(enumerate(sandbox.recognise_safely(data, None, ocr.engine, PAGE_SECONDS), 1))
    separator = "\n\n"
    starts = {number: (number - 1) * len(separator) for number in found}
    pages = (Page(number, str(number), Span(start, start)) for number, start in starts.items())
    silent = tuple(number for number, page in found.items() if not page.text)
    empty = ReadResult(separator * (len(found) - 1), media_type, pages=tuple(pages), failed_pages=silent)
    return replace(inserted(empty, found), ocr_note=_note(_Pages(silent=list(silent))))


def _recognised(data: bytes, numbers: Sequence[int], engine: Engine) -> _Pages:
    """Read pages one after the other, until several in a row fail or the workers are told to end."""
    pages = _Pages()
    reason = ""
    row = 0
    closed = sandbox.times_closed()
    for number in numbers:
        if sandbox.times_closed() != closed:
            raise ReadError("Reading was stopped.")
        if row >= GIVE_UP or len(pages.found) >= MAX_PAGES:
            pages.failed.append(number)
            reason = reason or f"the limit is {MAX_PAGES:,} pages"
            continue
        try:
            (page,) = sandbox.recognise_safely(data, number, engine, PAGE_SECONDS)
        except IngestError as error:
            pages.failed.append(number)
            reason = reason or str(error)
            row += 1
            continue
        row = 0
        if page.text:
            pages.found[number] = page
        elif not page.blank:
            pages.silent.append(number)
    return replace(pages, reason=reason)


def _note(pages: _Pages) -> str:
    parts = []
    if pages.silent:
        parts.append(f"OCR found no text on page {_listed(pages.silent)}")
    if pages.failed:
        parts.append(f"OCR failed on page {_listed(pages.failed)}: {pages.reason.rstrip('.')}")
    return "; ".join(parts)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def no_text_reason(result: ReadResult, ocr: Ocr) -> str:
    """Return what to say of a file in which there is no text."""
    if result.media_type != pdf.MEDIA_TYPE and not result.ocr_note:
        return "there is no text in it"
    return f"there is no text in it (a scan?): {result.ocr_note or ocr.reason or 'OCR found a blank page'}"


def partial_reason(result: ReadResult) -> str:
    """Return what to say of a file of which `failed_pages` are missing."""
    if result.ocr_note:
        return result.ocr_note
    return f"pages that could not be read: {_listed(result.failed_pages)}"
