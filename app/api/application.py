"""How are the routes put together? `create_app` is what the server runs and the tests call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from litestar import Litestar, Router
from litestar.di import Provide
from litestar.middleware import DefineMiddleware
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin

from app.api import documents, health, ingestions, page, runs, search
from app.api.auth import Guard
from app.api.errors import to_response
from app.api.health import Counting, ServerState
from app.api.ingestions import Ingestions
from app.api.responses import JsonResponse
from app.api.services import Services
from app.api.sse import StreamLimits, Streams

MAX_BODY = 1_000_000
BODY_TIMEOUT = 30.0
PREFIX = "/api/v1"
_ROUTES = (*runs.ROUTES, *search.ROUTES, *documents.ROUTES, *ingestions.ROUTES, *health.ROUTES)


def create_app(
    services: Services,
    on_close: Callable[[], Awaitable[None]] | None = None,
    *,
    hosts: Iterable[str] = (),
    stream_limits: StreamLimits | None = None,
    body_timeout: float = BODY_TIMEOUT,
    owner_token: str = "",
) -> Litestar:
    """Return the application. `on_close` runs last; `hosts` are further names that it answers to.

    `owner_token` lets its holder ingest any folder.
    """
    server = ServerState(owner_token=owner_token)
    jobs = Ingestions(services.library)

    async def stop() -> None:
        server.stopping = True
        await jobs.stop()
        await services.runs.close()

    @asynccontextmanager
    async def lifespan(_: Litestar) -> AsyncIterator[None]:
        yield
        await stop()
        if on_close is not None:
            await on_close()

    guard = DefineMiddleware(Guard, hosts=tuple(hosts), listening_on=services.settings.host, body_timeout=body_timeout)
    app = Litestar(
        route_handlers=[
            Router(PREFIX, route_handlers=_ROUTES),
            Router("/", route_handlers=_ROUTES, include_in_schema=False),
            *health.ROOT_ROUTES,
            *page.ROUTES,
        ],
        dependencies=_provide(services=services, streams=Streams(stream_limits), ingestions=jobs, server=server),
        middleware=[DefineMiddleware(Counting, counted=server), guard],
        exception_handlers={Exception: to_response},
        response_class=JsonResponse,
        request_max_body_size=MAX_BODY,
        lifespan=[lifespan],
        openapi_config=_openapi(),
        logging_config=None,
    )
    app.state.stop = stop
    return app


def _provide(**values: Any) -> dict[str, Provide]:
    def always(value: Any) -> Callable[[], Any]:
        def give() -> Any:
            return value

        return give

    return {name: Provide(always(value), sync_to_thread=False) for name, value in values.items()}


def _openapi() -> OpenAPIConfig:
    return OpenAPIConfig(
        title="citedrag",
        version=health.package_version("citedrag") or "0",
        description="Answers over a folder of documents, where every sentence carries checked evidence.",
        path="/schema",
        render_plugins=[JsonRenderPlugin(path=["/", "/openapi.json"])],
    )
