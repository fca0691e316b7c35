"""What a stream withstands: odd data, failing sources, clients that leave or never read, and the end of the server.

The names H6 to H14 and S1 to S8 are those of the list of pitfalls that each test keeps from coming back.
"""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import httpx
import pytest
from litestar.testing import AsyncTestClient

from app.api.application import create_app
from app.api.server import Server, make_server
from app.api.sse import StreamLimits, Streams, encode
from tests.api.fakes import FakeRun, FakeRuns, FakeServices, answered, live


@asynccontextmanager
async def serving(services: FakeServices, limits: StreamLimits | None = None) -> AsyncIterator[tuple[Server, str]]:
    """Run a real server on a free port."""
    server = make_server(create_app(services, stream_limits=limits), "127.0.0.1", 0)
    task = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield server, f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await task


async def until(condition: object, seconds: float = 3.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.01)


def test_h6_h7_data_is_ascii_json_whatever_is_in_it() -> None:
    data = {"text": "a\ud800\u2028销", "n": float("nan"), "list": [float("inf"), 1.5], "own": {"k": (1, 2)}}
    frame = encode("token", data, 7)
    line = frame.decode("ascii").split("\n")[2]
    assert line.startswith("data: {")
    assert json.loads(line[6:]) == {
        "text": "a\ud800\u2028销", "n": None, "list": [None, 1.5], "own": {"k": [1, 2]},
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["event: done\ndata: {}\n\n", "a\r\nid: 9\r\r", ": comment\n", "\n\n", "\x00", "\u2028"]
)
def test_h8_text_never_becomes_framing(text: str) -> None:
    frame = encode(f"to\nken{text}", {"text": text}, 1).decode("ascii")
    assert frame.count("\n") == 4
    assert frame.endswith("\n\n")
    assert "\r" not in frame
    assert json.loads(frame.split("\n")[2][6:]) == {"text": text}


@pytest.mark.parametrize("position", [0, 2])
async def test_h9_s4_a_failing_source_ends_in_an_error_event(
    client: AsyncTestClient, services: FakeServices, position: int
) -> None:
    def script(run: FakeRun) -> None:
        for _ in range(position):
            run.emit("token", text="x")
        run.emit("boom")

    services.runs.add(script)
    response = await client.get("/runs/run-1/events")
    assert response.status_code == 200
    assert response.text.count("event: token") == position
    event, data = response.text.rstrip().splitlines()[-2:]
    assert event == "event: error"
    assert json.loads(data[6:])["code"] == "stream_failed"
    assert "hunter2" not in response.text
    assert services.runs.subscribers == 0


async def test_s6_a_comment_is_sent_while_nothing_happens() -> None:
    runs = FakeRuns()
    run = runs.add(live)
    frames = Streams(StreamLimits(keep_alive=0.01)).frames(runs.events("run-1"))
    found = [await anext(frames) for _ in range(4)]
    assert found[0] == b"retry: 2000\n\n"
    assert b"event: run_started" in found[1]
    assert found[2:] == [b": keep-alive\n\n"] * 2
    run.emit("final", result={})
    rest = [frame async for frame in frames]
    assert b"event: final" in rest[-1]
    assert sum(b"event:" in frame for frame in rest) == 1


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "ticking"])
async def test_h10_s2_a_client_that_leaves_is_forgotten_and_the_run_goes_on(busy: bool) -> None:
    services = FakeServices()
    run = services.runs.add(live)
    async with serving(services) as (_, url), httpx.AsyncClient(base_url=url) as client:
        async with client.stream("GET", "/runs/run-1/events") as response:
            async for line in response.aiter_lines():
                if line.startswith("event: run_started"):
                    break
            assert services.runs.subscribers == 1
        for _ in range(20 if busy else 0):
            run.emit("token", text="x")
            await asyncio.sleep(0.001)
        await until(lambda: services.runs.subscribers == 0)
        assert run.status == "running"
        run.emit("final", result={})
        again = await client.get("/runs/run-1/events", headers={"Last-Event-ID": "1"})
        assert "event: final" in again.text


async def test_h11_s7_a_replayed_backlog_does_not_starve_the_server() -> None:
    services = FakeServices()

    def long(run: FakeRun) -> None:
        for number in range(30_000):
            run.emit("token", text="x", index=number)

    services.runs.add(long)
    async with serving(services) as (_, url), httpx.AsyncClient(base_url=url, timeout=5) as client:
        streams = [asyncio.create_task(client.get("/runs/run-1/events")) for _ in range(3)]
        await until(lambda: services.runs.subscribers == 3)
        waits = []
        for _ in range(5):
            began = time.monotonic()
            assert (await client.get("/health")).status_code == 200
            waits.append(time.monotonic() - began)
        for stream in streams:
            stream.cancel()
            with suppress(asyncio.CancelledError):
                await stream
        await until(lambda: services.runs.subscribers == 0)
    assert min(waits) < 0.5


async def test_h12_a_client_that_never_reads_is_given_up() -> None:
    services = FakeServices()
    run = services.runs.add(live)
    async with serving(services, StreamLimits(write_timeout=0.2)) as (_, url):
        port = int(url.rpartition(":")[2])
        silent = socket.create_connection(("127.0.0.1", port))
        silent.sendall(b"GET /runs/run-1/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        await until(lambda: services.runs.subscribers == 1)
        for _ in range(200):
            run.emit("token", text="x" * 100_000)
        await until(lambda: services.runs.subscribers == 0, 10)
        async with httpx.AsyncClient(base_url=url) as client:
            assert (await client.get("/health")).status_code == 200
        silent.close()


async def test_h13_many_streams_leave_the_threads_to_others() -> None:
    services = FakeServices()
    services.runs.add(live)
    limits = httpx.Limits(max_connections=None)
    async with serving(services) as (_, url), httpx.AsyncClient(base_url=url, limits=limits, timeout=30) as client:
        streams = [asyncio.create_task(client.get("/runs/run-1/events")) for _ in range(100)]
        await until(lambda: services.runs.subscribers == 100, 20)
        assert threading.active_count() < 60
        began = time.monotonic()
        assert (await client.get("/runs/run-1")).status_code == 200
        assert time.monotonic() - began < 2
        services.runs.runs["run-1"].emit("final", result={})
        texts = [(await stream).text for stream in streams]
        assert all("event: final" in text for text in texts)
    assert services.runs.subscribers == 0


async def test_h14_s5_a_server_that_stops_ends_its_streams_with_an_event() -> None:
    services = FakeServices()
    services.runs.add(live)
    async with serving(services) as (server, url), httpx.AsyncClient(base_url=url) as client:
        reading = asyncio.create_task(client.get("/runs/run-1/events"))
        await until(lambda: services.runs.subscribers == 1)
        began = time.monotonic()
        server.should_exit = True
        text = (await reading).text
        last = json.loads(text.rstrip().splitlines()[-1][6:])
        assert (last["code"], last["resumable"]) == ("interrupted", True)
    assert time.monotonic() - began < 4
    assert services.runs.closed >= 1


async def test_s1_streams_answer_200() -> None:
    async with serving(FakeServices()) as (_, url), httpx.AsyncClient(base_url=url) as client:
        response = await client.post("/runs", json={"question": "q"}, headers={"Accept": "text/event-stream"})
        assert response.status_code == 200
        assert response.headers["transfer-encoding"] == "chunked"


async def test_s3_a_run_outlives_the_request_that_made_it() -> None:
    services = FakeServices(runs=FakeRuns(live))
    headers = {"Accept": "text/event-stream"}
    async with serving(services) as (_, url), httpx.AsyncClient(base_url=url) as client:
        async with client.stream("POST", "/runs", json={"question": "q"}, headers=headers) as response:
            assert response.headers["location"] == "/api/v1/runs/run-1"
        await until(lambda: services.runs.subscribers == 0)
        assert (await client.get("/runs/run-1")).json()["status"] == "running"


def test_s8_no_annotation_of_a_handler_is_hidden_from_run_time() -> None:
    app = create_app(FakeServices())
    for route in app.routes:
        for handler in getattr(route, "route_handlers", []):
            assert handler.parsed_fn_signature is not None


async def test_there_is_a_limit_to_open_streams() -> None:
    services = FakeServices()
    services.runs.add(live)
    services.runs.add(answered)
    async with serving(services, StreamLimits(streams=1)) as (_, url), httpx.AsyncClient(base_url=url) as client:
        reading = asyncio.create_task(client.get("/runs/run-1/events"))
        await until(lambda: services.runs.subscribers == 1)
        refused = await client.get("/runs/run-2/events")
        assert (refused.status_code, refused.json()["code"]) == (503, "too_many_streams")
        services.runs.runs["run-1"].emit("final", result={})
        await reading
        await until(lambda: services.runs.subscribers == 0)
        assert (await client.get("/runs/run-2/events")).status_code == 200


async def test_frames_close_their_source_when_they_are_closed() -> None:
    runs = FakeRuns()
    runs.add(live)
    frames = Streams().frames(runs.events("run-1"))
    assert await anext(frames) == b"retry: 2000\n\n"
    assert b"run_started" in await anext(frames)
    await frames.aclose()
    await until(lambda: runs.subscribers == 0)
