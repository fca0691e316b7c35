"""How is Markdown read?

The text is the source itself, so that every position has its place in the file; the parser only says where
headings and blocks are.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingest.normalize import byte_runs, normalize
from ingest.read.encoding import decode
from ingest.read.plain import refuse_binary
from ingest.types import Heading, ReadResult, Span

MEDIA_TYPE = "text/markdown"
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?P<body>.*?)^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"^(?P<name>title|date)[ \t]*:[ \t]*(?P<value>\S.*?)[ \t]*$", re.IGNORECASE | re.MULTILINE)
_BLOCKS = {"paragraph_open", "heading_open", "fence", "code_block", "html_block", "tr_open"}
_PARSER = MarkdownIt("commonmark").enable("table")


def read_markdown(data: bytes) -> ReadResult:
    """Read a Markdown file."""
    decoded = decode(data)
    refuse_binary(decoded.text)
    clean = normalize(decoded.text)
    text = clean.text
    front = _FRONT_MATTER.match(text)
    fields = _fields(front["body"]) if front else {}
    body = "\n" * front[0].count("\n") + text[front.end() :] if front else text
    tokens = _PARSER.parse(body)
    lines = _lines(text)
    headings = tuple(_headings(tokens, lines))
    blocks = [Span(0, front.end())] if front else []
    blocks.extend(_blocks(tokens, lines, text))
    first = next((heading.title for heading in headings if heading.level == 1), None)
    return ReadResult(
        text=text,
        media_type=MEDIA_TYPE,
        title=fields.get("title") or first,
        date=fields.get("date"),
        encoding=decoded.encoding,
        headings=headings,
        blocks=tuple(blocks),
        byte_runs=byte_runs(clean, decoded.text, data, decoded.encoding, decoded.bom),
    )


def _fields(front_matter: str) -> dict[str, str]:
    fields: dict[str, str] = {}
    for match in _FIELD.finditer(front_matter):
        value = match["value"]
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        fields.setdefault(match["name"].lower(), value)
    return fields


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
