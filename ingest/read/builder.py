"""How does a reader put together a text of its own, block by block?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ingest.normalize import normalize
from ingest.read.verbatim import refuse_long
from ingest.types import Heading, ReadResult, Span, TableHeader

_GAP = "\n\n"


@dataclass(slots=True)
class _Table:
    """The table whose rows are being added: where its data rows begin, and the text of its header rows."""

    key: object
    header: list[str]
    rows_start: int
    has_rows: bool = False


@dataclass(slots=True)
class Builder:
    """The text so far. Table rows follow each other on lines, all other blocks after a blank line."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    blocks: list[Span] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    table_headers: list[TableHeader] = field(default_factory=list)
    _table: _Table | None = None

    @property
    def text(self) -> str:
        """Return what was added."""
        return "".join(self.parts)

    @property
    def in_table(self) -> bool:
        """Say whether the last block was a row of a table that may go on."""
        return self._table is not None

    def add(self, raw: str, *, level: int = 0) -> None:
        """Append one block, unless it is empty; `level` above 0 makes it a heading. Raises TooLarge."""
        self.end_table()
        start = self._append(raw, _GAP)
        if level and start is not None:
            title = " ".join(self.parts[-1].split())
            self.headings.append(Heading(level, title, start))

    def add_row(self, cells: Sequence[str], *, header: bool = False, table: object = None) -> None:
        """Append a row of a table: of the same one as the row before it, if `table` is equal. Raises TooLarge."""
        line = " | ".join(cells)
        open_table = self._table
        same = open_table is not None and open_table.key == table
        if not same:
            self.end_table()
        if self._append(line, "\n" if open_table is not None else _GAP) is None:
            return
        if self._table is None or (header and self._table.has_rows):
            self.end_table()
            self._table = _Table(table, [], self.length)
        if header:
            self._table.header.append(self.parts[-1].strip())
            self._table.rows_start = self.length
        else:
            self._table.has_rows = True

    def add_result(self, result: ReadResult, *, below: int = 0) -> None:
        """Append what another reader made, its headings `below` levels deeper."""
        self.end_table()
        if not result.text.strip():
            return
        gap = _GAP if self.parts else ""
        shift = self.length + len(gap)
        self.parts.append(gap + result.text)
        self.length = shift + len(result.text)
        refuse_long(self.length)
        self.blocks.extend(Span(one.start + shift, one.end + shift) for one in result.blocks)
        self.headings.extend(Heading(one.level + below, one.title, one.start + shift) for one in result.headings)
        for one in result.table_headers:
            self.table_headers.append(TableHeader(Span(one.rows.start + shift, one.rows.end + shift), one.text))

    def end_table(self) -> None:
        """Say that what follows belongs to no table, or to another one."""
        table, self._table = self._table, None
        if table is not None and table.header and table.has_rows:
            rows = Span(table.rows_start, self.blocks[-1].end)
            self.table_headers.append(TableHeader(rows, "\n".join(table.header)))

    def _append(self, raw: str, gap: str) -> int | None:
        text = normalize(raw).text.strip("\n").rstrip()
        if not text:
            return None
        start = self.length + (len(gap) if self.parts else 0)
        self.parts.append(gap + text if self.parts else text)
        self.length = start + len(text)
        refuse_long(self.length)
        self.blocks.append(Span(start, self.length))
        return start
