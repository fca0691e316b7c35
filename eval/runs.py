"""What is kept of a finished run? One JSON file: for every set and variant the value of each measure by question."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from eval.errors import EvalError
from eval.measures import measure
from eval.runner import Cell
from eval.workspace import digest, engines, program

Json = dict[str, Any]
Values = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class CellResult:
    """One set under one variant, measured: `values[measure][question id]`. `failed` questions have no outcome.

    `records` is the file with the outcome of each question; `keys` tell by a question's id whether another run asked
    the same with the same gold; `unknown_gold` are gold documents that the corpus does not have.
    """

    set: str
    variant: str
    values: Values
    questions: int
    records: str
    keys: Mapping[str, str] = field(default_factory=dict)
    unknown_gold: tuple[str, ...] = ()
    failed: int = 0
    documents: int = 0
    chunks: int = 0
    asked: int = 0
    ingest_seconds: float = 0.0
    ask_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Run:
    """A run of a suite. `program` is the hash of the sources and the engines' versions."""

    id: str
    suite: str
    model: str
    created: str
    program: Json
    cells: tuple[CellResult, ...]

    def to_json(self) -> Json:
        """Return the run as plain data."""
        return {**asdict(self), "cells": [{**asdict(cell), "values": cell.values} for cell in self.cells]}

    def cell(self, set_name: str, variant: str) -> CellResult | None:
        """Return the result of a set under a variant."""
        return next((one for one in self.cells if (one.set, one.variant) == (set_name, variant)), None)


def measured(cells: Sequence[Cell], suite: str, model: str) -> Run:
    """Measure what a suite brought; a question without an outcome counts with the worst value."""
    now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime())
    stamp = now.replace("-", "").replace(":", "").replace("T", "-")
    source = {"app": program("app"), "ingest": program("ingest"), "engines": list(engines())}
    return Run(
        f"{suite}-{stamp}-{uuid.uuid4().hex[:6]}", suite, model, now, source, tuple(_measured(cell) for cell in cells)
    )


def _measured(cell: Cell) -> CellResult:
    failed = sum(cell.outcomes.get(one.id) is None or cell.outcomes[one.id].error is not None for one in cell.questions)
    return CellResult(
        cell.set, cell.variant, measure(cell.questions, cell.outcomes), len(cell.questions), str(cell.records),
        {one.id: digest(asdict(one)) for one in cell.questions}, cell.unknown_gold, failed, cell.documents, cell.chunks,
        cell.asked, cell.ingest_seconds, cell.ask_seconds,
    )  # fmt: skip


def save(run: Run, folder: Path) -> Path:
    """Write a run whole, or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{run.id}.json"
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(run.to_json(), ensure_ascii=False), encoding="utf-8")
    draft.replace(path)
    return path


def read(given: str, folder: Path) -> Run:
    """Return a run by file, by id, or by the beginning of its id (the newest such). Raises EvalError."""
    path = Path(given)
    if not path.is_file():
        found = sorted(folder.glob(f"{given}*.json"), key=lambda one: one.stat().st_mtime)
        if not found:
            raise EvalError(f"There is no run {given!r} in {folder}: see `citedrag eval list`.")
        path = found[-1]
    try:
        return from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EvalError(f"{path} is no run of `citedrag eval run`: {error}.") from error


def from_json(data: Json) -> Run:
    """Return the run that `to_json` wrote."""
    cells = tuple(CellResult(**{**cell, "unknown_gold": tuple(cell.get("unknown_gold", ()))}) for cell in data["cells"])
    return Run(data["id"], data["suite"], data["model"], data["created"], data["program"], cells)
