"""How are the numbers of a run shown? A table for the terminal, Markdown, and plain data, all from the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.console import Console
from rich.table import Table

from eval.measures import MEASURES
from eval.runs import CellResult, Json, Run
from eval.stats import interval, share_interval

COST = ("seconds", "llm_calls", "tokens", "searches")
TABLES = (
    ("Retrieval", ("recall@5", "recall@10", "recall@20", "ndcg@10", "mrr", "all_gold@10")),
    ("Answers", ("answered_correct", "false_refusal", "false_answer", "useful", "token_f1", "answer_contains")),
    ("Citations", (
        "quotation_verified", "right_document", "right_page", "right_sentence", "citation_recall",
        "citation_precision",
    )),
    ("Cost", COST),
)  # fmt: skip
"""Refusals stand beside correct answers, always: refusing everything must not look good."""


Intervals = Literal["none", "short", "full"]


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over `n` questions with its 95 % bootstrap interval."""

    value: float
    low: float
    high: float
    n: int


def mean(values: Sequence[float], *, share: bool = True) -> Mean | None:
    """Return the mean of values, None of none; a `share` lies between 0 and 1."""
    if not values:
        return None
    low, high = (share_interval if share else interval)(values)
    return Mean(sum(values) / len(values), low, high, len(values))


def summary(run: Run) -> Json:
    """Return the means of a run as plain data: what `--json` prints."""
    return {
        "run": run.id, "suite": run.suite, "model": run.model, "created": run.created, "program": run.program,
        "cells": [_cell(cell) for cell in run.cells],
    }  # fmt: skip


def _cell(cell: CellResult) -> Json:
    means = {name: mean(list(values.values()), share=name not in COST) for name, values in cell.values.items()}
    return {
        "set": cell.set, "variant": cell.variant, "questions": cell.questions, "failed": cell.failed,
        "asked": cell.asked, "unknown_gold": list(cell.unknown_gold),
        "documents": cell.documents, "chunks": cell.chunks,
        "ingest_seconds": cell.ingest_seconds, "ask_seconds": cell.ask_seconds, "records": cell.records,
        "measures": {
            name: {"mean": round(one.value, 4), "low": round(one.low, 4), "high": round(one.high, 4), "n": one.n}
            for name, one in means.items()
            if one is not None
        },
    }  # fmt: skip


def show(run: Run, console: Console, *, intervals: bool = False) -> None:
    """Print the tables of a run."""
    for title, names in TABLES:
        rows = _rows(run, names, "short" if intervals else "none")
        if rows:
            table = Table(title=title, title_justify="left", box=None, pad_edge=False)
            for number, head in enumerate(("set", "variant", "n", *names)):
                justify: Literal["left", "right"] = "left" if number < 2 else "right"
                table.add_column(head.replace("_", "\n"), justify=justify, no_wrap=True)
            for row in rows:
                table.add_row(*row)
            console.print(table)
            console.print()
    console.print(_took(run), markup=False, highlight=False)


def markdown(run: Run) -> str:
    """Return the tables of a run as Markdown, every mean with its interval."""
    parts = [f"# {run.suite}\n\n{run.created} UTC, model `{run.model}`, program `{run.program['app']}`.\n"]
    for title, names in TABLES:
        rows = _rows(run, names, "full")
        if rows:
            heads = ("set", "variant", "n", *names)
            lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
            lines += ["| " + " | ".join(row) + " |" for row in rows]
            parts.append(f"## {title}\n\n" + "\n".join(lines) + "\n")
    said = "\n".join(f"- `{name}`: {MEASURES[name].says}" for _, names in TABLES for name in names)
    return "\n".join([*parts, f"{_took(run)}\n", "Means with 95 % bootstrap intervals.\n", said]) + "\n"


def _rows(run: Run, names: Sequence[str], intervals: Intervals) -> list[tuple[str, ...]]:
    rows = []
    for cell in run.cells:
        means = [mean(list(cell.values.get(name, {}).values()), share=name not in COST) for name in names]
        if any(one is not None for one in means):
            failed = f" ({cell.failed} failed)" if cell.failed else ""
            texts = [
                _text(one, intervals, name in COST, cell.questions) for name, one in zip(names, means, strict=True)
            ]
            rows.append((cell.set, cell.variant, f"{cell.questions}{failed}", *texts))
    return rows


def _text(found: Mean | None, intervals: Intervals, plain: bool, questions: int) -> str:
    """Write a mean, with its own number of questions where it is over fewer; its interval, or half its width."""
    if found is None:
        return "–"
    form = _plain if plain else _probability
    text = form(found.value) if found.n == questions else f"{form(found.value)}/{found.n}"
    if intervals == "full":
        return f"{text} [{form(found.low)}, {form(found.high)}]"
    return text if intervals == "none" else f"{text}\n±{form((found.high - found.low) / 2)}"


def _plain(value: float) -> str:
    return f"{value:.2f}"


def _probability(value: float) -> str:
    return f"{value:.3f}".removeprefix("0") if value < 0.9995 else "1.00"


def _took(run: Run) -> str:
    asked = sum(cell.asked for cell in run.cells)
    total = sum(cell.questions for cell in run.cells)
    ingest = sum(cell.ingest_seconds for cell in run.cells)
    spent = sum(cell.ask_seconds for cell in run.cells)
    unknown = sorted({f"{cell.set}: {name}" for cell in run.cells for name in cell.unknown_gold})
    lost = f"{len(unknown)} gold documents are not in the corpus, and count as missed: {', '.join(unknown[:5])}\n"
    return (lost if unknown else "") + (
        f"`.500/12` is a mean over 12 questions, those that have a value. {total} questions, {asked} asked now, the "
        f"others from records; ingestion {ingest:.0f} s, questions {spent:.0f} s. Run {run.id}."
    )
