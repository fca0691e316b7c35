"""Is the process alive, is it ready, how is it doing, and what is it?"""

from __future__ import annotations

import platform
from collections import Counter
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

from litestar import Response, get
from litestar.params import Dependency
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from app.api.services import Json, Services, UsesServices
from app.api.sse import Streams, UsesStreams
from app.core.warnings import WARNINGS
from app.runs.requests import Budgets, RunRequest

STATUSES = (
    "queued",
    "running",
    "awaiting_approval",
    "completed",
    "refused",
    "cancelled",
    "failed",
    "resumable",
)
_PACKAGES = ("citedrag", "litestar", "langgraph", "qdrant-edge-py", "pypdfium2")


@dataclass(slots=True)
class ServerState:
    """What the process knows of itself. `owner_token` is what only who can read `server.json` has; empty: nobody."""

    stopping: bool = False
    owner_token: str = ""
    requests: Counter[tuple[str, int]] = field(default_factory=Counter)


UsesServer = Annotated[ServerState, Dependency(skip_validation=True)]
"""The type of a handler's `server`."""


class Counting:
    """ASGI middleware that counts requests by method and status."""

    def __init__(self, app: ASGIApp, counted: ServerState) -> None:
        self._app = app
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count a request when its response starts."""

        async def counting(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._counted.requests[str(scope.get("method", "")), message["status"]] += 1
            await send(message)

        await self._app(scope, receive, counting)


@get("/health", tags=["service"], summary="Liveness")
async def health() -> Json:
    """Answer as long as the event loop turns."""
    return {"status": "ok"}


@get("/ready", sync_to_thread=True, tags=["service"], summary="Readiness")
def ready(services: UsesServices, server: UsesServer) -> Response[Json]:
    """Say whether questions can be answered, over how much, and with which models."""
    corpus = services.library.stats()
    body = {"ready": not server.stopping, "corpus": corpus, "models": models(services)}
    return Response(body, status_code=503 if server.stopping else 200)


@get(
    "/metrics",
    sync_to_thread=True,
    media_type="text/plain; version=0.0.4",
    tags=["service"],
    summary="Prometheus",
)
def metrics(services: UsesServices, server: UsesServer, streams: UsesStreams) -> str:
    """Return counters and gauges as Prometheus reads them."""
    return "\n".join(_lines(services, server, streams)) + "\n"


@get("/meta", sync_to_thread=True, tags=["meta"], summary="Warning codes, limits, models and versions")
def meta(services: UsesServices) -> Json:
    """Return what a client may want to know before it asks."""
    return {
        "warnings": sorted(WARNINGS),
        "statuses": list(STATUSES),
        "limits": limits(services),
        "models": models(services),
        "versions": {"python": platform.python_version(), **{name: package_version(name) for name in _PACKAGES}},
    }


def models(services: Services) -> Json:
    """Return which models are in use."""
    settings = services.settings
    return {
        "chat": settings.model if settings.uses_model else "extractive",
        "embedder": settings.embedder,
        "reranker": settings.reranker,
    }


def limits(services: Services) -> Json:
    """Return the limits of a request."""
    fields = RunRequest.model_json_schema()["properties"]
    budgets = Budgets.model_json_schema()["properties"]
    return {
        "question_characters": fields["question"]["maxLength"],
        "budgets": {name: _bounds(schema) for name, schema in budgets.items()},
        "file_mb": services.settings.max_file_mb,
        "ingestion_over_http": bool(services.settings.ingest_roots),
    }


def _bounds(schema: Json) -> Json:
    number = next(option for option in schema["anyOf"] if option["type"] == "integer")
    return {"minimum": number["minimum"], "maximum": number["maximum"]}


def _lines(services: Services, server: ServerState, streams: Streams) -> list[str]:
    corpus = services.library.stats()
    runs = {status: services.runs.list(status, 1, 0)["total"] for status in STATUSES}
    return [
        "# HELP citedrag_http_requests_total Requests by method and status.",
        "# TYPE citedrag_http_requests_total counter",
        *(
            f'citedrag_http_requests_total{{method="{method}",status="{status}"}} {count}'
            for (method, status), count in sorted(server.requests.items())
        ),
        "# HELP citedrag_streams_open Event streams that are open.",
        "# TYPE citedrag_streams_open gauge",
        f"citedrag_streams_open {streams.open}",
        "# HELP citedrag_runs Runs by status.",
        "# TYPE citedrag_runs gauge",
        *(f'citedrag_runs{{status="{status}"}} {count}' for status, count in runs.items()),
        "# HELP citedrag_corpus Searchable documents and chunks.",
        "# TYPE citedrag_corpus gauge",
        *(f'citedrag_corpus{{kind="{kind}"}} {count}' for kind, count in corpus.items()),
    ]


def package_version(package: str) -> str | None:
    """Return the version of an installed package, None where it runs from a checkout or is absent."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


ROOT_ROUTES = (health, ready, metrics)
ROUTES = (meta,)
