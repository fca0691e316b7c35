"""Has the program become worse? The project's own questions against a committed baseline.

The baseline holds the value of every question, so that the comparison is paired. The gate fails if a measure is worse
beyond chance (paired permutation test), if its mean fell by more than `TOLERANCE` whatever chance says, if a quotation
did not verify (that one has no tolerance), or if a question failed or is not the baseline's: then nothing was compared.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from app.demo import demo_corpus
from eval.comparison import Row, compare_runs, left_out
from eval.errors import EvalError
from eval.measures import MEASURES
from eval.runs import Run, from_json

SUITE = "gate"
TOLERANCE = 0.05
EXACT = "quotation_verified"
JUDGED = (
    "recall@5", "ndcg@10", "answered_correct", "false_refusal", "false_answer", "useful", "right_sentence", EXACT,
    "searches",
)  # fmt: skip
"""What is compared; seconds are not: a shared machine would decide."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The comparison, and in words what is worse; it passes if nothing is."""

    rows: tuple[Row, ...]
    worse: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing became worse."""
        return not self.worse


def own_data() -> Path:
    """Return the folder above the project's corpus. Raises EvalError where the program was installed without it."""
    folder = demo_corpus()
    if folder is None:
        raise EvalError("The gate needs the folder `corpus` of a checkout: run it from one.")
    return folder.parent


def baseline_path() -> Path:
    """Return where the committed baseline is."""
    return Path(str(files("eval").joinpath("baselines", f"{SUITE}.json")))


def read_baseline() -> Run:
    """Return the baseline. Raises EvalError if there is none."""
    try:
        return from_json(json.loads(baseline_path().read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise EvalError("There is no baseline yet: make it with `citedrag eval gate --update`.") from error


def write_baseline(run: Run) -> None:
    """Replace the baseline; paths and times of this machine are left out."""
    data = run.to_json()
    kept = [{**cell, "records": "", "ingest_seconds": 0.0, "ask_seconds": 0.0, "asked": 0,
             "values": {name: cell["values"].get(name, {}) for name in JUDGED}} for cell in data["cells"]]  # fmt: skip
    text = json.dumps({**data, "id": "baseline", "cells": kept}, ensure_ascii=False, indent=1, sort_keys=True)
    baseline_path().write_text(text + "\n", encoding="utf-8")


def judge(run: Run, baseline: Run) -> Verdict:
    """Compare a run with the baseline, on the questions that both have."""
    rows = compare_runs(baseline, run, JUDGED)
    return Verdict(tuple(rows), (*_uncompared(baseline, run), *_worse(rows, run)))


def _uncompared(baseline: Run, run: Run) -> list[str]:
    """Say what the comparison does not see: changed questions, and questions that failed."""
    alone, failed = left_out(baseline, run), sum(cell.failed for cell in run.cells)
    told = f"{alone} questions are not those of the baseline: make it anew with `citedrag eval gate --update`"
    return [told] * bool(alone) + [f"{failed} questions failed and have no result"] * bool(failed)


def _worse(rows: Sequence[Row], run: Run) -> list[str]:
    found = []
    for row in rows:
        fall = -row.found.difference if MEASURES[row.measure].better == "high" else row.found.difference
        told = f"{row.measure} of {row.set} went from {row.found.mean_a:.3f} to {row.found.mean_b:.3f}"
        if row.found.verdict == "worse":
            found.append(f"{told} (p = {row.found.p:.3f})")
        elif fall > TOLERANCE:
            found.append(f"{told}, more than {TOLERANCE:.2f}")
    for cell in run.cells:
        wrong = sorted(key for key, value in cell.values.get(EXACT, {}).items() if value < 1.0)
        if wrong:
            found.append(f"a quotation does not verify in {', '.join(wrong)} of {cell.set}")
    return found
