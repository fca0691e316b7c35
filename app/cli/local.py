"""How does a command run in this process?"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from app.cli.backend import EXIT_BUSY, EXIT_USAGE, CommandError, Json, OnEvent
from app.errors import CitedragError, Conflict, InvalidPlan, RunNotFound
from app.runs.requests import ApprovalRequest, RunRequest
from app.settings import Settings
from app.views import document_json, report_json
from app.wiring import (
    Services,
    close_services,
    open_library,
    open_services,
    put_index_back,
    remove_old_indexes,
    set_index_aside,
)
from ingest.errors import IndexBusy, IngestError, PathNotAllowed
from ingest.library import Library

T = TypeVar("T")


class LocalBackend:
    """Opens what a command needs, when it needs it: listing documents loads no model."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._runner = asyncio.Runner()
        self._services: Services | None = None
        self._opened: Library | None = None

    @property
    def _library(self) -> Library:
        if self._services is not None:
            return self._services.library
        if self._opened is None:
            with _errors():
                self._opened = open_library(self._settings)
        return self._opened

    def _open(self) -> Services:
        if self._services is None:
            with _errors():
                self._services = self._runner.run(_async(open_services, self._settings, self._library))
        return self._services

    def _run(self, make: Callable[[Services], Awaitable[T]]) -> T:
        services = self._open()
        with _errors():
            return self._runner.run(_await(make(services)))

    def ask(self, request: Json, on_event: OnEvent) -> Json:
        """See `Backend`."""

        async def go(services: Services) -> Json:
            created = await services.runs.create(RunRequest.model_validate(request))
            return await _follow(services, created["run_id"], 0, on_event)

        return self._run(go)

    def answer(self, request: Json) -> Json:
        """See `Backend`."""
        return self._run(lambda services: services.runs.answer(RunRequest.model_validate(request)))

    def approve(self, run_id: str, body: Json, on_event: OnEvent) -> Json:
        """See `Backend`."""

        async def go(services: Services) -> Json:
            seen = services.runs.last_seq(run_id)
            await services.runs.approve(run_id, ApprovalRequest.model_validate(body))
            return await _follow(services, run_id, seen, on_event)

        return self._run(go)

    def resume(self, run_id: str, on_event: OnEvent) -> Json:
        """See `Backend`."""

        async def go(services: Services) -> Json:
            seen = services.runs.last_seq(run_id)
            await services.runs.resume(run_id)
            return await _follow(services, run_id, seen, on_event)

        return self._run(go)

    def cancel(self, run_id: str) -> Json:
        """See `Backend`."""

        async def go(services: Services) -> Json:
            await services.runs.cancel(run_id)
            return services.runs.get(run_id)

        return self._run(go)

    def run(self, run_id: str) -> Json:
        """See `Backend`."""
        return self._call(lambda services: services.runs.get(run_id))

    def runs(self, status: str | None, limit: int) -> Json:
        """See `Backend`."""
        return self._call(lambda services: services.runs.list(status, limit, 0))

    def verify(self, run_id: str, level: str) -> Json:
        """See `Backend`."""
        return self._call(lambda services: services.runs.verify(run_id, level))

    def search(self, query: str, limit: int) -> Json:
        """See `Backend`."""
        return self._call(lambda services: services.retriever.search(query, limit).to_json())

    def documents(self, limit: int, offset: int) -> Json:
        """See `Backend`."""
        items, total = self._library.documents(limit, offset)
        following = offset + len(items)
        return {
            "items": [document_json(item) for item in items],
            "total": total,
            "next": following if following < total else None,
        }

    def document(self, document_id: str) -> Json:
        """See `Backend`."""
        document = self._library.document(document_id)
        if document is None:
            raise CommandError(f"There is no document {document_id}: see `citedrag documents list`.")
        text = self._library.text(document_id)
        return document_json(document, self._library.pages(document_id), text)

    def remove(self, document_id: str) -> None:
        """See `Backend`."""
        with _errors():
            if not self._library.remove(document_id):
                raise CommandError(f"There is no document {document_id}: see `citedrag documents list`.")

    def ingest(self, paths: Sequence[Path], progress: Callable[[Json], None]) -> Json:
        """See `Backend`."""
        with _errors():
            report = self._library.ingest(
                paths,
                lambda at: progress(asdict(at)),
            )
        return report_json(report)

    def reindex(self, rebuild: bool) -> int:
        """See `Backend`. The old index goes only when the new one is full, and comes back if it cannot be made."""
        with _errors():
            old = set_index_aside(self._settings) if rebuild else None
            try:
                written = self._library.reindex()
            except BaseException:
                if old is not None:
                    self._close_library()
                    put_index_back(self._settings, old)
                raise
            if rebuild:
                remove_old_indexes(self._settings)
            return written

    def graph(self) -> str:
        """See `Backend`."""
        return self._call(lambda services: services.runs.graph())

    def close(self) -> None:
        """See `Backend`."""
        if self._services is not None:
            self._runner.run(close_services(self._services))
        self._close_library()
        self._runner.close()

    def _close_library(self) -> None:
        if self._services is None and self._opened is not None:
            self._opened.close()
            self._opened = None

    def _call(self, make: Callable[[Services], T]) -> T:
        services = self._open()
        with _errors():
            return make(services)


async def _follow(services: Services, run_id: str, after: int, on_event: OnEvent) -> Json:
    async for event in services.runs.events(run_id, after):
        on_event(event.type, event.data)
    return services.runs.get(run_id)


async def _async(make: Callable[..., Awaitable[T]], *arguments: Any) -> T:
    return await make(*arguments)


async def _await(awaitable: Awaitable[T]) -> T:
    return await awaitable


@contextmanager
def _errors() -> Any:
    """Turn the errors of the product into a message and an exit code."""
    try:
        yield
    except IndexBusy as error:
        raise CommandError(str(error), EXIT_BUSY) from error
    except (PathNotAllowed, InvalidPlan) as error:
        raise CommandError(str(error), EXIT_USAGE) from error
    except ValidationError as error:
        first = error.errors()[0]
        raise CommandError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", EXIT_USAGE) from error
    except (RunNotFound, Conflict, CitedragError, IngestError) as error:
        raise CommandError(str(error)) from error
