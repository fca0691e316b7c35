"""Runs over HTTP: every route, with and without the prefix, and every way in which one is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from litestar.testing import AsyncTestClient

from tests.api.fakes import FakeServices, answered, live, waiting


async def test_create_answers_201_with_location(client: AsyncTestClient, services: FakeServices) -> None:
    response = await client.post("/api/v1/runs", json={"question": "What rose?"})
    assert response.status_code == 201
    assert response.headers["location"] == "/api/v1/runs/run-1"
    assert response.json()["run_id"] == "run-1"
    assert services.runs.requests[0].mode == "auto"


async def test_create_with_event_stream_accepted_sends_the_events_at_once(client: AsyncTestClient) -> None:
    response = await client.post("/runs", json={"question": "What rose?"}, headers={"Accept": "text/event-stream"})
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["location"] == "/api/v1/runs/run-1"
    assert response.headers["x-accel-buffering"] == "no"
    assert response.text.rstrip().splitlines()[-2] == "event: final"


async def test_transcript_of_a_stream(client: AsyncTestClient, services: FakeServices) -> None:
    services.runs.add(answered, "What rose?")
    text = (await client.get("/api/v1/runs/run-1/events", params={"after": 2})).text
    frames = text.split("\n\n")
    assert frames[0] == "retry: 2000"
    assert frames[1] == 'id: 3\nevent: token\ndata: {"index":0,"text":"Sales rose.","citations":[1]}'
    assert [frame.split("\n")[:2] for frame in frames[2:-1]] == [
        ["id: 4", "event: token"],
        ["id: 5", "event: final"],
    ]


@pytest.mark.parametrize("seen", range(6))
async def test_last_event_id_delivers_exactly_what_follows(
    client: AsyncTestClient, services: FakeServices, seen: int
) -> None:
    services.runs.add(answered)
    response = await client.get("/runs/run-1/events", headers={"Last-Event-ID": str(seen)})
    if seen == 5:
        assert (response.status_code, response.text) == (204, "")
    else:
        ids = [int(line[4:]) for line in response.text.splitlines() if line.startswith("id: ")]
        assert ids == list(range(seen + 1, 6))


@pytest.mark.parametrize("value", ["x", "-1", "1e3", "9" * 400, "١"])
async def test_a_last_event_id_that_is_no_number_is_refused(
    client: AsyncTestClient, services: FakeServices, value: str
) -> None:
    services.runs.add(answered)
    response = await client.get("/runs/run-1/events", headers={"Last-Event-ID": value.encode()})
    assert (response.status_code, response.json()["code"]) == (422, "invalid_last_event_id")


async def test_stream_ends_at_approval_required_and_the_decision_is_taken_once(
    client: AsyncTestClient, services: FakeServices
) -> None:
    run = services.runs.add(waiting)
    text = (await client.get("/runs/run-1/events")).text
    assert "event: approval_required" in text
    assert (await client.get("/runs/run-1/events", headers={"Last-Event-ID": "2"})).status_code == 204
    body = {"decision": "edit", "tasks": [{"query": "a"}, {"query": ""}], "plan_version": 1}
    bad = await client.post("/runs/run-1/approval", json=body)
    assert (bad.status_code, bad.json()["code"], bad.json()["index"]) == (422, "invalid_plan", 1)
    assert run.status == "awaiting_approval"
    first = await client.post("/runs/run-1/approval", json={"decision": "approve", "plan_version": 1})
    assert (first.status_code, first.json()["plan_version"]) == (202, 2)
    second = await client.post("/api/v1/runs/run-1/approval", json={"decision": "cancel"})
    assert (second.status_code, second.json()["code"]) == (409, "not_waiting")
    assert second.json()["stored"] == {"decision": "approve"}


async def test_cancel_and_resume(client: AsyncTestClient, services: FakeServices) -> None:
    run = services.runs.add(live)
    assert (await client.post("/runs/run-1/resume")).status_code == 409
    assert (await client.post("/runs/run-1/cancel", json={})).status_code == 202
    assert (await client.post("/runs/run-1/cancel")).json()["code"] == "not_running"
    run.status = "resumable"
    assert (await client.post("/runs/run-1/resume")).status_code == 202


@pytest.mark.parametrize("part", ["", "/trace", "/evidence", "/bundle", "/verify"])
async def test_what_can_be_read_of_a_run(client: AsyncTestClient, services: FakeServices, part: str) -> None:
    services.runs.add(answered)
    for prefix in ("", "/api/v1"):
        assert (await client.get(f"{prefix}/runs/run-1{part}")).status_code == 200
        missing = await client.get(f"{prefix}/runs/none{part}")
        assert (missing.status_code, missing.json()["code"]) == (404, "run_not_found")


async def test_citations_are_checked_at_a_known_level(client: AsyncTestClient, services: FakeServices) -> None:
    services.runs.add(answered)
    assert (await client.get("/runs/run-1/verify", params={"level": "source"})).json()["level"] == "source"
    assert (await client.get("/runs/run-1/verify", params={"level": "soul"})).status_code == 422


@pytest.mark.parametrize("action", ["approval", "resume", "cancel"])
async def test_acting_on_an_unknown_run_is_404(client: AsyncTestClient, action: str) -> None:
    response = await client.post(f"/api/v1/runs/none/{action}", json={"decision": "approve"})
    assert response.status_code == 404
    assert (await client.get("/runs/none/events")).status_code == 404


async def test_list_can_be_filtered(client: AsyncTestClient, services: FakeServices) -> None:
    services.runs.add(answered)
    services.runs.add(live)
    assert (await client.get("/runs", params={"status": "running"})).json()["total"] == 1
    assert (await client.get("/runs", params={"status": "asleep"})).status_code == 422
    assert (await client.get("/runs", params={"limit": 0})).status_code == 422


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="no question"),
        pytest.param({"question": ""}, id="empty"),
        pytest.param({"question": " \x00\n "}, id="nothing but control characters"),
        pytest.param({"question": "x" * 4001}, id="too long"),
        pytest.param({"question": "x", "model": "other"}, id="unknown field"),
        pytest.param({"question": "x", "filters": {"path": "/"}}, id="unknown field inside"),
        pytest.param({"question": "x", "mode": "fast"}, id="unknown mode"),
        pytest.param({"question": "x", "budgets": {"searches": 1000}}, id="budget out of bounds"),
        pytest.param({"question": 5}, id="wrong type"),
        pytest.param([], id="no object"),
        pytest.param(None, id="null"),
    ],
)
async def test_invalid_bodies_are_422(client: AsyncTestClient, services: FakeServices, body: Any) -> None:
    response = await client.post("/runs", json=body)
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert {"type", "title", "status", "detail", "code", "errors"} <= response.json().keys()
    assert services.runs.requests == []


async def test_control_characters_are_removed_from_the_question(
    client: AsyncTestClient, services: FakeServices
) -> None:
    await client.post("/runs", json={"question": " What\x00 \x1b[2Jrose?\n"})
    assert services.runs.requests[0].question == "What [2Jrose?"


@pytest.mark.parametrize(
    ("content", "status"),
    [
        pytest.param(b'{"question": ', 400, id="cut off"),
        pytest.param(b'{"question": "\\ud800"}', 400, id="lone surrogate"),
        pytest.param(b'{"question": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400, id="nested deeply"),
        pytest.param(b'{"question": "\xff"}', 400, id="not UTF-8"),
        pytest.param(b"x" * 2_000_000, 413, id="too large"),
    ],
)
async def test_broken_bodies_are_client_errors(client: AsyncTestClient, content: bytes, status: int) -> None:
    response = await client.post("/runs", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"


async def test_an_unforeseen_error_tells_nothing(client: AsyncTestClient, services: FakeServices) -> None:
    services.runs.add(answered)
    services.runs.broken = True
    response = await client.get("/runs/run-1")
    assert (response.status_code, response.json()["code"]) == (500, "internal")
    assert "hunter2" not in response.text
    assert "Traceback" not in response.text


async def test_a_lone_surrogate_in_a_result_is_escaped(client: AsyncTestClient, services: FakeServices) -> None:
    run = services.runs.add(answered)
    run.result["answer"] = "a\ud800b"
    response = await client.get("/runs/run-1")
    assert response.status_code == 200
    assert json.loads(response.content)["answer"] == "a\ud800b"


async def test_graph_is_mermaid(client: AsyncTestClient) -> None:
    response = await client.get("/graph")
    assert response.headers["content-type"].startswith("text/plain")
    assert response.text.startswith("graph TD;")
