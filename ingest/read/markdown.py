"""How is Markdown read?

The text is the source itself but for HTML tags and comments, so that every position has its place in the file; the
parser only says where headings and blocks are.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingest.normalize import byte_runs, chained, normalize, rewritten
from ingest.read.encoding import decode
from ingest.read.front_matter import front_matter
from ingest.read.markdown_html import is_tag, removals
from ingest.read.plain import refuse_binary
from ingest.types import Heading, ReadResult, Span, TableHeader

MEDIA_TYPE = "text/markdown"
_BLOCKS = {"paragraph_open", "heading_open", "fence", "code_block", "html_block", "tr_open"}
_PARSER = MarkdownIt("commonmark").enable("table")


def read_markdown(data: bytes) -> ReadResult:
    """Read a Markdown file."""
    decoded = decode(data)
    refuse_binary(decoded.text)
    clean = normalize(decoded.text)
    text = clean.text
    front = front_matter(text)
    body = "\n" * text.count("\n", 0, front.end) + text[front.end :]
    tokens = _PARSER.parse(body)
    lines = _lines(text)
    hidden = removals(text, tokens, lines)
    clean = chained(clean, rewritten(text, hidden.edits))
    lines = [hidden.moved(line) for line in lines]
    text = clean.text
    headings = tuple(_headings(tokens, lines))
    blocks = [Span(0, front.end)] if front.end else []
    blocks.extend(_blocks(tokens, lines, text))
    first = next((heading.title for heading in headings if heading.level == 1), None)
    return ReadResult(
        text=text,
        media_type=MEDIA_TYPE,
        title=front.title or first,
        date=front.date,
        encoding=decoded.encoding,
        headings=headings,
        blocks=tuple(blocks),
        byte_runs=byte_runs(clean, decoded.text, data, decoded.encoding, decoded.bom),
        table_headers=tuple(_table_headers(tokens, lines, text)),
        tags=front.tags,
    )


def _lines(text: str) -> list[int]:
    """Return where each line starts, and the end of the text as one more."""
    return [0, *(match.end() for match in re.finditer("\n", text)), len(text)]


def _headings(tokens: Sequence[Token], lines: Sequence[int]) -> Iterator[Heading]:
    for opening, inline in itertools.pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            title = _title(inline)
            if title:
                yield Heading(int(opening.tag[1:]), title, lines[opening.map[0]])


def _title(inline: Token) -> str:
    parts = []
    for child in inline.children or ():
        if not is_tag(child):
            parts.append(" " if child.type in ("softbreak", "hardbreak") else child.content)
    return " ".join("".join(parts).split())


def _blocks(tokens: Sequence[Token], lines: Sequence[int], text: str) -> Iterator[Span]:
    done = 0
    for token in tokens:
        if token.type not in _BLOCKS or not token.map:
            continue
        start, end = max(done, lines[token.map[0]]), lines[min(token.map[1], len(lines) - 1)]
        piece = text[start:end]
        if piece.strip():
            start += len(piece) - len(piece.lstrip("\n"))
            yield Span(start, start + len(text[start:end].rstrip()))
            done = end


def _table_headers(tokens: Sequence[Token], lines: Sequence[int], text: str) -> Iterator[TableHeader]:
    """Yield the header line of each table; its rows include the line of dashes below it."""
    for table, head in itertools.pairwise(tokens):
        if table.type != "table_open" or not table.map or head.type != "thead_open" or not head.map:
            continue
        line, last = head.map[0], min(table.map[1], len(lines) - 1)
        names = [" ".join(cell.split()) for cell in text[lines[line] : lines[line + 1]].strip().strip("|").split("|")]
        rows = Span(lines[line + 1], lines[last])
        if line + 2 < last and any(names):
            yield TableHeader(rows, " | ".join(names))
