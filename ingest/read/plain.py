"""How is plain text read?"""

from __future__ import annotations

import re

from ingest.errors import Unsupported
from ingest.normalize import byte_runs, normalize
from ingest.read.encoding import decode
from ingest.types import ReadResult, Span

MEDIA_TYPE = "text/plain"
_LINE = re.compile(r"[^\n]+")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def read_plain(data: bytes) -> ReadResult:
    """Read a text file: paragraphs are what blank lines separate."""
    decoded = decode(data)
    refuse_binary(decoded.text)
    clean = normalize(decoded.text)
    return ReadResult(
        text=clean.text,
        media_type=MEDIA_TYPE,
        encoding=decoded.encoding,
        blocks=tuple(paragraphs(clean.text)),
        byte_runs=byte_runs(clean, decoded.text, data, decoded.encoding, decoded.bom),
    )


def paragraphs(text: str) -> list[Span]:
    """Return the spans of the paragraphs of `text`, without white space around them."""
    # Line by line: one expression for a whole paragraph takes quadratic time on a long line of spaces.
    spans: list[Span] = []
    last = -2
    for match in _LINE.finditer(text):
        line = match[0]
        if not line.strip():
            continue
        stop = match.start() + len(line.rstrip())
        if spans and last + 1 == match.start():
            spans[-1] = Span(spans[-1].start, stop)
        else:
            spans.append(Span(match.start() + len(line) - len(line.lstrip()), stop))
        last = match.end()
    return spans


def refuse_binary(text: str) -> None:
    """Raise Unsupported for what decodes only by accident: a text holds hardly any control characters."""
    sample = text[:100_000]
    if len(_CONTROLS.findall(sample)) * 20 > len(sample):
        raise Unsupported("This is not a text file: it is full of control characters.")
