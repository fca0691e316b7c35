"""The events of a run: numbered without gaps, evidence before what cites it, the same for whoever comes late."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.llm.scripted import ScriptedRoles
from app.runs.requests import RunRequest
from app.wiring import Services
from tests.harness import COMPARE, KITTIWAKE, LUYU, TWO, FixedReranker, ask, events, opened


def both(request: object) -> str:
    shown = request.passages  # type: ignore[attr-defined]
    key = {one.passage.text: one.key for one in shown}
    return " ".join(f"{text} [{next(key[held] for held in key if text in held)}]" for text in (KITTIWAKE, LUYU))


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    roles = ScriptedRoles(plan_replies=[TWO], writer=[both])
    async with opened(tmp_path, roles, FixedReranker(otherwise=0.9)) as services:
        yield services


async def test_the_stream_and_the_stored_result_are_one(services: Services) -> None:
    result = await ask(services, COMPARE)
    told = await events(services, result["run_id"])
    assert [one.seq for one in told] == list(range(1, len(told) + 1))
    assert (told[0].type, told[-1].type) == ("run_started", "final")
    assert "".join(one.data["text"] for one in told if one.type == "token") == result["answer"]
    assert told[-1].data["result"] == {name: value for name, value in result.items() if name != "last_seq"}
    assert [one.data["number"] for one in told if one.type == "evidence"] == [1, 2]


async def test_evidence_comes_before_the_sentence_that_cites_it(services: Services) -> None:
    result = await ask(services, COMPARE)
    shown: set[int] = set()
    for one in await events(services, result["run_id"]):
        if one.type == "evidence":
            shown.add(one.data["number"])
        if one.type == "token":
            assert set(one.data["citations"]) <= shown


async def test_every_node_tells_what_it_wrote_and_the_supervisor_why(services: Services) -> None:
    result = await ask(services, COMPARE)
    ended = [one.data for one in await events(services, result["run_id"]) if one.type == "node_finished"]
    assert ended[0]["node"] == "supervisor"
    assert all(one["keys"] for one in ended)
    assert all((one["route_reason"] is not None) == (one["node"] == "supervisor") for one in ended)


async def test_a_replay_gives_exactly_the_rest(services: Services) -> None:
    result = await ask(services, COMPARE)
    told = await events(services, result["run_id"])
    for seen in range(len(told) + 1):
        assert await events(services, result["run_id"], seen) == told[seen:]


async def test_early_and_late_listeners_hear_the_same(services: Services) -> None:
    created = await services.runs.create(RunRequest(question=COMPARE))
    heard = await asyncio.gather(*(events(services, created["run_id"]) for _ in range(5)))
    assert all(one == heard[0] for one in heard)
    assert await events(services, created["run_id"]) == heard[0]
