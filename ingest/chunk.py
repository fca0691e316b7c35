"""Where is a document cut into chunks?

Blocks (paragraphs, list items, table rows) are gathered up to a target size and never across a heading; a block that
is too long is cut at sentence ends. Every chunk is `document.text[span]`, in order, without overlap, and together they
hold every character that is not white space.
"""

from __future__ import annotations

import re
import uuid
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ingest.types import Chunk, Heading, Page, ReadResult, Span, TableHeader

TARGET_TOKENS = 180
"""Where a chunk is closed; about half of what the embedding model reads (512), so that a chunk holds one thought."""
MAX_TOKENS = 260
"""A block longer than this is cut at sentence ends."""
MAX_HEADER = 400
"""Characters of a table's header that are repeated with its rows: more would drown what the rows say."""
NAMESPACE = uuid.UUID("6f1d3c0e-6a5b-5d0f-9a53-0c1f6f0f7c11")

_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n[ \t]*\n")
"""A single line break is none: a paragraph may be wrapped anywhere. Lines without sentences are cut in `_slices`."""
_VISIBLE = re.compile(r"\S")


def size(text: str) -> float:
    """Return about how many model tokens `text` has: 0.7 for a CJK character, a quarter for any other."""
    wide = len(_WIDE.findall(text))
    return 0.7 * wide + 0.25 * (len(text) - wide)


Cut = Callable[[ReadResult, int], Iterable[Span]]
"""A way to cut: the spans of a text, in order, each of about so many tokens."""


def structure(read: ReadResult, target: int) -> Iterator[Span]:
    """Yield spans that gather blocks up to the target, and never cross a heading."""
    cuts = sorted({heading.start for heading in read.headings})
    blocks = sorted({edge for block in read.blocks for edge in (block.start, block.end)})
    for start, end in pairwise([0, *cuts, len(read.text)]):
        inner = blocks[bisect_right(blocks, start) : bisect_left(blocks, end)]
        yield from _pack(read.text, _units(read.text, [start, *inner, end], target), target)


def chunk_document(
    document_id: str, version: int, read: ReadResult, target: int = TARGET_TOKENS, cut: Cut = structure
) -> list[Chunk]:
    """Cut a document into chunks of about `target` model tokens.

    Chunk ids follow from document, version and span, so that a repeated write is the same write.
    """
    starts = [page.span.start for page in read.pages]
    head_starts = [heading.start for heading in read.headings]
    row_starts = [header.rows.start for header in read.table_headers]
    paths = [(), *heading_paths(read.headings)]
    chunks = []
    for ordinal, span in enumerate(cut(read, target)):
        first, last = _pages(read.pages, starts, span)
        chunks.append(
            Chunk(
                id=_chunk_id(document_id, version, span),
                document_id=document_id,
                version=version,
                ordinal=ordinal,
                span=span,
                text=span.of(read.text),
                page=first,
                page_end=last,
                headings=paths[bisect_right(head_starts, span.start)],
                table_header=_table_header(read.table_headers, row_starts, span.start),
            )
        )
    return chunks


def identified(chunk: Chunk, document_id: str, version: int) -> Chunk:
    """Return a chunk as one of this document's: cutting needs the text alone, and comes before it has an id."""
    return replace(
        chunk, id=_chunk_id(document_id, version, chunk.span), document_id=document_id, version=version
    )  # fmt: skip


def _chunk_id(document_id: str, version: int, span: Span) -> str:
    return str(uuid.uuid5(NAMESPACE, f"{document_id}/{version}/{span.start}-{span.end}"))


def searchable_text(chunk: Chunk, title: str) -> str:
    """Return what is embedded and indexed for a chunk: its title and headings, its table's header, then its text."""
    heads = [title, *chunk.headings] if title not in chunk.headings else list(chunk.headings)
    context = " > ".join(head for head in heads if head)
    return "\n".join(part for part in (context, chunk.table_header, chunk.text) if part)


def heading_paths(headings: Sequence[Heading]) -> list[tuple[str, ...]]:
    """Return for each heading the titles of those it stands under, outermost first, and its own."""
    paths = []
    path: list[Heading] = []
    for heading in headings:
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        paths.append(tuple(one.title for one in path))
    return paths


def _units(text: str, edges: Sequence[int], target: int) -> Iterator[Span]:
    """Yield the pieces of one section: its blocks, what stands between them, and long blocks cut at sentences."""
    most = target * MAX_TOKENS / TARGET_TOKENS
    for left, right in pairwise(edges):
        span = _trim(text, left, right)
        if span is not None:
            yield from [span] if size(span.of(text)) <= most else _sentences(text, span, target)


def _sentences(text: str, span: Span, target: int) -> Iterator[Span]:
    edges = [span.start, *(m.end() for m in _SENTENCE_END.finditer(text, span.start, span.end)), span.end]
    for left, right in pairwise(edges):
        piece = _trim(text, left, right)
        if piece is not None:
            yield from _slices(text, piece, target)


def _slices(text: str, span: Span, target: int) -> Iterator[Span]:
    """Cut what has no sentence end for too long (code, a word list) at line ends or white space, else anywhere."""
    start = span.start
    most = target * MAX_TOKENS / TARGET_TOKENS
    reach = int(4 * most) + 1  # as many characters are always more than `most`, so that no more need be looked at
    while start < span.end and size(text[start : min(span.end, start + reach)]) > most:
        stop = start + 1
        weight = 0.0
        while stop < span.end and weight < target:
            weight += size(text[stop])
            stop += 1
        stop = _line_or_word_end(text, start, stop)
        piece = _trim(text, start, stop)
        if piece is not None:
            yield piece
        start = stop
    rest = _trim(text, start, span.end)
    if rest is not None:
        yield rest


def _line_or_word_end(text: str, start: int, stop: int) -> int:
    """Return the last end of a line in the second half of a piece, else of a word, else where the piece ends."""
    line = text.rfind("\n", start + (stop - start) // 2, stop)
    space = line if line >= 0 else max(text.rfind(" ", start + 1, stop), text.rfind("\n", start + 1, stop))
    return space + 1 if space > start else stop


def _pack(text: str, units: Iterable[Span], target: int) -> Iterator[Span]:
    held: Span | None = None
    for unit in units:
        joined = unit if held is None else Span(held.start, unit.end)
        if held is not None and size(joined.of(text)) > target:
            yield held
            joined = unit
        held = joined
    if held is not None:
        yield held


def _trim(text: str, start: int, end: int) -> Span | None:
    piece = text[start:end]
    first = _VISIBLE.search(piece)
    if first is None:
        return None
    return Span(start + first.start(), start + len(piece.rstrip()))


def _table_header(headers: Sequence[TableHeader], starts: Sequence[int], position: int) -> str:
    """Return the header of the table in whose rows `position` lies, shortened, or ""."""
    index = bisect_right(starts, position) - 1
    if index < 0 or position >= headers[index].rows.end:
        return ""
    return headers[index].text[:MAX_HEADER].rstrip()


def _pages(pages: Sequence[Page], starts: Sequence[int], span: Span) -> tuple[int | None, int | None]:
    if not pages:
        return None, None
    first = pages[max(0, bisect_right(starts, span.start) - 1)]
    last = pages[max(0, bisect_right(starts, span.end - 1) - 1)]
    return first.number, last.number
