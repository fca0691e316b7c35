"""Is one run, or one variant, better than another? The same questions, paired, with an interval and a verdict.

A question is the same if its id, its text and its gold are: what was changed or added in between is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table

from eval.errors import EvalError
from eval.measures import MEASURES
from eval.runs import CellResult, Json, Run
from eval.stats import SIGNIFICANT, Comparison, compare

NOISE = "seconds"
"""Not compared unless it is asked for: what else the machine had to do decides it. Speed is for `eval bench`."""


@dataclass(frozen=True, slots=True)
class Row:
    """One measure of one set, of the two sides."""

    set: str
    measure: str
    left: str
    right: str
    found: Comparison

    def to_json(self) -> Json:
        """Return it as plain data."""
        return {"set": self.set, "measure": self.measure, "left": self.left, "right": self.right, **asdict(self.found)}


def compare_runs(left: Run, right: Run, names: Sequence[str] = ()) -> list[Row]:
    """Compare two runs, variant by variant of the same name. Raises EvalError if they share nothing."""
    pairs = [(one, other) for one in left.cells if (other := right.cell(one.set, one.variant)) is not None]
    return _rows(pairs, names, left.id, right.id)


def left_out(left: Run, right: Run) -> int:
    """Return how many questions of the two runs have no partner with the same text and gold in the other."""
    found = 0
    for cell in left.cells:
        other = right.cell(cell.set, cell.variant)
        if other is not None:
            found += len(set(cell.keys.items()) ^ set(other.keys.items()))
    return found


def compare_variants(run: Run, left: str, right: str, names: Sequence[str] = ()) -> list[Row]:
    """Compare two variants of one run, set by set. Raises EvalError if one of them is not there."""
    known = sorted({cell.variant for cell in run.cells})
    for name in (left, right):
        if name not in known:
            raise EvalError(f"The run {run.id} has no variant {name!r}: it has {', '.join(known)}.")
    pairs = [(one, other) for one in run.cells if one.variant == left and (other := run.cell(one.set, right))]
    return _rows(pairs, names, left, right)


def _rows(pairs: Sequence[tuple[CellResult, CellResult]], names: Sequence[str], left: str, right: str) -> list[Row]:
    found = []
    for one, other in pairs:
        for name in names or [known for known in MEASURES if known != NOISE]:
            both = set(one.values.get(name, {})) & set(other.values.get(name, {}))
            shared = sorted(key for key in both if one.keys.get(key) == other.keys.get(key))
            if shared:
                a, b = ([side.values[name][key] for key in shared] for side in (one, other))
                found.append(Row(one.set, name, left, right, compare(a, b, MEASURES[name].better)))
    if not found:
        raise EvalError("The two share no question of one set, variant and measure: compare runs of one suite.")
    return found


def show(rows: Sequence[Row], console: Console, *, every: bool = False) -> None:
    """Print what differs, or every row; the right side is what is judged."""
    table = Table(box=None, pad_edge=False)
    heads = ("set", "measure", "n", rows[0].left, rows[0].right, "difference", "95 % interval", "p", "")
    for number, head in enumerate(heads):
        table.add_column(head, justify="left" if number in (0, 1, 8) else "right")
    shown = [row for row in rows if every or row.found.verdict != "no difference"]
    for row in shown:
        it = row.found
        table.add_row(
            row.set, row.measure, str(it.n), f"{it.mean_a:.3f}", f"{it.mean_b:.3f}", f"{it.difference:+.3f}",
            f"[{it.low:+.3f}, {it.high:+.3f}]", f"{it.p:.3f}", it.verdict,
        )  # fmt: skip
    if shown:
        console.print(table)
    same = len(rows) - sum(row.found.verdict != "no difference" for row in rows)
    chance = round(SIGNIFICANT * len(rows))
    told = f"; of so many, {chance} may differ by chance alone" if chance else ""
    console.print(f"{len(rows)} comparisons, {same} of them no difference (paired permutation test, p < 0.05{told}).")
