"""How far is a run, and how long will it take?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from eval.runner import Step

LINE_SECONDS = 15.0
"""Between two lines where there is no terminal to draw on."""


@contextmanager
def shown(console: Console) -> Iterator[Callable[[Step], None]]:
    """Give what takes a run's steps: bars with the time left on a terminal, else a line now and then."""
    if not console.is_terminal:
        yield Lines(console)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield Bars(progress)


class Bars:
    """One bar for each stage of a set under a variant."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[tuple[str, str, str], TaskID] = {}

    def __call__(self, step: Step) -> None:
        """Draw a step."""
        key = (step.set, step.variant, step.stage)
        if key not in self._tasks:
            for task in self._tasks.values():
                self._progress.update(task, visible=False)
            self._tasks[key] = self._progress.add_task(f"{step.set} · {step.variant} · {step.stage}", total=None)
        self._progress.update(self._tasks[key], completed=step.done, total=step.total or None)


class Lines:
    """A line at the start of a stage, and one every few seconds with the time left."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._key: tuple[str, str, str] | None = None
        self._started = self._told = time.monotonic()

    def __call__(self, step: Step) -> None:
        """Print a step, or pass over it."""
        now = time.monotonic()
        key = (step.set, step.variant, step.stage)
        if key != self._key:
            self._key, self._started, self._told = key, now, now
            self._console.print(f"{step.set} {step.variant}: {step.stage}", highlight=False, markup=False)
        elif now - self._told >= LINE_SECONDS and step.done:
            self._told = now
            left = (now - self._started) / step.done * (step.total - step.done)
            self._console.print(f"  {step.done} of {step.total}, about {left:.0f} s left", highlight=False)
