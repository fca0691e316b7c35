"""How is LaTeX source read? The text is the source itself; sectioning, title, date and table rows are found."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.read.plain import paragraphs
from ingest.read.verbatim import source_of
from ingest.types import Heading, ReadResult, Span, TableHeader

MEDIA_TYPE = "text/x-tex"
_LEVELS = {
    name: level
    for level, name in enumerate(
        ("part", "chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph"), 1
    )
}
_SECTION = re.compile(r"\\(?P<name>part|chapter|(?:sub){0,2}section|(?:sub)?paragraph)\*?\s*(?:\[[^\]]{0,500}\]\s*)?\{")
_FIELD = re.compile(r"\\(?P<name>title|date)\s*(?:\[[^\]]{0,500}\]\s*)?\{")
_SILENT = re.compile(
    r"(?<!\\)%[^\n]*"
    r"|\\begin\{(?P<name>verbatim\*?|lstlisting|minted|comment)\}.*?(?:\\end\{(?P=name)\}|\Z)",
    re.DOTALL,
)
_TABLE = re.compile(
    r"\\begin\{(?P<name>tabular[*xy]?|longtable|tabulary|tblr)\}.*?(?:\\end\{(?P=name)\}|\Z)", re.DOTALL
)
_OPENING = re.compile(r"\\begin\{[a-z*]+\}(?:\[[^\]\n]*\]|\{(?:[^{}\n]|\{[^{}\n]*\})*\})*")
_ROW = re.compile(r"\\\\(?:\[[^\]\n]*\])?|\\tabularnewline\b")
_RULE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|cline\{[^}]*\}|cmidrule(?:\([^)]*\))?\{[^}]*\})"
)
_BREAK = re.compile(r"\\\\\*?(?:\[[^\]\n]*\])?")
_DROPPED = re.compile(r"\\(?:label|footnote|thanks|index|vspace|hspace)\*?\{[^{}]*\}")
_COMMAND = re.compile(r"\\(?:[a-zA-Z]+\*?(?=\{)|[a-zA-Z]+\*?[ \t]*)")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_LONGEST_TITLE = 500


def read_latex(data: bytes) -> ReadResult:
    """Read a LaTeX file."""
    source = source_of(data)
    text = source.text
    seen = _SILENT.sub(lambda match: " " * len(match[0]), text)  # same length: places stay what they are
    fields = {match["name"]: match.end() for match in reversed(list(_FIELD.finditer(seen)))}
    tables = list(_TABLE.finditer(seen))
    headers = [header for table in tables if (header := _header(table, seen)) is not None]
    return source.result(
        MEDIA_TYPE,
        title=_plain(_argument(seen, fields["title"])) or None if "title" in fields else None,
        date=_plain(_argument(seen, fields["date"])) or None if "date" in fields else None,
        headings=tuple(_headings(seen)),
        blocks=tuple(_blocks(text, [row for table in tables for row in _rows(table, seen)])),
        table_headers=tuple(headers),
    )


def _headings(seen: str) -> Iterator[Heading]:
    for match in _SECTION.finditer(seen):
        title = _plain(_argument(seen, match.end()))
        if title:
            yield Heading(_LEVELS[match["name"]], title, match.start())


def _argument(text: str, start: int) -> str:
    """Return what stands between an opening brace, whose inside begins at `start`, and its closing one."""
    depth = 1
    for match in _BRACE.finditer(text, start, start + _LONGEST_TITLE):
        depth += (match[0] == "{") - (match[0] == "}")
        if not depth:
            return text[start : match.start()]
    return ""


def _plain(source: str) -> str:
    """Return a title as it is read: commands give way to their arguments."""
    text = _DROPPED.sub("", _BREAK.sub(" ", source))
    text = _COMMAND.sub("", text.replace("~", " "))
    return " ".join(re.sub(r"\\([%&#_$ ])|[{}]", r"\1", text).split())


def _rows(table: re.Match[str], seen: str) -> Iterator[Span]:
    """Yield the rows of a table, in places of the whole text, without rules and the opening of the table."""
    opening = _OPENING.match(seen, table.start())
    start = opening.end() if opening else table.start()
    for end in _ROW.finditer(seen, start, table.end()):
        inner = _RULE.sub(lambda match: " " * len(match[0]), seen[start : end.start()])
        if inner.strip():
            yield Span(start + len(inner) - len(inner.lstrip()), end.end())
        start = end.end()


def _header(table: re.Match[str], seen: str) -> TableHeader | None:
    """Return the first row as header where a rule follows it and more rows."""
    rows = list(_rows(table, seen))
    if len(rows) < 2 or not _RULE.match(seen[rows[0].end : rows[1].start].lstrip()):
        return None
    cells = [_plain(cell) for cell in re.split(r"(?<!\\)&", _ROW.sub("", rows[0].of(seen)))]
    return TableHeader(Span(rows[0].end, rows[-1].end), " | ".join(cells)) if any(cells) else None


def _blocks(text: str, rows: list[Span]) -> Iterator[Span]:
    """Yield the paragraphs, those with rows of a table in them cut at each row."""
    waiting = iter(rows)
    row = next(waiting, None)
    for paragraph in paragraphs(text):
        start = paragraph.start
        while row is not None and row.end <= paragraph.end:
            yield from _filled(text, start, row.start)
            yield from _filled(text, max(start, row.start), row.end)
            start = row.end
            row = next(waiting, None)
        yield from _filled(text, start, paragraph.end)


def _filled(text: str, start: int, end: int) -> Iterator[Span]:
    if text[start:end].strip():
        yield Span(start, end)
