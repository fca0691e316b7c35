"""What is kept of a run? Its row, its events, its passages, its committed sentences, its traces.

The status changes only by compare-and-set, so that of any number of parallel approvals, cancels or resumes, in any
number of processes, exactly one wins.
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from app.runs import schema
from ingest.database import open_database

Json = dict[str, Any]

LIVE = ("queued", "running")

TERMINAL_EVENTS = ("final", "approval_required", "error", "cancelled")
"""After one of these the stream of a run ends, until an approval or a resume opens it again."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a run; `seq` counts from 1 without gaps."""

    seq: int
    type: str
    data: Json


@dataclass(frozen=True, slots=True)
class RunRow:
    """The row of a run; times are seconds since the epoch."""

    id: str
    question: str
    conversation_id: str | None
    status: str
    request: Json
    fingerprint: Json
    graph_version: str
    owner: str | None
    heartbeat: float
    created: float
    updated: float
    resumes: int
    plan: Json | None
    decision: Json | None
    result: Json | None


@dataclass(frozen=True, slots=True)
class RunView:
    """Everything kept of a run that its result is built from; passages by chunk id, `seconds` since its start."""

    run_id: str
    question: str
    fingerprint: Json
    claims: list[Json]
    evidence: list[str]
    passages: dict[str, Json]
    traces: list[Json]
    drafts: dict[str, Json]
    seconds: float
    resumes: int


class RunStore:
    """The run database. Safe to use from several threads and processes."""

    def __init__(self, path: Path) -> None:
        self._engine = open_database(path, schema.metadata, schema.SCHEMA_VERSION)

    def close(self) -> None:
        """Close the file."""
        self._engine.dispose()

    # -- the row

    def create(
        self, run_id: str, question: str, request: Json, fingerprint: Json, graph_version: str, owner: str
    ) -> None:
        """Add a run that is about to start, owned by this process."""
        now = time.time()
        with self._engine.begin() as connection:
            connection.execute(
                insert(schema.runs).values(
                    id=run_id, question=question, conversation_id=request.get("conversation_id"), status="queued",
                    request=_dump(request), fingerprint=_dump(fingerprint), graph_version=graph_version,
                    owner=owner, heartbeat=now, created=now, updated=now, resumes=0,
                )
            )  # fmt: skip

    def get(self, run_id: str) -> RunRow | None:
        """Return a run, or None."""
        with self._engine.connect() as connection:
            row = connection.execute(select(schema.runs).where(schema.runs.c.id == run_id)).mappings().first()
            return None if row is None else _row(row)

    def status(self, run_id: str) -> str | None:
        """Return a run's status alone, or None."""
        with self._engine.connect() as connection:
            return connection.execute(select(schema.runs.c.status).where(schema.runs.c.id == run_id)).scalar()

    def page(self, status: str | None, limit: int, offset: int) -> tuple[list[RunRow], int]:
        """Return a page of the runs, newest first, and how many there are."""
        query, count = select(schema.runs), select(func.count()).select_from(schema.runs)
        if status is not None:
            query, count = (
                query.where(schema.runs.c.status == status),
                count.where(schema.runs.c.status == status),
            )
        query = query.order_by(schema.runs.c.created.desc(), schema.runs.c.id).limit(limit).offset(offset)
        with self._engine.connect() as connection:
            total = connection.execute(count).scalar_one()
            return [_row(row) for row in connection.execute(query).mappings()], total

    def move(
        self, run_id: str, sources: Collection[str], target: str, event: tuple[str, Json] | None = None, **values: Any
    ) -> bool:
        """Set the status to `target` if it is one of `sources`; say whether it was. Event and columns go along."""
        packed = {name: _dump(value) if isinstance(value, dict) else value for name, value in values.items()}
        with self._engine.begin() as connection:
            changed = connection.execute(
                update(schema.runs)
                .where(schema.runs.c.id == run_id, schema.runs.c.status.in_(list(sources)))
                .values(status=target, updated=time.time(), **packed)
            )
            if changed.rowcount == 1 and event is not None:
                _append(connection, run_id, *event)
            return changed.rowcount == 1

    def decide(
        self,
        run_id: str,
        plan_version: int,
        decision: Json,
        target: str,
        owner: str,
        plan: Json | None = None,
    ) -> bool:
        """Store a decision on a waiting plan of this version, exactly once; say whether this call did."""
        values: Json = {"decision": _dump(decision), "status": target, "updated": time.time()}
        values |= {"owner": owner, "heartbeat": time.time()} | ({} if plan is None else {"plan": _dump(plan)})
        with self._engine.begin() as connection:
            changed = connection.execute(
                update(schema.runs)
                .where(
                    schema.runs.c.id == run_id,
                    schema.runs.c.status == "awaiting_approval",
                    func.json_extract(schema.runs.c.plan, "$.plan_version") == plan_version,
                )
                .values(values)
            )
            return changed.rowcount == 1

    def beat(self, owner: str) -> None:
        """Renew the lease of every run that this process is running."""
        with self._engine.begin() as connection:
            connection.execute(
                update(schema.runs)
                .where(schema.runs.c.owner == owner, schema.runs.c.status.in_(("queued", "running")))
                .values(heartbeat=time.time())
            )

    def abandoned(self, older_than: float) -> list[RunRow]:
        """Return the runs that were running and whose lease was not renewed since `older_than`."""
        query = select(schema.runs).where(
            schema.runs.c.status.in_(("queued", "running")), schema.runs.c.heartbeat < older_than
        )
        with self._engine.connect() as connection:
            return [_row(row) for row in connection.execute(query).mappings()]

    def finish(
        self, run_id: str, status: str, result: Json, event_type: str, extra: Sequence[tuple[str, Json]] = ()
    ) -> bool:
        """Store the result, the status and the terminal event together; False if the run had ended already."""
        with self._engine.begin() as connection:
            changed = connection.execute(
                update(schema.runs)
                .where(
                    schema.runs.c.id == run_id,
                    schema.runs.c.status.in_(("queued", "running", "resumable", "awaiting_approval")),
                )
                .values(status=status, updated=time.time(), result=_dump(result), owner=None)
            )
            if changed.rowcount != 1:
                return False
            for kind, data in [*extra, (event_type, {"result": result})]:
                _append(connection, run_id, kind, data)
            return True

    def used(self, run_id: str, ended: Collection[str]) -> dict[str, int]:
        """Return what a run has used of each tool budget, so that a resumed run goes on counting.

        Of research only the tasks that have `ended` count: an interrupted one is done again, and must not pay twice.
        """
        tools = [one for one in self.traces(run_id, "tool") if "hint" not in one]
        counted = [one for one in tools if one["role"] != "researcher" or one["task_id"] in ended]
        researched = [one for one in counted if one["role"] == "researcher"]
        return {
            "searches": len(counted), "pages": sum(one["read"] for one in researched),
            "evidence": sum(one["found"] for one in researched),
        }  # fmt: skip

    def view(self, row: RunRow) -> RunView:
        """Return what a result is built from."""
        return RunView(
            run_id=row.id, question=row.question, fingerprint=row.fingerprint, claims=self.claims(row.id),
            evidence=self.evidence(row.id), passages=self.passages(row.id), traces=self.traces(row.id),
            drafts={role: draft for role in ("direct", "writer") if (draft := self.draft(row.id, role)) is not None},
            seconds=time.time() - row.created, resumes=row.resumes,
        )  # fmt: skip

    # -- events

    def append(self, run_id: str, kind: str, data: Json) -> int:
        """Add an event; return its sequence number."""
        with self._engine.begin() as connection:
            return _append(connection, run_id, kind, data)

    def events(self, run_id: str, after: int, limit: int = 200) -> list[Event]:
        """Return the events that follow `after`."""
        query = (
            select(schema.events)
            .where(schema.events.c.run_id == run_id, schema.events.c.seq > after)
            .order_by(schema.events.c.seq)
            .limit(limit)
        )
        with self._engine.connect() as connection:
            return [Event(row.seq, row.type, json.loads(row.data)) for row in connection.execute(query)]

    def last_event(self, run_id: str) -> Event | None:
        """Return the latest event."""
        query = select(schema.events).where(schema.events.c.run_id == run_id).order_by(schema.events.c.seq.desc())
        with self._engine.connect() as connection:
            row = connection.execute(query.limit(1)).first()
            return None if row is None else Event(row.seq, row.type, json.loads(row.data))

    # -- passages, sentences, drafts

    def add_passages(self, run_id: str, passages: Iterable[Json]) -> None:
        """Keep passages by chunk id; one that is kept already keeps its first form."""
        rows = [{"run_id": run_id, "chunk_id": one["chunk_id"], "passage": _dump(one)} for one in passages]
        if rows:
            with self._engine.begin() as connection:
                connection.execute(upsert(schema.pool).on_conflict_do_nothing(), rows)

    def passages(self, run_id: str) -> dict[str, Json]:
        """Return every passage of the run, by chunk id."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(schema.pool).where(schema.pool.c.run_id == run_id))
            return {row.chunk_id: json.loads(row.passage) for row in rows}

    def commit_claim(
        self, run_id: str, claim: Json, appended: Mapping[int, str], events: Sequence[tuple[str, Json]]
    ) -> None:
        """Write a sentence, the evidence it appends (number to chunk id) and their events in one transaction."""
        with self._engine.begin() as connection:
            for number, chunk_id in appended.items():
                connection.execute(insert(schema.evidence).values(run_id=run_id, number=number, chunk_id=chunk_id))
            connection.execute(insert(schema.claims).values(run_id=run_id, ordinal=claim["index"], claim=_dump(claim)))
            for kind, data in events:
                _append(connection, run_id, kind, data)

    def claims(self, run_id: str) -> list[Json]:
        """Return the committed sentences, in order."""
        query = select(schema.claims.c.claim).where(schema.claims.c.run_id == run_id).order_by(schema.claims.c.ordinal)
        with self._engine.connect() as connection:
            return [json.loads(claim) for claim in connection.execute(query).scalars()]

    def evidence(self, run_id: str) -> list[str]:
        """Return the chunk ids of the evidence; the number of an item is its position, from 1."""
        query = (
            select(schema.evidence.c.chunk_id)
            .where(schema.evidence.c.run_id == run_id)
            .order_by(schema.evidence.c.number)
        )
        with self._engine.connect() as connection:
            return list(connection.execute(query).scalars())

    def save_draft(self, run_id: str, role: str, draft: Json) -> None:
        """Keep a worker's judged draft."""
        statement = upsert(schema.drafts).values(run_id=run_id, role=role, draft=_dump(draft))
        with self._engine.begin() as connection:
            connection.execute(
                statement.on_conflict_do_update(index_elements=["run_id", "role"], set_={"draft": _dump(draft)})
            )

    def draft(self, run_id: str, role: str) -> Json | None:
        """Return a worker's judged draft."""
        query = select(schema.drafts.c.draft).where(schema.drafts.c.run_id == run_id, schema.drafts.c.role == role)
        with self._engine.connect() as connection:
            found = connection.execute(query).scalar()
            return None if found is None else json.loads(found)

    # -- traces

    def trace(self, run_id: str, kind: str, data: Json) -> None:
        """Add a trace entry."""
        with self._engine.begin() as connection:
            ordinal = select(func.coalesce(func.max(schema.traces.c.ordinal), 0) + 1).where(
                schema.traces.c.run_id == run_id
            )
            connection.execute(
                insert(schema.traces).values(
                    run_id=run_id,
                    ordinal=ordinal.scalar_subquery(),
                    kind=kind,
                    data=_dump(data),
                    at=time.time(),
                )
            )

    def traces(self, run_id: str, kind: str | None = None) -> list[Json]:
        """Return the trace entries, in order, each with its `kind` and time `at`."""
        query = select(schema.traces).where(schema.traces.c.run_id == run_id).order_by(schema.traces.c.ordinal)
        if kind is not None:
            query = query.where(schema.traces.c.kind == kind)
        with self._engine.connect() as connection:
            return [{**json.loads(row.data), "kind": row.kind, "at": row.at} for row in connection.execute(query)]

    def forget(self, run_id: str) -> None:
        """Delete a run with everything it has."""
        with self._engine.begin() as connection:
            connection.execute(delete(schema.runs).where(schema.runs.c.id == run_id))


def _append(connection: Connection, run_id: str, kind: str, data: Json) -> int:
    """Number and write an event in one statement: a read before the write would let two writers take one number."""
    latest = select(func.coalesce(func.max(schema.events.c.seq), 0) + 1).where(schema.events.c.run_id == run_id)
    statement = insert(schema.events).values(
        run_id=run_id, seq=latest.scalar_subquery(), type=kind, data=_dump(data), at=time.time()
    )
    return int(connection.execute(statement.returning(schema.events.c.seq)).scalar_one())


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))


def _row(row: Mapping[Any, Any]) -> RunRow:
    values = dict(row)
    for name in ("request", "fingerprint", "plan", "decision", "result"):
        values[name] = None if values[name] is None else json.loads(values[name])
    return RunRow(**values)
