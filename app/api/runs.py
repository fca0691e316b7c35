"""How is a question asked, followed, approved and looked at over HTTP?"""

from __future__ import annotations

import asyncio
import re
from typing import Annotated, Any, Literal

from litestar import Request, Response, get, post
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import Parameter

from app.api.errors import ApiError
from app.api.health import UsesServer
from app.api.schemas import problems
from app.api.services import Json, UsesServices
from app.api.sse import UsesStreams, resume_point
from app.runs.requests import ApprovalRequest, RunRequest

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_EVENTS = ResponseSpec(data_container=str, media_type="text/event-stream", description="The run's events.")
Limit = Annotated[int, Parameter(ge=1, le=200)]
Offset = Annotated[int, Parameter(ge=0, le=10**9)]
After = Annotated[int | None, Parameter(ge=0, le=2**53, description="Send only events after this number.")]
LastEventId = Annotated[str | None, Parameter(header="Last-Event-ID", description="As a browser sends it.")]
Status = Literal["queued", "running", "awaiting_approval", "completed", "refused", "cancelled", "failed", "resumable"]


@post("/runs", tags=["runs"], summary="Ask a question", responses={200: _EVENTS, **problems(415, 422)})
async def create_run(
    data: RunRequest,
    request: Request[Any, Any, Any],
    services: UsesServices,
    streams: UsesStreams,
    server: UsesServer,
) -> Response[Any]:
    """Start a run. With `Accept: text/event-stream` the events follow at once, as the body."""
    if server.stopping:
        raise ApiError(503, "stopping", "The server is about to stop.")
    question = _CONTROL.sub("", data.question).strip()
    if not question:
        raise ApiError(
            422,
            "invalid_request",
            "The question is empty.",
            errors=[{"field": "question", "message": "empty"}],
        )
    created = await services.runs.create(data.model_copy(update={"question": question}))
    location = {"Location": f"/api/v1/runs/{created['run_id']}"}
    if "text/event-stream" in request.headers.get("accept", ""):
        return streams.respond(services.runs.events(created["run_id"]), location)
    return Response(created, status_code=201, headers=location)


@get("/runs", sync_to_thread=True, tags=["runs"], summary="List runs")
def list_runs(services: UsesServices, status: Status | None = None, limit: Limit = 20, offset: Offset = 0) -> Json:
    """Return a page of the runs, the newest first."""
    return services.runs.list(status, limit, offset)


@get(
    "/runs/{run_id:str}", sync_to_thread=True, tags=["runs"], summary="One run with its result", responses=problems(404)
)
def get_run(run_id: str, services: UsesServices) -> Json:
    """Return the whole result as it stands."""
    return services.runs.get(run_id)


@get(
    "/runs/{run_id:str}/events",
    tags=["runs"],
    summary="Events of a run (SSE)",
    responses={200: _EVENTS, **problems(404, 422)},
)
async def run_events(
    run_id: str,
    services: UsesServices,
    streams: UsesStreams,
    last_event_id: LastEventId = None,
    after: After = None,
) -> Response[Any]:
    """Replay what the client has not seen, then follow the run; 204 tells a browser to stop."""
    seen = resume_point(last_event_id, after)
    await asyncio.to_thread(services.runs.get, run_id)
    if seen and await asyncio.to_thread(services.runs.last_terminal, run_id) == seen:
        return Response(None, status_code=204)
    return streams.respond(services.runs.events(run_id, seen))


@post(
    "/runs/{run_id:str}/approval",
    status_code=202,
    tags=["runs"],
    summary="Decide on a plan",
    responses=problems(404, 409, 422),
)
async def approve_run(run_id: str, data: ApprovalRequest, services: UsesServices) -> Json:
    """Approve, edit or cancel the plan of a run that waits; exactly one decision is taken."""
    return await services.runs.approve(run_id, data)


@post(
    "/runs/{run_id:str}/resume",
    status_code=202,
    tags=["runs"],
    summary="Continue an interrupted run",
    responses=problems(404, 409),
)
async def resume_run(run_id: str, services: UsesServices) -> Json:
    """Continue from the last checkpoint."""
    return await services.runs.resume(run_id)


@post("/runs/{run_id:str}/cancel", status_code=202, tags=["runs"], summary="End a run", responses=problems(404, 409))
async def cancel_run(run_id: str, services: UsesServices) -> Json:
    """End a run that has not ended."""
    return await services.runs.cancel(run_id)


@get("/runs/{run_id:str}/trace", sync_to_thread=True, tags=["runs"], summary="A run explained", responses=problems(404))
def get_trace(run_id: str, services: UsesServices) -> Json:
    """Return the plan, the path of roles, the tools called and the time they took."""
    return services.runs.trace(run_id)


@get(
    "/runs/{run_id:str}/evidence",
    sync_to_thread=True,
    tags=["runs"],
    summary="The evidence of a run",
    responses=problems(404),
)
def get_evidence(run_id: str, services: UsesServices) -> Json:
    """Return what was cited and what was found but not cited."""
    return services.runs.evidence(run_id)


@get(
    "/runs/{run_id:str}/bundle",
    sync_to_thread=True,
    tags=["runs"],
    summary="Everything about a run",
    responses=problems(404),
)
def get_bundle(run_id: str, services: UsesServices) -> Response[Json]:
    """Return everything about a run in one file."""
    bundle = services.runs.bundle(run_id)
    name = re.sub(r"[^0-9A-Za-z-]", "", run_id)
    return Response(bundle, headers={"Content-Disposition": f'attachment; filename="run-{name}.json"'})


@get(
    "/runs/{run_id:str}/verify",
    sync_to_thread=True,
    tags=["runs"],
    summary="Check the citations again",
    responses=problems(404),
)
def verify_run(run_id: str, services: UsesServices, level: Literal["stored", "source"] = "stored") -> Json:
    """Check every citation against what is stored, or at another level."""
    return services.runs.verify(run_id, level)


@get("/graph", sync_to_thread=True, media_type="text/plain", tags=["meta"], summary="The graph as Mermaid")
def get_graph(services: UsesServices) -> str:
    """Return the graph of roles."""
    return services.runs.graph()


ROUTES = (
    create_run, list_runs, get_run, run_events, approve_run, resume_run, cancel_run,
    get_trace, get_evidence, get_bundle, verify_run, get_graph,
)  # fmt: skip
