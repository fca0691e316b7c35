"""How is an OpenAI-compatible endpoint asked, so that none of its faults gets past this file?

The client library neither repeats (`max_retries=0`) nor keeps time (its timeout is per read): both are done
here, where they can be counted. Output is always plain text: endpoints such as DeepSeek's refuse
`response_format`.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from app.llm.failure import Boundary, EndpointFault, Unfinished
from app.llm.text import ThinkFilter, clean_output, clean_prompt, estimate_tokens, strip_think
from app.ports import Completion, Message, Role

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage
    from langchain_openai import ChatOpenAI

__all__ = ["MAX_REPLY_CHARS", "OpenAIChat"]

MAX_REPLY_CHARS = 60_000
"""A longer reply is cut: no role needs a tenth of it, and a model in a loop never stops by itself."""

MAX_CALLS = 2
"""A call, and one repeat whatever the cause."""

FIXED_TEMPERATURE = re.compile(r"(?:.*/)?(?:o\d|gpt-5)")
"""OpenAI's reasoning models refuse any temperature but their own; others get 0: same question, same answer."""

SHORTENED = frozenset({"length", "content_filter"})
"""Finish reasons under which an empty reply is an answer of the endpoint, not a fault."""

Wire = list[dict[str, str]]


class OpenAIChat:
    """A chat model behind an OpenAI-compatible endpoint. `timeout`: seconds of the clock for each request."""

    def __init__(self, model: str, api_key: str, base_url: str | None = None, timeout: float = 120.0) -> None:
        self._model, self._key, self._base_url, self._timeout = model, api_key, base_url, timeout
        self._client: ChatOpenAI | None = None

    def __repr__(self) -> str:
        return f"OpenAIChat(model={self._model!r}, base_url={self._base_url!r})"

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model

    async def complete(self, messages: Sequence[Message], role: Role) -> Completion:
        """Return the reply to `messages`; a failed, empty or unfinished one is asked for once more."""
        wire = _wire(messages)
        for calls in range(1, MAX_CALLS + 1):
            try:
                reply = await self._ask(wire)
            except EndpointFault as error:
                await self._before_repeat(error, calls)
            else:
                return _priced(reply, wire, calls)
        raise AssertionError("the last call returns or raises")

    async def stream(self, messages: Sequence[Message], role: Role) -> AsyncIterator[str | Completion]:
        """Yield the reply in pieces and last a `Completion`; a repeat is made only while nothing was yielded.

        A reply that breaks off later ends with `ModelError(kind="truncated")`: what was yielded stays.
        """
        wire = _wire(messages)
        for calls in range(1, MAX_CALLS + 1):
            yielded = False
            try:
                async with aclosing(self._pieces(wire)) as pieces:
                    async for piece in pieces:
                        if isinstance(piece, Completion):
                            yield _priced(piece, wire, calls)
                            return
                        yielded = True
                        yield piece
            except EndpointFault as error:
                if yielded:
                    raise _with_calls(_broken_off(error), calls) from None
                await self._before_repeat(error, calls)

    async def aclose(self) -> None:
        """Close the connections to the endpoint."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.root_async_client.close()
            client.root_client.close()

    async def _before_repeat(self, error: EndpointFault, calls: int) -> None:
        if calls >= MAX_CALLS or not error.retryable or error.retry_after > self._timeout:
            raise _with_calls(error, calls)
        await asyncio.sleep(error.retry_after)

    async def _ask(self, wire: Wire) -> Completion:
        with Boundary(self._key):
            async with asyncio.timeout(self._timeout):
                message = await self._open().ainvoke(_langchain(wire))
            text, finish = strip_think(clean_output(_text(message))), _finish(message)
            return _whole(text, finish, *_usage(message))

    async def _pieces(self, wire: Wire) -> AsyncGenerator[str | Completion, None]:
        """Yield the cleaned pieces of one request, then its `Completion`."""
        thoughts, shown, size = ThinkFilter(), list[str](), 0
        finish: str | None = None
        tokens = (0, 0)
        with Boundary(self._key):
            async with aclosing(self._timed(wire)) as chunks:
                async for chunk in chunks:
                    finish = _finish(chunk) or finish
                    tokens = max(tokens, _usage(chunk))
                    piece = thoughts.feed(clean_output(_text(chunk)))[: MAX_REPLY_CHARS - size]
                    # Blank text before the first word is the gap that a removed thought leaves.
                    piece = piece if size else piece.lstrip()
                    if piece:
                        size += len(piece)
                        shown.append(piece)
                        yield piece
                    if size >= MAX_REPLY_CHARS:
                        finish = "length"
                        break
            rest = thoughts.finish()[: MAX_REPLY_CHARS - size]
            if rest := (rest if size else rest.strip()):
                shown.append(rest)
                yield rest
            yield _whole("".join(shown), finish, *tokens)

    async def _timed(self, wire: Wire) -> AsyncGenerator[BaseMessage, None]:
        """Yield chunks within the deadline, not counting the time in which the caller works on one."""
        left = self._timeout
        async with aclosing(self._start(wire)) as chunks:
            while True:
                started = time.monotonic()
                async with asyncio.timeout(max(left, 0.0)):
                    chunk = await anext(chunks, None)
                if chunk is None:
                    return
                left -= time.monotonic() - started
                yield chunk

    async def _start(self, wire: Wire) -> AsyncGenerator[BaseMessage, None]:
        async for chunk in self._open().astream(_langchain(wire), stream_usage=True):
            yield chunk

    def _open(self) -> ChatOpenAI:
        if self._client is None:
            # Imported on first use: the import alone costs a second, and the extractive mode never needs it.
            import httpx
            from langchain_openai import ChatOpenAI
            from pydantic import SecretStr

            # A redirect would carry the question and the passages to another host.
            self._client = ChatOpenAI(
                model=self._model,
                api_key=SecretStr(self._key),
                base_url=self._base_url,
                max_retries=0,
                temperature=None if FIXED_TEMPERATURE.match(self._model) else 0.0,
                timeout=self._timeout,
                stream_chunk_timeout=None,
                use_responses_api=False,
                http_async_client=httpx.AsyncClient(follow_redirects=False, timeout=self._timeout),
                http_client=httpx.Client(follow_redirects=False, timeout=self._timeout),
            )
        return self._client


def _wire(messages: Sequence[Message]) -> Wire:
    assert messages[-1].role == "user", "the last message of every request is a user message"
    return [{"role": m.role, "content": clean_prompt(m.content)} for m in messages]


def _langchain(wire: Wire) -> list[BaseMessage]:
    from langchain_core.messages import convert_to_messages

    return convert_to_messages(wire)


def _text(message: BaseMessage) -> str:
    """Return the text of a message, of which `reasoning_content` and blocks of other kinds are no part."""
    content = message.content
    if isinstance(content, str):
        return content
    return "".join(part if isinstance(part, str) else str(part.get("text") or "") for part in content)


def _finish(message: BaseMessage) -> str | None:
    reason = message.response_metadata.get("finish_reason")
    return str(reason) if reason else None


def _usage(message: BaseMessage) -> tuple[int, int]:
    usage = getattr(message, "usage_metadata", None) or {}
    return int(usage.get("input_tokens") or 0), int(usage.get("output_tokens") or 0)


def _whole(text: str, finish: str | None, tokens_in: int, tokens_out: int) -> Completion:
    """Return a reply that has ended, or raise what is wrong with it."""
    if finish is None:
        raise Unfinished("truncated", "the reply ended without a finish reason")
    if not text.strip() and finish not in SHORTENED:
        raise Unfinished("empty", "the reply has no text")
    if len(text) > MAX_REPLY_CHARS:
        text, finish = text[:MAX_REPLY_CHARS], "length"
    return Completion(text, finish, tokens_in, tokens_out)


def _priced(reply: Completion, wire: Wire, calls: int) -> Completion:
    """Return `reply` with its calls and tokens; a request that was repeated has paid its prompt twice."""
    tokens_in = reply.tokens_in or sum(estimate_tokens(message["content"]) for message in wire)
    tokens_out = reply.tokens_out or estimate_tokens(reply.text)
    return Completion(reply.text, reply.finish_reason, tokens_in * calls, tokens_out, calls)


def _broken_off(error: EndpointFault) -> EndpointFault:
    return EndpointFault(f"the reply broke off: {error}", retryable=error.retryable, kind="truncated")


def _with_calls(error: EndpointFault, calls: int) -> EndpointFault:
    error.calls = calls
    return error
