"""How does a node keep and tell what it did? `StoredRecorder` writes to the run store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.core.types import Passage
from app.retrieval.search import passage_from_json, passage_json
from app.runs.result import citation_json
from app.runs.store import RunStore
from app.runs.stream import Stream

Json = dict[str, Any]


class StoredRecorder:
    """Writes one run's doings; what is sent was written before."""

    def __init__(self, run_id: str, store: RunStore, stream: Stream) -> None:
        self._run_id = run_id
        self._store = store
        self._stream = stream

    def emit(self, kind: str, data: Json) -> None:
        """Add an event and wake the listeners."""
        self._store.append(self._run_id, kind, data)
        self._stream.wake(self._run_id)

    def trace(self, kind: str, data: Json) -> None:
        """Add a trace entry."""
        self._store.trace(self._run_id, kind, data)

    def add_passages(self, passages: Sequence[Passage]) -> None:
        """Keep passages with their texts, so that the run can be read after the corpus has changed."""
        self._store.add_passages(self._run_id, map(passage_json, passages))

    def passages(self) -> dict[str, Passage]:
        """Return the kept passages."""
        return {key: passage_from_json(data) for key, data in self._store.passages(self._run_id).items()}

    def commit_claim(self, claim: Json, appended: Mapping[int, str], passages: Mapping[str, Passage]) -> None:
        """Write sentence, evidence and events in one transaction, then wake the listeners."""
        events = [
            ("evidence", citation_json(self._run_id, number, passage_json(passages[chunk_id]), [claim]))
            for number, chunk_id in appended.items()
        ]
        token = {"index": claim["index"], "text": claim["rendered"], "citations": claim["citations"]}
        self._store.commit_claim(self._run_id, claim, appended, [*events, ("token", token)])
        self._stream.wake(self._run_id)

    def claims(self) -> list[Json]:
        """Return the committed sentences."""
        return self._store.claims(self._run_id)

    def evidence(self) -> list[str]:
        """Return the committed evidence."""
        return self._store.evidence(self._run_id)

    def save_draft(self, role: str, draft: Json) -> None:
        """Keep a judged draft."""
        self._store.save_draft(self._run_id, role, draft)

    def draft(self, role: str) -> Json | None:
        """Return a judged draft."""
        return self._store.draft(self._run_id, role)

    def save_plan(self, plan: Json) -> None:
        """Keep the plan in the run's row."""
        self._store.move(self._run_id, ("queued", "running"), "running", plan=plan)
