"""What takes the time and the memory? Parts are timed by standing in front of them: no timer is in the program."""

from __future__ import annotations

import resource
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")

OTHER = "other"
"""The time in which no stage runs."""
SAMPLE_SECONDS = 0.02
"""Between two looks at the memory: a peak that is shorter is seen only if it is the highest of the process so far."""

_inside: ContextVar[bool] = ContextVar("inside", default=False)


@dataclass(frozen=True, slots=True)
class Spent:
    """What a stage took: its part of the clock and its processor time, in seconds, and how often it ran."""

    wall: float = 0.0
    cpu: float = 0.0
    calls: int = 0


class Stages:
    """Adds up what each stage takes. Safe to use from several threads.

    A moment in which several stages run is divided equally among them, so that the parts of the clock, `other`
    included, add up to the whole. A stage inside another one belongs to the outer one.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._active: defaultdict[str, int] = defaultdict(int)
        self._clear()

    def _clear(self) -> None:
        self._since = time.perf_counter()
        self._wall: defaultdict[str, float] = defaultdict(float)
        self._cpu: defaultdict[str, float] = defaultdict(float)
        self._calls: defaultdict[str, int] = defaultdict(int)
        self._single = 0.0

    @contextmanager
    def running(self, stage: str, *, threads: bool = False) -> Iterator[None]:
        """Count what happens within to `stage`.

        With `threads` its work is done by other threads too (a model, an engine): its processor time is then that of
        the process, less what stages of a single thread took in the meantime.
        """
        if _inside.get():
            yield
            return
        token = _inside.set(True)
        clock = time.process_time if threads else time.thread_time
        single, before = self._single, clock()
        self._turn(stage, 1)
        try:
            yield
        finally:
            self._turn(stage, -1)
            self._add(stage, clock() - before, single if threads else None)
            _inside.reset(token)

    def timed(self, stage: str, work: Callable[..., T], *, threads: bool = False) -> Callable[..., T]:
        """Return `work`, counted to a stage."""

        @wraps(work)
        def counted(*args: Any, **options: Any) -> T:
            with self.running(stage, threads=threads):
                return work(*args, **options)

        return counted

    def take(self) -> dict[str, Spent]:
        """Return what every stage took since the last time, and begin anew."""
        with self._lock:
            self._divide()
            names = {OTHER, *self._wall, *self._calls}
            spent = {name: Spent(self._wall[name], self._cpu[name], self._calls[name]) for name in sorted(names)}
            self._clear()
            return spent

    def _turn(self, stage: str, by: int) -> None:
        with self._lock:
            self._divide()
            self._active[stage] += by

    def _divide(self) -> None:
        now = time.perf_counter()
        passed, self._since = now - self._since, now
        running = sum(self._active.values())
        for stage, count in self._active.items():
            if count:
                self._wall[stage] += passed * count / running
        if not running:
            self._wall[OTHER] += passed

    def _add(self, stage: str, cpu: float, single: float | None) -> None:
        with self._lock:
            if single is None:
                self._single += cpu
            else:
                cpu = max(0.0, cpu - (self._single - single))
            self._cpu[stage] += cpu
            self._calls[stage] += 1


class Timed:
    """Stands in front of an object and counts the methods that `stages_of` names to their stages.

    `threads`: whether the object does its work in threads of its own.
    """

    def __init__(self, inner: Any, stages: Stages, stages_of: Mapping[str, str], *, threads: bool = False) -> None:
        self._inner, self._stages, self._stages_of, self._threads = inner, stages, stages_of, threads

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        stage = self._stages_of.get(name)
        return found if stage is None else self._stages.timed(stage, found, threads=self._threads)


@contextmanager
def functions_timed(stages: Stages, stages_of: Mapping[tuple[ModuleType, str], str]) -> Iterator[None]:
    """Count functions, by the module that calls them and their name there, to stages as long as the block runs.

    For what a program calls without a port that something could stand in front of.
    """
    held = {(module, name): getattr(module, name) for module, name in stages_of}
    for (module, name), stage in stages_of.items():
        setattr(module, name, stages.timed(stage, held[module, name]))
    try:
        yield
    finally:
        for (module, name), work in held.items():
            setattr(module, name, work)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a piece of work took: seconds of the clock and of this process's processors, and bytes of memory.

    `peak` is the most that was resident while it ran, `before` what was resident when it began.
    """

    wall: float
    cpu: float
    peak: int
    before: int

    @property
    def grown(self) -> int:
        """Bytes of the peak that were not there before."""
        return max(0, self.peak - self.before)


def measured(work: Callable[[], T]) -> tuple[T, Usage]:
    """Do a piece of work and say what it took; child processes are not counted."""
    with _Watch() as memory:
        wall, cpu = time.perf_counter(), time.process_time()
        done = work()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return done, Usage(wall, cpu, memory.peak, memory.before)


def children_cpu() -> float:
    """Return the seconds of processor time of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def resident() -> int:
    """Return the bytes of this process that are in memory; where the system does not say, the most there ever were."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return highest()
    return pages * resource.getpagesize()


def highest() -> int:
    """Return the most bytes of this process that were ever in memory."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


class _Watch:
    """Watches the memory for the time of a `with` block."""

    def __init__(self) -> None:
        self.before = self.peak = resident()
        self._highest = highest()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="memory", daemon=True)

    def _look(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            self.peak = max(self.peak, resident())

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()
        self.peak = max(self.peak, resident())
        if highest() > self._highest:  # a new highest peak is exact, however short it was
            self.peak = max(self.peak, highest())
