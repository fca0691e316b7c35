"""How is a folder made searchable over HTTP? As a job of its own, with its progress as events."""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import uuid
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from litestar import Request, Response, get, post
from litestar.params import Dependency, Parameter

from app.api.errors import ApiError
from app.api.health import ServerState, UsesServer
from app.api.schemas import IngestionRequest, problems
from app.api.services import Corpus, FileProgress, Json, UsesServices
from app.api.sse import UsesStreams, resume_point
from app.views import report_json
from ingest.errors import IngestError

_logger = logging.getLogger(__name__)
KEPT = 50
"""Finished jobs that are remembered."""


class _StopIngestionError(Exception):
    """Raised inside a running ingestion to end it between two files."""


@dataclass(frozen=True, slots=True)
class JobEvent:
    """One event of a job."""

    seq: int
    type: str
    data: Json


@dataclass(slots=True)
class Job:
    """One ingestion: its latest event stands for all before it, so that a big folder needs no more memory."""

    id: str
    path: str
    status: str = "running"
    progress: Json = field(default_factory=dict)
    report: Json | None = None
    error: str | None = None
    latest: JobEvent = JobEvent(0, "started", {})
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def publish(self, kind: str, data: Json) -> None:
        """Make an event the latest and wake whoever waits."""
        self.latest = JobEvent(self.latest.seq + 1, kind, data)
        self.changed.set()
        self.changed = asyncio.Event()

    def to_json(self) -> Json:
        """Return the job as the interface shows it."""
        return {
            "ingestion_id": self.id,
            "path": self.path,
            "status": self.status,
            "progress": self.progress,
            "report": self.report,
            "error": self.error,
        }


class Ingestions:
    """The ingestions of the process: one at a time, in a thread; jobs are only touched in the event loop."""

    def __init__(self, library: Corpus) -> None:
        self._library = library
        self._jobs: dict[str, Job] = {}
        self._thread: threading.Thread | None = None
        self._stopping = threading.Event()

    def start(self, path: Path) -> Job:
        """Start a job; only one can run."""
        if any(job.status == "running" for job in self._jobs.values()):
            raise ApiError(409, "ingestion_running", "An ingestion is running; wait for its end.")
        job = Job(uuid.uuid4().hex, str(path))
        for old in list(self._jobs)[: len(self._jobs) - KEPT + 1]:
            del self._jobs[old]
        self._jobs[job.id] = job
        job.publish("ingestion_started", {"ingestion_id": job.id, "path": job.path})
        loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._work, args=(job, path, loop), name="ingestion", daemon=True)
        self._thread.start()
        return job

    def get(self, job_id: str) -> Job:
        """Return a job."""
        job = self._jobs.get(job_id)
        if job is None:
            raise ApiError(404, "ingestion_not_found", "There is no such ingestion.")
        return job

    async def events(self, job: Job, after: int) -> AsyncIterator[JobEvent]:
        """Yield the latest event whenever the client has not seen it, until the job has ended."""
        while True:
            changed, latest = job.changed, job.latest
            if latest.seq > after:
                after = latest.seq
                yield latest
            if job.status != "running" and job.latest is latest:
                return
            await changed.wait()

    async def stop(self) -> None:
        """End the running job between two files; what was written stays."""
        self._stopping.set()
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, 5.0)

    def _work(self, job: Job, path: Path, loop: asyncio.AbstractEventLoop) -> None:
        def report(progress: FileProgress) -> None:
            if self._stopping.is_set():
                raise _StopIngestionError
            _in_loop(loop, _progressed, job, _progress_json(progress))

        try:
            result = report_json(self._library.ingest([path], report))
        except _StopIngestionError:
            _in_loop(loop, _failed, job, "interrupted", "The server stopped; ingest again to continue.")
        except IngestError as error:
            _in_loop(loop, _failed, job, "ingestion_failed", str(error))
        except Exception:
            _logger.exception("ingestion failed")
            _in_loop(loop, _failed, job, "internal", "Something went wrong on the server; see its log.")
        else:
            _in_loop(loop, _finished, job, result)


UsesIngestions = Annotated[Ingestions, Dependency(skip_validation=True)]
"""The type of a handler's `ingestions`."""


def allowed_path(path: str, roots: Sequence[Path]) -> Path:
    """Return the real path that `path` names, if it lies in one of the roots once every link is followed."""
    for root in roots:
        try:
            base = root.resolve(strict=True)
            real = (base / path).resolve()
            found = real.exists()
        except (OSError, ValueError, RuntimeError):
            continue
        if real == base or base in real.parents:
            if not found:
                raise ApiError(404, "path_not_found", "There is no such folder or file.")
            return real
    raise ApiError(
        403,
        "path_not_allowed",
        "The path is outside the folders that may be ingested (CITEDRAG_INGEST_ROOTS).",
    )


PlainRequest = Request[Any, Any, Any]


def _is_owner(request: PlainRequest, server: ServerState) -> bool:
    sent = request.headers.get("authorization", "").removeprefix("Bearer ")
    return bool(server.owner_token) and secrets.compare_digest(sent.encode(), server.owner_token.encode())


@post(
    "/ingestions",
    status_code=202,
    tags=["ingestions"],
    summary="Make a folder searchable",
    responses=problems(403, 404, 409, 422),
)
async def start_ingestion(
    data: IngestionRequest,
    request: PlainRequest,
    services: UsesServices,
    ingestions: UsesIngestions,
    server: UsesServer,
) -> Response[Json]:
    """Start a job; its events tell the progress.

    Who holds the token of `server.json` is the user whose server this is: their command line may name any folder.
    """
    roots = [Path("/")] if _is_owner(request, server) else services.settings.ingest_roots
    path = await asyncio.to_thread(allowed_path, data.path, roots)
    job = ingestions.start(path)
    address = f"/api/v1/ingestions/{job.id}"
    body = {**job.to_json(), "links": {"self": address, "events": f"{address}/events"}}
    return Response(body, headers={"Location": address})


@get("/ingestions/{ingestion_id:str}", tags=["ingestions"], summary="One ingestion", responses=problems(404))
async def get_ingestion(ingestion_id: str, ingestions: UsesIngestions) -> Json:
    """Return a job with its progress, and its report once it has ended."""
    return ingestions.get(ingestion_id).to_json()


@get(
    "/ingestions/{ingestion_id:str}/events",
    tags=["ingestions"],
    summary="Events of an ingestion (SSE)",
    responses=problems(404),
)
async def ingestion_events(
    ingestion_id: str,
    ingestions: UsesIngestions,
    streams: UsesStreams,
    last_event_id: Annotated[str | None, Parameter(header="Last-Event-ID")] = None,
    after: Annotated[int | None, Parameter(ge=0, le=2**53)] = None,
) -> Response[Any]:
    """Stream `ingestion_started`, `progress`, and last `final` or `error`."""
    job = ingestions.get(ingestion_id)
    seen = resume_point(last_event_id, after)
    if job.status != "running" and seen == job.latest.seq:
        return Response(None, status_code=204)
    return streams.respond(ingestions.events(job, seen))


def _in_loop(loop: asyncio.AbstractEventLoop, function: Any, *arguments: Any) -> None:
    try:
        loop.call_soon_threadsafe(function, *arguments)
    except RuntimeError:
        _logger.info("the server is gone; an ingestion ends unheard")


def _progress_json(progress: FileProgress) -> Json:
    return {
        "done": progress.done, "total": progress.total, "path": progress.path, "status": progress.status,
        "pages": progress.pages,
    }  # fmt: skip


def _progressed(job: Job, progress: Json) -> None:
    job.progress = progress
    job.publish("progress", progress)


def _finished(job: Job, report: Json) -> None:
    job.status, job.report = "completed", report
    job.publish("final", {"report": report})


def _failed(job: Job, code: str, message: str) -> None:
    job.status, job.error = "failed", message
    job.publish("error", {"code": code, "message": message, "resumable": True})


ROUTES = (start_ingestion, get_ingestion, ingestion_events)
