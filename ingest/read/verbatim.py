"""How is a text file kept as it is, so that every position has its place in the file?"""

from __future__ import annotations

import re
from typing import NamedTuple

from ingest.errors import TooLarge
from ingest.normalize import byte_runs, normalize
from ingest.read.encoding import decode
from ingest.read.plain import refuse_binary
from ingest.types import ByteRun, Heading, ReadResult, Span, TableHeader

MAX_CHARACTERS = 50_000_000
"""Characters of one text, as for a PDF: cutting so many into chunks takes half a minute."""
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class Source(NamedTuple):
    """A decoded and normalised file with its encoding and, where there is one, the map back to its bytes."""

    text: str
    encoding: str
    byte_runs: tuple[ByteRun, ...] | None

    def result(
        self,
        media_type: str,
        *,
        title: str | None = None,
        date: str | None = None,
        headings: tuple[Heading, ...] = (),
        blocks: tuple[Span, ...] = (),
        table_headers: tuple[TableHeader, ...] = (),
    ) -> ReadResult:
        """Return this text with the structure that was found in it."""
        return ReadResult(
            text=self.text,
            media_type=media_type,
            title=title,
            date=date,
            encoding=self.encoding,
            headings=headings,
            blocks=blocks,
            byte_runs=self.byte_runs,
            table_headers=table_headers,
        )


def source_of(data: bytes) -> Source:
    """Decode and normalise a text file. Raises Unsupported for a binary file, TooLarge above MAX_CHARACTERS."""
    decoded = decode(data)
    refuse_binary(decoded.text)
    refuse_long(len(decoded.text))
    clean = normalize(decoded.text)
    return Source(
        clean.text, decoded.encoding, byte_runs(clean, decoded.text, data, decoded.encoding, decoded.bom)
    )  # fmt: skip


def refuse_long(characters: int) -> None:
    """Raise TooLarge for more than MAX_CHARACTERS."""
    if characters > MAX_CHARACTERS:
        raise TooLarge(f"The text has more than {MAX_CHARACTERS:,} characters: split the file.")


def lines(text: str) -> list[Span]:
    """Return the spans of the lines of `text`, each without its line break."""
    return [Span(match.start(), match.end() - match[0].endswith("\n")) for match in _LINE.finditer(text)]
