"""What are the limits of a run, and who may still spend?"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

DONE_THRESHOLD = 0.40
"""From here a passage counts as evidence and a task as done: the reranker's probability that it answers."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Three independent budgets: iterations (hard), the researcher's tools (reserved), model calls (soft).

    `done_threshold` and `writer_threshold` are probabilities of the reranker; `writer_tokens` are model tokens.
    """

    iterations: int = 8
    searches: int = 12
    pages: int = 24
    evidence: int = 24
    llm_calls: int = 12
    planner_tasks: int = 3
    edited_tasks: int = 6
    approval_tasks: int = 3
    approval_calls: int = 8
    done_threshold: float = DONE_THRESHOLD
    writer_threshold: float = 0.15
    writer_tokens: int = 6000
    writer_items: int = 24


TOOLS = ("searches", "pages", "evidence")


@dataclass(slots=True)
class Reservations:
    """What is left of the tool budgets. Reserve before the call; of any number of threads, none overshoots."""

    left: dict[str, int]
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, limits: Limits, used: Mapping[str, int] | None = None) -> Reservations:
        """Return the budgets less what a run has used already."""
        spent = used or {}
        return cls({name: max(0, getattr(limits, name) - spent.get(name, 0)) for name in TOOLS})

    def reserve(self, name: str, amount: int = 1) -> str | None:
        """Take from a budget: None if it was granted, else a hint that can be shown in place of the result.

        Raises ValueError for less than 1.
        """
        if amount < 1:
            raise ValueError(f"a reservation is of at least 1, not {amount}")
        with self._lock:
            if self.left[name] < amount:
                return f"The budget of {name} is exhausted: go on with what was found."
            self.left[name] -= amount
            return None
