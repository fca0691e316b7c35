"""What can be done with runs? The only entry of every surface: command line, HTTP and page call these methods."""

from __future__ import annotations

import asyncio
import builtins
import os
import socket
import time
import uuid
from collections.abc import AsyncIterator, Callable
from typing import Any

from app.agent.graph import GRAPH_VERSION, Graph, mermaid
from app.core.planedit import validate_tasks
from app.core.warnings import warned
from app.errors import Conflict, InvalidPlan, RunNotFound
from app.runs.driver import Driver
from app.runs.requests import ApprovalRequest, RunRequest
from app.runs.store import Event, RunRow, RunStore
from app.runs.stream import Stream
from app.runs.verify import verify_citations
from ingest.tokenize import language

Json = dict[str, Any]

HEARTBEAT_SECONDS = 5.0
LEASE_SECONDS = 20.0
"""A run whose owner, on another machine, did not renew its lease for so long is taken to be abandoned."""
LOST_SECONDS = 10 * LEASE_SECONDS
"""The same where a process of the owner's number lives: it may be another one, or a busy one."""


class RunService:
    """Starts runs, each in its own task; reads, approves, resumes, cancels and verifies them."""

    def __init__(self, store: RunStore, driver: Driver, stream: Stream, plain: Callable[[], Graph]) -> None:
        self._store = store
        self._driver = driver
        self._stream = stream
        self._plain = plain
        self._owner = f"{os.getpid()}-{uuid.uuid4().hex[:8]}-{socket.gethostname()}"
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._beating: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Mark runs that a dead process left as resumable, and start renewing the lease of our own."""
        self._abandon_orphans()
        self._beating = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        while True:
            self._store.beat(self._owner)
            self._abandon_orphans()
            await asyncio.sleep(HEARTBEAT_SECONDS)

    def _abandon_orphans(self) -> None:
        now = time.time()
        for row in self._store.abandoned(now):
            if row.owner != self._owner and orphaned(row.owner, now - row.heartbeat):
                self._driver.abandon(row)

    # -- starting

    async def create(self, request: RunRequest, run_id: str | None = None) -> Json:
        """Start a run in its own task and return its id at once; made here unless the caller has one."""
        run_id = str(uuid.UUID(run_id)) if run_id is not None else str(uuid.uuid4())
        held = self._store.get(run_id)
        if held is not None:
            raise Conflict("exists", f"The run {run_id} exists already: it is {held.status}.", held.decision)
        self._store.create(
            run_id,
            request.question,
            request.model_dump(),
            self._driver.fingerprint(),
            GRAPH_VERSION,
            self._owner,
        )
        self._store.append(run_id, "run_started", {"run_id": run_id, "question": request.question})
        self._spawn(run_id, self._driver.start(run_id, request))
        base = f"/api/v1/runs/{run_id}"
        return {"run_id": run_id, "status": "queued", "links": {"self": base, "events": f"{base}/events"}}

    async def answer(self, request: RunRequest) -> Json:
        """Answer without a checkpoint and without approval."""
        return await self._driver.answer(request, self._plain())

    def _spawn(self, run_id: str, work: Any) -> None:
        task = asyncio.create_task(work, name=f"run {run_id}")
        self._tasks[run_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(run_id, None))

    # -- reading

    def _row(self, run_id: str) -> RunRow:
        row = self._store.get(run_id)
        if row is None:
            raise RunNotFound(f"There is no run {run_id}: see `citedrag runs list`.")
        return row

    def get(self, run_id: str) -> Json:
        """Return the whole result of a run, or what there is of it so far."""
        row = self._row(run_id)
        result = row.result if row.result is not None else self._driver.partial(row)
        return {**result, "status": row.status, "last_seq": self.last_seq(run_id)}

    def list(self, status: str | None, limit: int, offset: int) -> Json:
        """Return a page of runs, newest first."""
        rows, total = self._store.page(status, limit, offset)
        items = [
            {"run_id": row.id, "question": row.question, "status": row.status, "created": row.created} for row in rows
        ]
        following = offset + len(items)
        return {"items": items, "total": total, "next": following if following < total else None}

    async def events(self, run_id: str, after: int = 0) -> AsyncIterator[Event]:
        """Yield the events after `after`: what was, then what comes, until the stream ends."""
        self._row(run_id)
        async for event in self._stream.events(run_id, after):
            yield event

    def last_terminal(self, run_id: str) -> int | None:
        """Return the number of the event that ended the stream, None while it goes on."""
        self._row(run_id)
        return self._stream.ended(run_id)

    def last_seq(self, run_id: str) -> int:
        """Return the number of the latest event, 0 before the first."""
        last = self._store.last_event(run_id)
        return 0 if last is None else last.seq

    # -- deciding

    async def approve(self, run_id: str, request: ApprovalRequest) -> Json:
        """Decide on a waiting plan, exactly once. Raises RunNotFound, Conflict or InvalidPlan; then nothing changed."""
        row = self._row(run_id)
        plan = row.plan or {}
        version = plan.get("plan_version", 0) if request.plan_version is None else request.plan_version
        tasks, dropped = _edited(request)
        if row.status != "awaiting_approval" or version != plan.get("plan_version"):
            raise self._conflict(row, version)
        if row.graph_version != GRAPH_VERSION:
            raise Conflict("graph_changed", "The program was upgraded since: ask the question again.", row.decision)
        decision: Json = {"action": request.decision, "plan_version": version, "at": time.time()}
        new_plan = None
        if request.decision == "edit":
            decision |= {"tasks": tasks, "dropped": dropped, "plan_version": version + 1}
            rows = [{**task, "status": "pending", "evidence_ids": [], "depends_on": []} for task in tasks]
            new_plan = {**plan, "tasks": rows, "plan_version": version + 1}
        target = "cancelled" if request.decision == "cancel" else "running"
        if target == "cancelled":
            if not self._driver.reject(row, decision):
                raise self._conflict(self._row(run_id), version)
        elif self._store.decide(run_id, version, decision, target, self._owner, new_plan):
            self._spawn(run_id, self._driver.decided(run_id, decision))
        else:
            raise self._conflict(self._row(run_id), version)
        warnings = [warned("plan_truncated", language(row.question))] if dropped else []
        return {
            "run_id": run_id, "status": target, "plan_version": decision["plan_version"], "dropped": dropped,
            "warnings": warnings,
        }  # fmt: skip

    def _conflict(self, row: RunRow, version: int) -> Conflict:
        if row.status != "awaiting_approval":
            return Conflict("not_waiting", f"The run is {row.status}: it waits for no decision.", row.decision)
        held = (row.plan or {}).get("plan_version")
        return Conflict("stale_plan", f"The plan is version {held} now, not {version}: look at it again.", row.decision)

    async def resume(self, run_id: str) -> Json:
        """Go on with an interrupted run from its last checkpoint; a stored decision is used again."""
        row = self._row(run_id)
        if row.graph_version != GRAPH_VERSION:
            raise Conflict("graph_changed", "The program was upgraded since: ask the question again.", row.decision)
        values: Json = {"owner": self._owner, "heartbeat": time.time(), "resumes": row.resumes + 1}
        if not self._store.move(run_id, ("resumable",), "running", **values):
            raise Conflict("not_resumable", f"The run is {row.status}: only an interrupted run resumes.", row.decision)
        self._spawn(run_id, self._driver.resumed(run_id, row))
        return {"run_id": run_id, "status": "running"}

    async def cancel(self, run_id: str) -> Json:
        """End a run. Raises Conflict if it has ended."""
        row = self._row(run_id)
        if row.status == "awaiting_approval":
            done = self._driver.reject(row, {"action": "cancel", "at": time.time()})
        else:
            done = self._driver.cancelled(row)
        if not done:
            raise Conflict("ended", f"The run is {self._row(run_id).status}: there is nothing to cancel.", row.decision)
        task = self._tasks.get(run_id)
        if task is not None:
            task.cancel()
            await asyncio.wait([task], timeout=5)
        return {"run_id": run_id, "status": "cancelled"}

    # -- looking back

    def evidence(self, run_id: str) -> Json:
        """Return the evidence and the uncited rest of the pool."""
        return self._driver.evidence(self._row(run_id))

    def trace(self, run_id: str) -> Json:
        """Return everything that happened in a run."""
        row = self._row(run_id)
        return {
            "run_id": run_id, "status": row.status, "plan": row.plan, "decision": row.decision,
            "trace": self._store.traces(run_id), "events": self._all_events(run_id),
        }  # fmt: skip

    def bundle(self, run_id: str) -> Json:
        """Return a run with its evidence and its trace, in one object."""
        return {"result": self.get(run_id), "evidence": self.evidence(run_id), "trace": self.trace(run_id)}

    def _all_events(self, run_id: str) -> builtins.list[Json]:
        events = self._store.events(run_id, 0, limit=100_000)
        return [{"seq": event.seq, "type": event.type, "data": event.data} for event in events]

    def verify(self, run_id: str, level: str = "stored") -> Json:
        """Check every citation again; see `app.runs.verify`."""
        found = self.evidence(run_id)
        passages = {one["id"]: one for one in found["evidence"]}
        citations = self.get(run_id)["citations"]
        return verify_citations(citations, passages, self._driver.library, self._driver.source, level)

    def graph(self) -> str:
        """Return the graph as Mermaid."""
        return mermaid()

    async def close(self) -> None:
        """Interrupt live runs so that they can be resumed, and stop."""
        if self._beating is not None:
            self._beating.cancel()
        tasks = dict(self._tasks)
        for run_id, task in tasks.items():
            task.cancel()
            row = self._store.get(run_id)
            if row is not None:
                self._driver.abandon(row)
        if tasks:
            await asyncio.wait(tasks.values(), timeout=5)


def _edited(request: ApprovalRequest) -> tuple[builtins.list[Json], int]:
    if request.decision != "edit":
        if request.tasks is not None:
            raise InvalidPlan(0, f"tasks go with `edit`, not with `{request.decision}`: nothing was changed.")
        return [], 0
    if not request.tasks:
        raise InvalidPlan(0, "An edit needs at least one task.")
    return validate_tasks(request.tasks)


def orphaned(owner: str | None, silent: float) -> bool:
    """Say whether the process that ran a run is gone; `silent` are the seconds since it renewed its lease.

    A process of this machine can be looked for, so that its runs can be resumed at once. Another machine's (or
    container's) cannot, and a number may be another process's by now, as it is when a container starts again.
    """
    pid, _, rest = (owner or "-1").partition("-")
    here = rest.partition("-")[2] == socket.gethostname()
    if here and pid.isdigit():
        return not process_alive(int(pid)) or int(pid) == os.getpid() or silent > LOST_SECONDS
    return silent > LEASE_SECONDS


def process_alive(pid: int) -> bool:
    """Say whether a process of this number is running."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
