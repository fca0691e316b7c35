"""How does a run without a checkpoint keep what it needs until its answer is built? In memory, and then not at all."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from app.core.types import Passage
from app.retrieval.search import passage_json
from app.runs.requests import RunRequest
from app.runs.store import RunView

Json = dict[str, Any]


class MemoryRecorder:
    """A recorder for one run that leaves nothing behind."""

    def __init__(self) -> None:
        self.run_id = str(uuid.uuid4())
        self.events: list[tuple[str, Json]] = []
        self._traces: list[Json] = []
        self._passages: dict[str, Passage] = {}
        self._claims: list[Json] = []
        self._evidence: list[str] = []
        self._drafts: dict[str, Json] = {}
        self._started = time.time()

    def emit(self, kind: str, data: Json) -> None:
        """Keep an event."""
        self.events.append((kind, data))

    def trace(self, kind: str, data: Json) -> None:
        """Keep a trace entry."""
        self._traces.append({**data, "kind": kind, "at": time.time()})

    def add_passages(self, passages: Sequence[Passage]) -> None:
        """Keep passages; the first form of each stays."""
        for passage in passages:
            self._passages.setdefault(passage.chunk_id, passage)

    def passages(self) -> dict[str, Passage]:
        """Return the passages."""
        return dict(self._passages)

    def commit_claim(self, claim: Json, appended: Mapping[int, str], passages: Mapping[str, Passage]) -> None:
        """Keep a sentence and its evidence."""
        self._evidence += [appended[number] for number in sorted(appended)]
        self._claims.append(claim)

    def claims(self) -> list[Json]:
        """Return the sentences."""
        return list(self._claims)

    def evidence(self) -> list[str]:
        """Return the evidence."""
        return list(self._evidence)

    def save_draft(self, role: str, draft: Json) -> None:
        """Keep a draft."""
        self._drafts[role] = draft

    def draft(self, role: str) -> Json | None:
        """Return a draft."""
        return self._drafts.get(role)

    def save_plan(self, plan: Json) -> None:
        """Keep nothing: nobody is asked about this plan."""

    def view(self, request: RunRequest, fingerprint: Json) -> RunView:
        """Return what the result is built from."""
        return RunView(
            run_id=self.run_id, question=request.question, fingerprint=fingerprint, claims=self._claims,
            evidence=self._evidence, passages={key: passage_json(one) for key, one in self._passages.items()},
            traces=self._traces, drafts=self._drafts, seconds=time.time() - self._started, resumes=0,
        )  # fmt: skip
