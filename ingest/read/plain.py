"""How is plain text read?"""

from __future__ import annotations

import re

from ingest.errors import Unsupported
from ingest.normalize import byte_runs, normalize
from ingest.read.encoding import decode
from ingest.types import ReadResult, Span

MEDIA_TYPE = "text/plain"
_PARAGRAPH = re.compile(r"[^\n]*\S[^\n]*(?:\n[^\n]*\S[^\n]*)*")
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
    spans = []
    for match in _PARAGRAPH.finditer(text):
        piece = match[0]
        start = match.start() + len(piece) - len(piece.lstrip())
        spans.append(Span(start, match.start() + len(piece.rstrip())))
    return spans


def refuse_binary(text: str) -> None:
    """Raise Unsupported for what decodes only by accident: a text holds hardly any control characters."""
    sample = text[:100_000]
    if len(_CONTROLS.findall(sample)) * 20 > len(sample):
        raise Unsupported("This is not a text file: it is full of control characters.")
