"""Services that need no model and no documents: small, typed, and under the control of a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.errors import Conflict, InvalidPlan, RunNotFound
from app.runs.requests import ApprovalRequest, RunRequest
from app.settings import Settings
from ingest.types import Document, FileReport, FileStatus, IngestReport, Page, Span

TERMINAL = {"final", "approval_required", "error", "cancelled"}
DOCUMENT = {"id": "d1", "title": "Annual report", "path": "annual.pdf", "sha256": "0" * 64, "version": 1}


@dataclass(frozen=True)
class FakeEvent:
    seq: int
    type: str
    data: dict[str, Any]


@dataclass
class FakeRun:
    id: str
    question: str
    status: str = "running"
    events: list[FakeEvent] = field(default_factory=list)
    result: dict[str, Any] = field(default_factory=dict)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    decision: str | None = None

    def emit(self, kind: str, **data: Any) -> None:
        self.events.append(FakeEvent(len(self.events) + 1, kind, data))
        self.changed.set()
        self.changed = asyncio.Event()


Script = Callable[[FakeRun], None]


def answered(run: FakeRun) -> None:
    """Play a short run to its end."""
    run.emit("run_started", run_id=run.id, question=run.question)
    citation = {
        "number": 1, "evidence_id": "e1", "document": DOCUMENT, "page": 3, "page_label": "iii", "headings": ["Results"],
        "quotes": [{"claim": 0, "text": "Sales rose by 4 %.", "span": {"start": 0, "end": 18}, "support": 0.9}],
    }  # fmt: skip
    run.emit("evidence", **citation)
    run.emit("token", index=0, text="Sales rose.", citations=[1])
    run.emit("token", index=1, text=" Staff grew.", citations=[1])
    run.status = "completed"
    run.result = {"answer": "Sales rose. Staff grew.", "citations": [citation], "refused": False}
    run.emit("final", result={"run_id": run.id, "status": run.status, **run.result})


def waiting(run: FakeRun) -> None:
    """Play a run to its pause."""
    run.emit("run_started", run_id=run.id, question=run.question)
    run.status = "awaiting_approval"
    run.emit(
        "approval_required",
        tasks=[{"id": "t1", "question": "q", "query": "q"}],
        plan_version=1,
        reasons=["3 tasks"],
    )


def live(run: FakeRun) -> None:
    """Start a run that goes on until a test ends it."""
    run.emit("run_started", run_id=run.id, question=run.question)


class FakeRuns:
    def __init__(self, script: Script = answered) -> None:
        self.script = script
        self.runs: dict[str, FakeRun] = {}
        self.requests: list[RunRequest] = []
        self.subscribers = 0
        self.closed = 0
        self.broken = False

    def add(self, script: Script, question: str = "q") -> FakeRun:
        run = FakeRun(f"run-{len(self.runs) + 1}", question)
        self.runs[run.id] = run
        script(run)
        return run

    def _run(self, run_id: str) -> FakeRun:
        if run_id not in self.runs:
            raise RunNotFound(run_id)
        return self.runs[run_id]

    async def create(self, request: RunRequest) -> dict[str, Any]:
        self.requests.append(request)
        run = self.add(self.script, request.question)
        return {"run_id": run.id, "status": run.status, "links": {"self": f"/api/v1/runs/{run.id}"}}

    def get(self, run_id: str) -> dict[str, Any]:
        if self.broken:
            raise ValueError("the secret is hunter2")
        run = self._run(run_id)
        return {"run_id": run.id, "question": run.question, "status": run.status, **run.result}

    def list(self, status: str | None, limit: int, offset: int) -> dict[str, Any]:
        found = [self.get(key) for key, run in self.runs.items() if status in (None, run.status)]
        return {"items": found[offset : offset + limit], "total": len(found), "next": None}

    async def events(self, run_id: str, after: int = 0) -> AsyncIterator[FakeEvent]:
        run = self._run(run_id)
        self.subscribers += 1
        try:
            while True:
                changed = run.changed
                while after < len(run.events):
                    event = run.events[after]
                    after = event.seq
                    if event.type == "boom":
                        raise ValueError("the secret is hunter2")
                    yield event
                    if event.type in TERMINAL and after == len(run.events):
                        return
                await changed.wait()
        finally:
            self.subscribers -= 1

    def last_terminal(self, run_id: str) -> int | None:
        last = self._run(run_id).events[-1]
        return last.seq if last.type in TERMINAL else None

    async def approve(self, run_id: str, request: ApprovalRequest) -> dict[str, Any]:
        run = self._run(run_id)
        if run.status != "awaiting_approval":
            raise Conflict("not_waiting", "The run does not wait for approval.", {"decision": run.decision})
        for index, task in enumerate(request.tasks or []):
            if not isinstance(task, dict) or not task.get("query"):
                raise InvalidPlan(index, "A task needs a query.")
        run.decision = request.decision
        run.status = "running"
        return {"run_id": run.id, "status": run.status, "plan_version": 2, "dropped": 0, "warnings": []}

    async def resume(self, run_id: str) -> dict[str, Any]:
        run = self._run(run_id)
        if run.status != "resumable":
            raise Conflict("not_resumable", "The run cannot be resumed.", None)
        return {"run_id": run.id, "status": "running"}

    async def cancel(self, run_id: str) -> dict[str, Any]:
        run = self._run(run_id)
        if run.status not in ("running", "awaiting_approval"):
            raise Conflict("not_running", "The run has ended.", None)
        run.status = "cancelled"
        run.emit("cancelled", result={"run_id": run.id, "status": "cancelled"})
        return {"run_id": run.id, "status": run.status}

    def evidence(self, run_id: str) -> dict[str, Any]:
        return {"run_id": self._run(run_id).id, "evidence": [], "pool": []}

    def trace(self, run_id: str) -> dict[str, Any]:
        return {"run_id": self._run(run_id).id, "delegation_path": ["direct"]}

    def bundle(self, run_id: str) -> dict[str, Any]:
        return {"run": self.get(run_id)}

    def verify(self, run_id: str, level: str = "stored") -> dict[str, Any]:
        self._run(run_id)
        return {"ok": True, "level": level, "citations": [{"number": 1, "ok": True, "reason": None}]}

    def graph(self) -> str:
        return "graph TD;\n  supervisor --> direct;\n"

    async def close(self) -> None:
        self.closed += 1
        for run in self.runs.values():
            if run.status == "running":
                run.status = "resumable"
                run.emit("error", code="interrupted", message="The server stopped.", resumable=True)


@dataclass(frozen=True)
class FakeProgress:
    done: int
    total: int
    path: str
    status: str
    pages: int = 0


class FakeLibrary:
    def __init__(self) -> None:
        self.all = {
            key: Document(
                id=key, root="/corpus", path=f"{key}.md", title=f"Document {key}", sha256="0" * 64, version=1,
                media_type="text/markdown", language="en", pages=1, status=FileStatus.INDEXED,
            )
            for key in ("d1", "d2", "d3")
        }  # fmt: skip
        self.ingested: list[Path] = []
        self.gate: Callable[[], None] = lambda: None
        self.content = "Sales rose by 4 %."

    def documents(self, limit: int = 50, offset: int = 0) -> tuple[list[Document], int]:
        return list(self.all.values())[offset : offset + limit], len(self.all)

    def document(self, document_id: str) -> Document | None:
        return self.all.get(document_id)

    def text(self, document_id: str) -> str | None:
        return self.content if document_id in self.all else None

    def pages(self, document_id: str) -> list[Page]:
        return [Page(1, "1", Span(0, len(self.content)))]

    def remove(self, document_id: str) -> bool:
        return self.all.pop(document_id, None) is not None

    def ingest(self, paths: Sequence[Path], progress: Callable[[FakeProgress], None] = lambda _: None) -> IngestReport:
        self.ingested += paths
        for done in (1, 2):
            self.gate()
            progress(FakeProgress(done, 2, f"{done}.md", "indexed"))
        return IngestReport(
            files=(FileReport("1.md", FileStatus.INDEXED), FileReport("2.md", FileStatus.FAILED, "bad"))
        )

    def stats(self) -> dict[str, int]:
        return {"documents": len(self.all), "chunks": 7}


class FakeSearchResult:
    def __init__(self, query: str, limit: int) -> None:
        self.query = query
        self.limit = limit

    def to_json(self) -> dict[str, Any]:
        return {
            "query": self.query,
            "passages": [{"rank": n} for n in range(1, self.limit + 1)],
            "timings": {},
        }


class FakeRetriever:
    def search(self, query: str, limit: int = 10) -> FakeSearchResult:
        return FakeSearchResult(query, limit)


@dataclass
class FakeServices:
    settings: Settings = field(default_factory=lambda: Settings(_env_file=None))
    library: FakeLibrary = field(default_factory=FakeLibrary)
    retriever: FakeRetriever = field(default_factory=FakeRetriever)
    runs: FakeRuns = field(default_factory=FakeRuns)
