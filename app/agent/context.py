"""What does a node work with? Services and callbacks, handed over in LangGraph's context and never kept in state."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from app.core.budget import Limits, Reservations
from app.core.types import Passage
from app.errors import ModelError
from app.ports import Completion, Role, Roles, SentenceScorer
from app.retrieval.rerank import Reranker
from app.retrieval.search import Retriever

Json = dict[str, Any]


class Recorder(Protocol):
    """Keeps what happens in one run, and sends it to whoever listens."""

    def emit(self, kind: str, data: Json) -> None:
        """Add an event."""

    def trace(self, kind: str, data: Json) -> None:
        """Add a trace entry."""

    def add_passages(self, passages: Sequence[Passage]) -> None:
        """Keep passages."""

    def passages(self) -> dict[str, Passage]:
        """Return the kept passages by chunk id."""

    def commit_claim(self, claim: Json, appended: Mapping[int, str], passages: Mapping[str, Passage]) -> None:
        """Write a sentence, what it appends to the evidence, and their events, in one transaction."""

    def save_plan(self, plan: Json) -> None:
        """Keep the plan in the run's row, for whoever has to decide on it."""

    def claims(self) -> list[Json]:
        """Return the committed sentences."""

    def evidence(self) -> list[str]:
        """Return the committed evidence as chunk ids, in the order of their numbers."""

    def save_draft(self, role: str, draft: Json) -> None:
        """Keep a judged draft."""

    def draft(self, role: str) -> Json | None:
        """Return a judged draft."""


class Source(Protocol):
    """The stored texts that quotations are checked against."""

    def text(self, document_id: str, version: int) -> str | None:
        """Return a document's text, None if that version is no longer what is stored."""

    def locate(self, document_id: str, version: int, start: int, end: int) -> Json:
        """Return `page`, `page_label`, `byte_span` and `boxes` of a span of a document's text."""


@dataclass(frozen=True, slots=True)
class Deps:
    """The services of a run."""

    run_id: str
    roles: Roles
    retriever: Retriever
    reranker: Reranker
    scorer: SentenceScorer
    source: Source
    recorder: Recorder
    limits: Limits
    reservations: Reservations
    researchers: asyncio.Semaphore


def node_finished(
    deps: Deps, name: str, started: float, update: Mapping[str, Any], route_reason: str | None = None
) -> None:
    """Tell that a node has ended: how long it took, which fields it wrote and, of the supervisor, why it goes on."""
    seconds = round(time.perf_counter() - started, 4)
    told = {"node": name, "seconds": seconds, "keys": sorted(update), "route_reason": route_reason}
    deps.recorder.emit("node_finished", told)
    deps.recorder.trace("node", {"node": name, "seconds": seconds})


def count_llm(deps: Deps, role: Role, completion: Completion) -> None:
    """Count what a reply cost; one that cost no call leaves no entry."""
    if completion.calls:
        deps.recorder.trace(
            "llm",
            {
                "role": role, "calls": completion.calls, "tokens_in": completion.tokens_in,
                "tokens_out": completion.tokens_out, "finish_reason": completion.finish_reason,
            },
        )  # fmt: skip


def count_failed(deps: Deps, role: Role, error: ModelError) -> None:
    """Count the calls that were spent on a reply that never came: they were made, and may be billed."""
    count_llm(deps, role, Completion("", finish_reason=error.kind, calls=error.calls))
