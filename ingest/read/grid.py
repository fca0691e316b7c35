"""Which rows of a sheet belong to one table, and which of them is its header?

A sheet has no tables of its own: titles stand above them, empty rows between them. The first row with several cells
that is not narrower than the next is the header, if it reads like one; above it stand titles and remarks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import NamedTuple

from ingest.read.builder import Builder
from ingest.read.tabular import is_header

WIDEST_GAP = 100
"""Empty cells in a row that are kept: they show to which column the next one belongs."""


class Row(NamedTuple):
    """A row: its number from 0, and the texts of its cells by column from 0, without empty ones, in order."""

    number: int
    cells: dict[int, str]


def add_sheet(builder: Builder, name: str, rows: Iterable[Row], left: int) -> None:
    """Append a sheet under a heading with its name; `left` is its first column. Empty rows are skipped."""
    builder.add(name, level=1)
    columns = range(0)
    table = 0
    deciding = True
    before = -1
    for row, following in pairwise(chain((row for row in rows if row.cells), [Row(-1, {})])):
        deciding = deciding or row.number > before + 1
        before = row.number
        header = False
        if len(row.cells) > 1 and deciding and len(following.cells) <= len(row.cells):
            deciding = False
            here = range(min(row.cells), max(row.cells) + 1)
            header = columns != here and is_header(list(_filled(row, left)))
            if header or not (here[0] in columns and here[-1] in columns):  # else an empty row inside of a table
                columns = here
                table += 1
        builder.add_row(list(_filled(row, left)), header=header, table=table)
    builder.end_table()


def _filled(row: Row, left: int) -> Iterator[str]:
    """Yield the cells with the empty ones between them; a cell that stands alone without those before it."""
    done = left - 1
    for column, text in row.cells.items():
        if len(row.cells) > 1:
            yield from [""] * min(column - done - 1, WIDEST_GAP)
        yield text
        done = column
