"""How do events reach a client? As server-sent events that a slow, silent or vanished client cannot hurt."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any

import anyio
from litestar import Request, Response
from litestar.datastructures import Cookie
from litestar.enums import MediaType
from litestar.params import Dependency
from litestar.response.base import ASGIResponse
from litestar.response.streaming import ASGIStreamingResponse
from litestar.types import HTTPResponseBodyEvent, Receive, Send

from app.api.errors import ApiError
from app.api.responses import dumps
from app.api.services import StreamEvent

_logger = logging.getLogger(__name__)
_LARGEST = 2**53
_BROKEN = {"code": "stream_failed", "message": "The stream broke off; the run goes on.", "resumable": False}


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """Seconds between keep-alive comments, seconds that a write may take, and how many may be open."""

    keep_alive: float = 15.0
    write_timeout: float = 30.0
    streams: int = 2000


class Streams:
    """The open streams of the process."""

    def __init__(self, limits: StreamLimits | None = None) -> None:
        self.limits = limits or StreamLimits()
        self.open = 0
        self._closing: set[asyncio.Task[None]] = set()

    def respond(self, source: AsyncIterator[StreamEvent], headers: dict[str, str] | None = None) -> EventStream:
        """Return the response that sends the events of `source`."""
        if self.open >= self.limits.streams:
            raise ApiError(503, "too_many_streams", "Too many streams are open; try again later.")
        return EventStream(self, source, headers or {})

    async def frames(self, source: AsyncIterator[StreamEvent]) -> AsyncGenerator[bytes, None]:
        """Yield each event as bytes, a comment while nothing happens, and an error event if the source fails.

        Each event costs one wait for a task of its own: the loop gets its turn even when a backlog is
        replayed, and a timeout leaves the source where it is instead of cancelling it.
        """
        self.open += 1
        pending: asyncio.Task[StreamEvent | None] | None = None
        try:
            yield b"retry: 2000\n\n"
            while True:
                pending = pending or asyncio.create_task(_next(source))
                done, _ = await asyncio.wait({pending}, timeout=self.limits.keep_alive)
                if not done:
                    yield b": keep-alive\n\n"
                    continue
                event, pending = pending.result(), None
                if event is None:
                    return
                yield encode(event.type, event.data, event.seq)
        except Exception:
            _logger.exception("a stream failed")
            yield encode("error", _BROKEN)
        finally:
            self.open -= 1
            self._dispose(source, pending)

    def _dispose(self, source: AsyncIterator[StreamEvent], pending: asyncio.Task[StreamEvent | None] | None) -> None:
        """Close the source in a task of its own: after a disconnect every await here is cancelled again."""
        task = asyncio.create_task(_close(source, pending))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


UsesStreams = Annotated[Streams, Dependency(skip_validation=True)]
"""The type of a handler's `streams`."""


def encode(kind: str, data: Any, seq: int | None = None) -> bytes:
    """Return one event: its data is one line of ASCII JSON, so that no text in it can end the line."""
    number = "" if seq is None else f"id: {seq}\n"
    name = "".join(kind.split())
    return f"{number}event: {name}\ndata: {dumps(data)}\n\n".encode("ascii", "replace")


def resume_point(header: str | None, after: int | None) -> int:
    """Return the number of the event that the client saw last; what a browser sends wins over the address."""
    if header is None or not header.strip():
        return after or 0
    value = header.strip()
    if not (value.isascii() and value.isdigit() and len(value) <= len(str(_LARGEST))):
        raise ApiError(422, "invalid_last_event_id", "Last-Event-ID is the number of an event.")
    return int(value)


class EventStream(Response[bytes]):
    """A response whose body are events."""

    def __init__(self, streams: Streams, source: AsyncIterator[StreamEvent], headers: dict[str, str]) -> None:
        fixed = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
        super().__init__(b"", status_code=200, media_type="text/event-stream", headers={**fixed, **headers})
        self._streams = streams
        self._source = source

    def to_asgi_response(self, app: Any, request: Request[Any, Any, Any], **options: Any) -> ASGIResponse:
        """Return the application that sends the events."""
        headers: dict[str, str] = {**(options.get("headers") or {}), **self.headers}
        cookies: Iterable[Cookie] | None = options.get("cookies")
        return _TimedStream(
            self._streams.limits.write_timeout,
            self._streams.frames(self._source),
            headers=headers,
            cookies=cookies,
            media_type=MediaType.TEXT if self.media_type is None else self.media_type,
            status_code=200,
        )


class _TimedStream(ASGIStreamingResponse):
    """A streaming response that gives up on a client which does not read."""

    __slots__ = ("_frames", "_write_timeout")

    def __init__(self, write_timeout: float, frames: AsyncGenerator[bytes, None], **options: Any) -> None:
        super().__init__(iterator=frames, **options)
        self._frames = frames
        self._write_timeout = write_timeout

    async def send_body(self, send: Send, receive: Receive) -> None:
        """Send the body until it ends, the client leaves, or one write takes too long."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._write, send, group.cancel_scope)
            while (await receive())["type"] != "http.disconnect":
                pass
            group.cancel_scope.cancel()

    async def _write(self, send: Send, scope: anyio.CancelScope) -> None:
        try:
            async with aclosing(self._frames) as chunks:
                async for chunk in chunks:
                    with anyio.fail_after(self._write_timeout):
                        await send(_body(chunk, more=True))
            with anyio.fail_after(self._write_timeout):
                await send(_body(b"", more=False))
        except TimeoutError:
            _logger.warning("a client did not read its stream for %s s", self._write_timeout)
        scope.cancel()


def _body(chunk: bytes, *, more: bool) -> HTTPResponseBodyEvent:
    return {"type": "http.response.body", "body": chunk, "more_body": more}


async def _next(source: AsyncIterator[StreamEvent]) -> StreamEvent | None:
    return await anext(source, None)


async def _close(source: AsyncIterator[StreamEvent], pending: asyncio.Task[StreamEvent | None] | None) -> None:
    if pending is not None:
        pending.cancel()
        await asyncio.wait({pending})
        if not pending.cancelled():
            pending.exception()
    close = getattr(source, "aclose", None)
    if close is not None:
        await close()
