"""Which pieces of a passage can stand as a sentence of an answer?"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from app.core.sentences import is_table_row, sentences
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

BULLET = re.compile(r"^(?:[-*•·▪●–>]\s+)+")
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
        headings = {*item.passage.headings, item.passage.document.title}
        folded_headings = {_folded(heading) for heading in headings}
        for text in _texts(item.passage.text, headings):
            flat = BULLET.sub("", " ".join(text.split()))
            folded = _folded(flat)
            if folded not in seen and folded not in folded_headings and _states(flat):
                seen.add(folded)
                found.append(Unit(item.key, flat, _language(flat, item.passage.language)))
    return found


def _texts(text: str, headings: Collection[str]) -> Iterator[str]:
    """Yield the sentences, and a table's rows each with its header row and those between if they are not too long."""
    table: int | None = None
    spans = sentences(text, headings)
    for (start, end), (after, after_end) in zip(spans, [*spans[1:], (0, 0)], strict=True):
        row = text[start:end]
        if is_table_row(row) and TABLE_RULE.match(text[after:after_end]):
            table = start
        elif not is_table_row(row):
            table = None if not TABLE_RULE.match(row) else table
            yield row
        elif table is None or text[table:start].count("\n\n"):
            table = start
            yield row
        elif not TABLE_RULE.match(row):
            yield text[table:end] if end - table <= MAX_TABLE_CHARS else row


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
