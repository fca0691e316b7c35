"""Which faults of an endpoint get past the client? None: each becomes a reply or a `ModelError`."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable

import pytest

from app.errors import ModelError
from app.llm.failure import EndpointFault
from app.llm.openai_chat import MAX_REPLY_CHARS, OpenAIChat
from app.llm.simulate import Reply, Script, SimulatedEndpoint, reply_with
from app.ports import Completion, Message

KEY = "sk-test-1234567890abcdef"
ASK = (Message("system", "Be brief."), Message("user", "When did it open?"))


Streamed = tuple[list[str], Completion | ModelError, SimulatedEndpoint]
HTML = {"Content-Type": "text/html"}
REJECTED = [(401, "auth"), (402, "payment"), (422, "rejected"), (400, "rejected")]


async def complete(script: Script, seconds: float = 5.0) -> tuple[Completion, SimulatedEndpoint]:
    with SimulatedEndpoint(script) as endpoint:
        chat = OpenAIChat("test", KEY, endpoint.base_url, seconds)
        try:
            return await chat.complete(ASK, "direct"), endpoint
        finally:
            await chat.aclose()


async def stream(script: Script, seconds: float = 5.0) -> tuple[list[str], Completion | ModelError, SimulatedEndpoint]:
    pieces: list[str] = []
    with SimulatedEndpoint(script) as endpoint:
        chat = OpenAIChat("test", KEY, endpoint.base_url, seconds)
        try:
            async for item in chat.stream(ASK, "writer"):
                if isinstance(item, Completion):
                    return pieces, item, endpoint
                pieces.append(item)
        except ModelError as error:
            return pieces, error, endpoint
        finally:
            await chat.aclose()
    raise AssertionError("a stream ends with a Completion or a ModelError")


async def failure(script: Script, seconds: float = 5.0) -> tuple[ModelError, SimulatedEndpoint]:
    with SimulatedEndpoint(script) as endpoint:
        chat = OpenAIChat("test", KEY, endpoint.base_url, seconds)
        with pytest.raises(ModelError) as caught:
            await chat.complete(ASK, "direct")
        await chat.aclose()
        return caught.value, endpoint


async def test_a_good_reply_is_one_call_with_its_usage() -> None:
    reply, endpoint = await complete(reply_with("It opened in 1932. [a1b]"))
    assert (reply.text, reply.finish_reason, reply.calls) == ("It opened in 1932. [a1b]", "stop", 1)
    assert reply.tokens_in > 0
    assert reply.tokens_out == 6
    assert "response_format" not in endpoint.requests[0]
    assert endpoint.requests[0]["messages"][-1]["role"] == "user"


async def test_a_stream_is_the_same_text_in_pieces() -> None:
    pieces, last, endpoint = await stream(reply_with("It opened in 1932. [a1b]"))
    assert isinstance(last, Completion)
    assert len(pieces) > 1
    assert "".join(pieces) == last.text == "It opened in 1932. [a1b]"
    assert last.tokens_out == 6
    assert "response_format" not in endpoint.requests[0]


async def test_tokens_are_estimated_without_usage() -> None:
    _, last, _ = await stream(reply_with(Reply("大桥于一九三二年建成", usage=False)))
    assert isinstance(last, Completion)
    assert last.tokens_in == 6
    assert last.tokens_out == 7


@pytest.mark.parametrize("ask", [complete, stream])
@pytest.mark.parametrize(
    "first",
    [
        pytest.param(Reply(""), id="L3:empty"),
        pytest.param(Reply("", reasoning="SECRET"), id="L3:reasoning_only"),
        pytest.param(Reply("<think>SECRET"), id="L3:a_thought_without_end"),
        pytest.param(Reply("boom", status=500), id="http_500"),
        pytest.param(Reply("slow down", status=429, headers={"Retry-After": "-5"}), id="L10:past"),
        pytest.param(Reply(raw=b"{not json"), id="L5:garbage_json"),
        pytest.param(Reply(raw=b"<html>hello</html>", headers=HTML), id="L5:html_200"),
        pytest.param(Reply(raw=b'{"id": "x", "choices": []}'), id="L5:choices_empty"),
        pytest.param(Reply(raw=b'{"id": "x", "choices": null}'), id="L5:choices_null"),
        pytest.param(Reply("gone", abort_after=0), id="L9:hangs_up_at_once"),
        pytest.param(Reply("", finish_reason=None), id="L1:no_end_no_text"),
    ],
)
async def test_one_repeat_whatever_the_cause(ask: Callable[..., object], first: Reply) -> None:
    result = await ask(reply_with(first, "Found. [a1b]"))  # type: ignore[misc]
    reply, endpoint = result[-2], result[-1]
    assert isinstance(reply, Completion), reply
    assert (reply.text, reply.calls) == ("Found. [a1b]", 2)
    assert endpoint.requests[0]["messages"] == endpoint.requests[1]["messages"]
    assert endpoint.requests[1]["messages"][-1]["role"] == "user"


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        pytest.param(Reply(""), "empty", id="L3"),
        pytest.param(Reply("cut", finish_reason=None), "truncated", id="L1"),
        pytest.param(Reply("boom", status=503), "server", id="http_503"),
        pytest.param(Reply(raw=b"{not json"), "malformed", id="L5"),
    ],
)
async def test_never_more_than_one_repeat(script: Reply, kind: str) -> None:
    error, endpoint = await failure(reply_with(script))
    assert isinstance(error, EndpointFault)
    assert (error.kind, error.calls, len(endpoint.requests)) == (kind, 2, 2)


@pytest.mark.parametrize(("status", "kind"), REJECTED)
async def test_what_cannot_pass_by_itself_is_not_repeated(status: int, kind: str) -> None:
    """L7."""
    error, endpoint = await failure(reply_with(Reply("no", status=status)))
    assert (error.kind, error.retryable, len(endpoint.requests)) == (kind, False, 1)


async def test_the_key_is_in_no_error() -> None:
    """L6: some endpoints say which key was wrong."""
    text = f"Incorrect API key provided: {KEY} or sk-other*****************7890."
    error, _ = await failure(reply_with(Reply(text, status=401)))
    assert KEY not in f"{error!r} {error}"
    assert "7890" not in str(error)
    assert error.__suppress_context__


async def test_a_stream_that_breaks_off_keeps_what_was_said_and_is_not_repeated() -> None:
    """L9, L1."""
    for reply in (Reply("It opened in 1932. [a1b]", abort_after=2), Reply("It opened", finish_reason=None)):
        pieces, error, endpoint = await stream(reply_with(reply))
        assert "It opened in".startswith("".join(pieces)[:9])
        assert pieces
        assert isinstance(error, ModelError)
        assert error.kind == "truncated"
        assert len(endpoint.requests) == 1


@pytest.mark.parametrize("reason", ["length", "content_filter"])
async def test_a_shortened_reply_says_so(reason: str) -> None:
    """L2."""
    reply, _ = await complete(reply_with(Reply("It opened in", finish_reason=reason)))
    pieces, last, _ = await stream(reply_with(Reply("It opened in", finish_reason=reason)))
    assert reply.finish_reason == reason
    assert isinstance(last, Completion)
    assert (last.finish_reason, "".join(pieces)) == (reason, "It opened in")


async def test_the_deadline_is_of_the_clock_not_of_a_read() -> None:
    """L8: each read is quick, the whole is not."""
    started = time.monotonic()
    pieces, error, _ = await stream(reply_with(Reply("slow " * 40, delay=0.1)), seconds=0.5)
    assert time.monotonic() - started < 3
    assert pieces
    assert isinstance(error, ModelError)
    assert error.kind == "truncated"
    error, endpoint = await failure(reply_with(Reply("late", delay=1.0)), seconds=0.2)
    assert error.kind == "timeout"
    assert len(endpoint.requests) == 2


async def test_a_slow_reader_does_not_use_up_the_deadline() -> None:
    with SimulatedEndpoint(reply_with("one two three four five six")) as endpoint:
        chat = OpenAIChat("test", KEY, endpoint.base_url, timeout=0.4)
        items = []
        async for item in chat.stream(ASK, "writer"):
            items.append(item)
            await asyncio.sleep(0.2)
        await chat.aclose()
    assert isinstance(items[-1], Completion)


async def test_a_wait_longer_than_the_deadline_fails_at_once() -> None:
    """L10."""
    started = time.monotonic()
    error, endpoint = await failure(reply_with(Reply("later", status=429, headers={"Retry-After": "3600"})))
    assert (error.kind, len(endpoint.requests)) == ("rate_limit", 1)
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("status", [302, 307])
async def test_a_redirect_is_not_followed(status: int) -> None:
    """L11: it would carry the passages to another host."""
    with SimulatedEndpoint(reply_with("stolen")) as other:
        location = {"Location": other.base_url + "/chat/completions"}
        error, _ = await failure(reply_with(Reply(raw=b"", status=status, headers=location)))
        assert error.kind == "redirect"
        assert other.requests == []


async def test_lone_surrogates_are_replaced() -> None:
    """L12."""
    with SimulatedEndpoint(reply_with("fine")) as endpoint:
        chat = OpenAIChat("test", KEY, endpoint.base_url)
        await chat.complete([Message("user", "a \ud83d b \ud83d\ude00")], "direct")
        await chat.aclose()
    assert endpoint.requests[0]["messages"][0]["content"] == "a \ufffd b 😀"


async def test_the_last_message_is_the_users() -> None:
    """L15."""
    chat = OpenAIChat("test", KEY, "http://127.0.0.1:9/v1")
    with pytest.raises(AssertionError):
        await chat.complete([Message("system", "s"), Message("assistant", "a")], "direct")


@pytest.mark.parametrize("ask", [complete, stream])
async def test_thoughts_and_unseen_characters_stay_out(ask: Callable[..., object]) -> None:
    """L17."""
    text = "<think>SECRET [a1b]</think>\n\nOpen\u202eed\U000e0049 in <b>1932</b>.\ndata: x\n\n [a1b]"
    result = await ask(reply_with(Reply(text, reasoning="SECRET")))  # type: ignore[misc]
    assert result[-2].text == "Opened in <b>1932</b>.\ndata: x\n\n [a1b]"


@pytest.mark.parametrize("ask", [complete, stream])
async def test_a_reply_without_end_is_cut(ask: Callable[..., object]) -> None:
    """L17: one megabyte, or a loop."""
    body = json.dumps({"choices": [{"index": 0, "delta": {"content": "loop " * 2000}, "finish_reason": None}]})
    whole = json.dumps(
        {
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": "x" * 10**6},
                    "finish_reason": "stop",
                }
            ]
        }
    )
    raw = f"data: {body}\n\n".encode() * 100 if ask is stream else whole.encode()
    kind = "text/event-stream" if ask is stream else "application/json"
    result = await ask(reply_with(Reply(raw=raw, headers={"Content-Type": kind})))  # type: ignore[misc]
    assert len(result[-2].text) == MAX_REPLY_CHARS
    assert result[-2].finish_reason == "length"


async def test_a_stream_can_be_left() -> None:
    with SimulatedEndpoint(reply_with(Reply("many words " * 50, delay=0.01))) as endpoint:
        chat = OpenAIChat("test", KEY, endpoint.base_url)
        items: AsyncIterator[str | Completion] = chat.stream(ASK, "writer")
        assert await anext(items)
        await items.aclose()  # type: ignore[attr-defined]
        await chat.aclose()
