"""What does a benchmark find? Rows of a name, a value, its unit, and a ratio to the reference of the same run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

Json = dict[str, Any]

MEGABYTE = 1e6
MILLISECONDS = 1e3


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `ratio` is this value divided by that of the `reference`; None where it is compared to nothing."""

    name: str
    value: float
    unit: str
    ratio: float | None = None
    reference: str = ""


@dataclass(frozen=True, slots=True)
class BenchResult:
    """The figures of one benchmark, and under which conditions they were taken."""

    bench: str
    conditions: Mapping[str, Any]
    table: tuple[Row, ...]

    def rows(self) -> list[Row]:
        """Return the figures in the order in which they are shown."""
        return list(self.table)

    def row(self, name: str) -> Row:
        """Return a figure by its name; raises KeyError if there is none."""
        for row in self.table:
            if row.name == name:
                return row
        raise KeyError(name)

    def to_json(self) -> Json:
        """Return everything as plain data."""
        return {"bench": self.bench, "conditions": dict(self.conditions), "rows": [asdict(row) for row in self.table]}


def show(result: BenchResult, console: Console) -> None:
    """Print the figures as a table, the conditions under it."""
    table = Table("", "value", "unit", "ratio", "to", title=f"bench {result.bench}", title_justify="left")
    for name in ("value", "ratio"):
        next(column for column in table.columns if column.header == name).justify = "right"
    for row in result.table:
        ratio = "" if row.ratio is None else f"{_short(row.ratio)} x"
        table.add_row(row.name, _short(row.value), row.unit, ratio, row.reference)
    console.print(table)
    told = ", ".join(f"{name} {value}" for name, value in result.conditions.items())
    console.print(told, highlight=False, soft_wrap=True)


def median(values: Sequence[float]) -> float:
    """Return the median; raises ValueError of none."""
    return percentile(values, 50)


def percentile(values: Sequence[float], part: float) -> float:
    """Return the percentile `part` in [0, 100], interpolated linearly; raises ValueError of none."""
    if not len(values):
        raise ValueError("no values")
    return float(np.percentile(np.asarray(values, dtype=float), part))


def ratio(value: float, reference: float) -> float | None:
    """Return `value / reference`, None where the reference is too small to be divided by."""
    return value / reference if reference > 0 else None


def _short(value: float) -> str:
    """Show three figures, and no more digits than that before the point."""
    if value and abs(value) < 100:
        return f"{value:.3g}"
    return f"{value:,.0f}"
