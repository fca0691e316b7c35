"""Which pieces of a passage can stand as a sentence of an answer?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.core.sentences import split_sentences
from app.ports import KeyedPassage
from ingest.tokenize import language

__all__ = ["Unit", "units_of"]

MAX_UNIT_CHARS = 600
"""A longer piece is no sentence but a list or a table without its lines."""

MIN_LATIN_WORDS = 5
MIN_CJK_CHARS = 8
"""Shorter pieces without an end mark are headings, captions or labels."""

MAX_TABLE_CHARS = 240
"""A row is shown with its header row, and the rows between, up to so many characters."""

END_MARK = re.compile(r"[.!。！…;；][\"'”’»)）」』\]]*$")
QUESTION = re.compile(r"[?？][\"'”’»)）」』\]]*$")
LEAD_IN = re.compile(r"[:：]$")
HEADING = re.compile(r"^\s{0,3}#{1,6}\s")
CODE_CHAR = re.compile(r"[$=(){}<>\\\[\]_/*|&#~^`;@+-]")
MAX_CODE_SHARE = 0.08
"""Share of such characters from which a piece without an end mark is a listing."""

TABLE_RULE = re.compile(r"^[\s|:+=-]+$")
CJK = re.compile(r"[\u3400-\u9fff\uac00-\ud7af\u3040-\u30ff]")


WIDE_LANGUAGES = frozenset({"zh", "ja", "ko"})


@dataclass(frozen=True, slots=True)
class Unit:
    """A whole sentence, or a row of a table, as it stands in its passage; only line breaks are collapsed."""

    key: str
    text: str
    language: str

    @property
    def is_row(self) -> bool:
        """Whether it is a row of a table."""
        return " | " in self.text


def units_of(passages: Sequence[KeyedPassage]) -> list[Unit]:
    """Return the pieces of all passages that state something, in order, each text once."""
    seen: set[str] = set()
    found = []
    for item in passages:
        headings = {_folded(text) for text in (*item.passage.headings, item.passage.document.title)}
        for text in _texts(item.passage.text):
            flat = " ".join(text.split())
            if _folded(flat) in seen or _folded(flat) in headings or not _states(flat):
                continue
            seen.add(_folded(flat))
            found.append(Unit(item.key, flat, _language(flat, item.passage.language)))
    return found


def _texts(text: str) -> Iterator[str]:
    """Yield rows of tables with their header row, and the sentences of everything between tables."""
    prose: list[str] = []
    table: list[str] = []
    for line in [*text.splitlines(), ""]:
        is_row = " | " in line or line.lstrip().startswith("|")
        if is_row or (table and line.strip() and TABLE_RULE.match(line)):
            yield from _sentences(prose)
            prose = []
            table.append(line)
            continue
        yield from _rows(table)
        table = []
        if HEADING.match(line) or not line.strip():
            yield from _sentences(prose)
            prose = []
        else:
            prose.append(line)
    yield from _sentences(prose)


def _sentences(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from split_sentences("\n".join(lines))


def _rows(table: Sequence[str]) -> Iterator[str]:
    for number, row in enumerate(table[1:], 1):
        if TABLE_RULE.match(row):
            continue
        with_header = "\n".join(table[: number + 1])
        yield with_header if len(with_header) <= MAX_TABLE_CHARS else row
    if len(table) == 1:
        yield table[0]


def _states(text: str) -> bool:
    if QUESTION.search(text) or LEAD_IN.search(text) or HEADING.match(text) or len(text) > MAX_UNIT_CHARS:
        return False
    wide = len(CJK.findall(text))
    long_enough = wide >= MIN_CJK_CHARS or len(text.split()) >= MIN_LATIN_WORDS
    if " | " in text:
        return long_enough
    if END_MARK.search(text) is None and len(CODE_CHAR.findall(text)) > MAX_CODE_SHARE * len(text):
        return False
    # An item of a list often has no end mark, but is longer than any heading.
    is_long = wide > 2 * MIN_CJK_CHARS or len(text.split()) > 2 * MIN_LATIN_WORDS
    return long_enough and (is_long or END_MARK.search(text) is not None)


def _language(text: str, stated: str) -> str:
    """Return the language of a piece: its passage's, unless the script differs (a listing, a quotation)."""
    by_script = language(text)
    is_wide, stated_wide = by_script in WIDE_LANGUAGES, stated.lower().partition("-")[0] in WIDE_LANGUAGES
    return stated if stated and is_wide == stated_wide else by_script


def _folded(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())
