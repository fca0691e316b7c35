"""What is a document, a page, a chunk and the report of a file?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class FileStatus(StrEnum):
    """What became of one file. A bad file never stops a batch."""

    INDEXED = "indexed"
    UNCHANGED = "unchanged"
    DUPLICATE = "duplicate"
    NO_TEXT = "no_text"
    ENCRYPTED = "encrypted"
    UNSUPPORTED = "unsupported"
    TOO_LARGE = "too_large"
    TIMED_OUT = "timed_out"
    FAILED = "failed"
    PARTIAL = "partial"
    REMOVED = "removed"


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of Unicode code points, `text[start:end]`."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the piece of `text` that this span names."""
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Page:
    """One physical page: `number` counts from 1, `label` is what is printed on it, `span` is in the document's text."""

    number: int
    label: str
    span: Span


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of the document: `level` from 1, `start` is where it begins in the document's text."""

    level: int
    title: str
    start: int


@dataclass(frozen=True, slots=True)
class ByteRun:
    """`text[start:end]` came from bytes `[byte_start:byte_end]` of the original.

    If `verbatim`, the two agree character by character in the document's encoding and any inner position can be
    mapped; otherwise (a line break folded, a character removed or replaced) only the ends correspond.
    """

    start: int
    end: int
    byte_start: int
    byte_end: int
    verbatim: bool


@dataclass(frozen=True, slots=True)
class TableHeader:
    """The header of a table: `text` is how it is repeated, `rows` what stands under it, without the header itself."""

    rows: Span
    text: str


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in PDF points from the page's lower left corner."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Word:
    """A word that OCR read: `start` and `end` are in the text of its page, `line` counts the lines of the page."""

    start: int
    end: int
    line: int
    box: Box


@dataclass(frozen=True, slots=True)
class OcrPage:
    """A page whose text came from OCR. `number` counts from 1."""

    number: int
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What a reader gives back: normalised text with its structure.

    `pages` cover the text of paged formats in order, and are empty for formats without pages. `blocks` are the spans
    of paragraphs, list items, code blocks and table rows, in order, without overlap. `byte_runs` is None where a
    text position has no single place in the file (PDF, DOCX, HTML). `failed_pages` counts from 1. `table_headers`
    are in order, without overlap of their rows; `tags` are the keywords that the file itself declares. `ocr_pages` are
    the pages that OCR gave a text, `ocr_note` is what is to be told of those that it should have given one.
    """

    text: str
    media_type: str
    title: str | None = None
    date: str | None = None
    language: str | None = None
    encoding: str | None = None
    pages: tuple[Page, ...] = ()
    headings: tuple[Heading, ...] = ()
    blocks: tuple[Span, ...] = ()
    byte_runs: tuple[ByteRun, ...] | None = None
    failed_pages: tuple[int, ...] = ()
    table_headers: tuple[TableHeader, ...] = ()
    tags: tuple[str, ...] = ()
    ocr_pages: tuple[OcrPage, ...] = ()
    ocr_note: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """One document of the catalog, without its text. `pages` is the number of physical pages, 0 if it has none.

    `ocr_pages` are the numbers of the pages whose text came from OCR; `ocr_languages` is what OCR was set to when the
    file was read, empty where it was off or not to be had.
    """

    id: str
    root: str
    path: str
    title: str
    sha256: str
    version: int
    media_type: str
    language: str
    pages: int
    status: FileStatus
    tenant: str = "local"
    date: str | None = None
    encoding: str | None = None
    tags: tuple[str, ...] = ()
    reason: str | None = None
    ocr_pages: tuple[int, ...] = ()
    ocr_languages: str = ""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document's text: `text == document.text[span]`. Pages count from 1; None without pages.

    `table_header` is the header of the table whose rows the chunk begins with, where it does not hold it itself;
    `page_label` is what is printed on its first page, known to chunks that come from the catalog.
    """

    id: str
    document_id: str
    version: int
    ordinal: int
    span: Span
    text: str
    page: int | None = None
    page_end: int | None = None
    headings: tuple[str, ...] = ()
    table_header: str = ""
    page_label: str | None = None


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term weights: `indices` are 32-bit term ids, ascending and unique; `values` are their weights."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class IndexPoint:
    """What the index holds of a chunk: its id, its document, a unit dense vector and its BM25 term weights."""

    id: str
    document_id: str
    tenant: str
    dense: Sequence[float]
    sparse: SparseVector


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found: `dense` is a cosine in [-1, 1], `bm25` at least 0; None where that side did not find it.

    `fused` is the reciprocal-rank-fusion score by which hits are ordered.
    """

    chunk_id: str
    dense: float | None
    bm25: float | None
    fused: float


@dataclass(frozen=True, slots=True)
class FileReport:
    """What happened to one file of an ingestion; `path` is relative to its root, `seconds` is wall time."""

    path: str
    status: FileStatus
    reason: str | None = None
    document_id: str | None = None
    pages: int = 0
    chunks: int = 0
    seconds: float = 0.0
    ocr: bool = False
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class IngestReport:
    """The report of a whole ingestion. `embedded` counts texts embedded, `written` counts chunks written."""

    files: tuple[FileReport, ...] = field(default=())
    seconds: float = 0.0
    embedded: int = 0
    written: int = 0

    def totals(self) -> dict[str, int]:
        """Return how many files ended with each status that occurs."""
        counts: dict[str, int] = {}
        for report in self.files:
            counts[report.status.value] = counts.get(report.status.value, 0) + 1
        return counts
