"""How do tests meet an endpoint's faults? With a scripted OpenAI-compatible server on the loopback.

It is strict where real endpoints are: `response_format` (DeepSeek), a tool message without its call (OpenAI)
and a conversation that does not end with the user are refused with 400, and `[system, assistant]` is answered
with nothing.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

__all__ = ["Reply", "SimulatedEndpoint", "reply_with"]

JsonObject = dict[str, Any]
POLL_SECONDS = 0.02
"""How often the server looks whether it shall stop: short, so that tests do not wait for it."""

PIECE = 7
"""Characters of a streamed piece: short, so that markers and tags are split over pieces."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the endpoint answers.

    `status`: other than 200, an error with `text` as message. `raw`: these bytes instead of a proper body.
    `delay`: seconds before the reply, and in a stream before each piece. `finish_reason`: None leaves it out.
    `abort_after`: the connection breaks after so many pieces of a stream (at once when not streaming).
    `usage`: whether token counts are sent. `reasoning`: sent as `reasoning_content`.
    """

    text: str = ""
    status: int = 200
    raw: bytes | None = None
    delay: float = 0.0
    finish_reason: str | None = "stop"
    abort_after: int | None = None
    usage: bool = True
    reasoning: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


Script = Callable[[JsonObject], Reply]
ErrorClass = type[BaseException] | None


def reply_with(*replies: Reply | str) -> Script:
    """Return a script that gives these replies in turn, the last one for ever."""
    left = [reply if isinstance(reply, Reply) else Reply(reply) for reply in replies]
    lock = threading.Lock()

    def script(request: JsonObject) -> Reply:
        with lock:
            return left.pop(0) if len(left) > 1 else left[0]

    return script


class SimulatedEndpoint:
    """A server on 127.0.0.1 for the time of a `with` block. `requests` are the bodies received, in order."""

    def __init__(self, script: Script, strict: bool = True) -> None:
        self.script, self.strict = script, strict
        self.requests: list[JsonObject] = []
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.endpoint = self
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, args=(POLL_SECONDS,), daemon=True)

    @property
    def base_url(self) -> str:
        """The address for a client, with `/v1`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: ErrorClass, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, request: JsonObject) -> Reply:
        """Record a request and return the reply to it."""
        self.requests.append(request)
        if self.strict and (complaint := _complaint(request)):
            return Reply(complaint, status=400)
        roles = [message.get("role") for message in request.get("messages", [])]
        return Reply("") if roles == ["system", "assistant"] else self.script(request)


def _complaint(request: JsonObject) -> str:
    messages = request.get("messages") or [{}]
    roles = [message.get("role") for message in messages]
    if "response_format" in request:
        return "This response_format type is unavailable now"
    if roles != ["system", "assistant"] and roles[-1] not in ("user", "tool"):
        return "the last message must be a user message"
    return _unpaired(messages)


def _unpaired(messages: list[JsonObject]) -> str:
    open_calls: set[str] = set()
    for message in messages:
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in open_calls:
                return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
            open_calls.discard(message["tool_call_id"])
        elif open_calls:
            break
        open_calls |= {call["id"] for call in message.get("tool_calls") or []}
    return "tool_calls must be followed by tool messages" if open_calls else ""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    endpoint: SimulatedEndpoint

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that hangs up in the middle is part of the test."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        """Answer a chat completion."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = self.server.endpoint.answer(request)
        stream = bool(request.get("stream"))
        if not stream or reply.status != 200:
            time.sleep(reply.delay)
        if reply.raw is not None:
            self._send(reply.status, reply.raw, reply.headers)
        elif reply.status != 200:
            body = {"error": {"message": reply.text, "type": "simulated", "code": str(reply.status)}}
            self._send(reply.status, json.dumps(body).encode(), reply.headers)
        elif stream:
            self._stream(reply, request)
        elif reply.abort_after is not None:
            self._hang_up()
        else:
            self._send(200, json.dumps(_whole(reply, request)).encode(), reply.headers)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, reply: Reply, request: JsonObject) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for number, event in enumerate(_events(reply, request)):
            if reply.abort_after is not None and number >= reply.abort_after:
                return self._hang_up()
            time.sleep(reply.delay)
            self._chunk(f"data: {event}\n\n".encode())
        self.wfile.write(b"0\r\n\r\n")
        return None

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _hang_up(self) -> None:
        self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Write no log."""


def _usage(reply: Reply, request: JsonObject) -> JsonObject | None:
    if not reply.usage:
        return None
    sent = sum(len(str(message.get("content"))) for message in request.get("messages", [])) // 4
    received = len(reply.text) // 4
    return {"prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received}


def _whole(reply: Reply, request: JsonObject) -> JsonObject:
    message = {"role": "assistant", "content": reply.text, "reasoning_content": reply.reasoning or None}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    body = {"id": "simulated", "object": "chat.completion", "created": 0, "model": request.get("model")}
    return {**body, "choices": [choice], "usage": _usage(reply, request)}


def _events(reply: Reply, request: JsonObject) -> Iterator[str]:
    body = {"id": "simulated", "object": "chat.completion.chunk", "created": 0, "model": request.get("model")}

    def event(delta: JsonObject, finish: str | None = None) -> str:
        return json.dumps({**body, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    if reply.reasoning:
        yield event({"role": "assistant", "reasoning_content": reply.reasoning})
    for start in range(0, len(reply.text), PIECE):
        yield event({"role": "assistant", "content": reply.text[start : start + PIECE]})
    if reply.finish_reason is not None:
        yield event({}, reply.finish_reason)
    if (request.get("stream_options") or {}).get("include_usage") and reply.usage:
        yield json.dumps({**body, "choices": [], "usage": _usage(reply, request)})
    yield "[DONE]"
