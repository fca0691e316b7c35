"""A costly plan waits for a person: before any search, for exactly one decision, across processes."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.errors import Conflict
from app.llm.scripted import ScriptedRoles
from app.runs.requests import ApprovalRequest
from app.runs.store import RunStore
from app.wiring import Services, close_services
from tests.harness import COMPARE, KITTIWAKE, THREE, TWO, FixedReranker, ask, codes, events, follow, opened, reopened

APPROVE = ApprovalRequest(decision="approve")


def script(plan: str = THREE) -> ScriptedRoles:
    return ScriptedRoles(plan_replies=[plan], writer=[lambda r: f"{KITTIWAKE} [{r.passages[0].key}]"])


@pytest.fixture
def roles() -> ScriptedRoles:
    return script()


@pytest.fixture
async def services(tmp_path: Path, roles: ScriptedRoles) -> AsyncIterator[Services]:
    async with opened(tmp_path, roles, FixedReranker({"Kittiwake": 0.9})) as services:
        yield services


async def test_three_tasks_wait_and_nothing_is_searched(services: Services, roles: ScriptedRoles) -> None:
    waiting = await ask(services, COMPARE)
    told = (await events(services, waiting["run_id"]))[-1]
    assert (waiting["status"], waiting["tool_trace"]) == ("awaiting_approval", [])
    assert (told.type, len(told.data["tasks"]), told.data["reasons"]) == ("approval_required", 3, ["tasks>=3"])
    assert roles.calls == ["planner"]
    assert waiting["delegation_path"] == ["supervisor", "planner"]


async def test_two_tasks_do_not_wait(tmp_path: Path) -> None:
    async with opened(tmp_path, script(TWO), FixedReranker({"Kittiwake": 0.9})) as services:
        assert (await ask(services, COMPARE))["status"] == "completed"


async def test_a_decision_resumes_without_planning_again(services: Services, roles: ScriptedRoles) -> None:
    waiting = await ask(services, COMPARE)
    await services.runs.approve(waiting["run_id"], APPROVE)
    result = await follow(services, waiting["run_id"], waiting["last_seq"])
    assert (result["status"], result["plan_approved"]) == ("completed", True)
    assert [one["id"] for one in result["research_tasks"]] == [one["id"] for one in waiting["research_tasks"]]
    assert roles.calls == ["planner", "writer"]


async def test_a_rejected_plan_costs_nothing_more(services: Services, roles: ScriptedRoles) -> None:
    waiting = await ask(services, COMPARE)
    await services.runs.approve(waiting["run_id"], ApprovalRequest(decision="cancel"))
    result = services.runs.get(waiting["run_id"])
    assert (result["status"], result["refused"], codes(result)) == ("cancelled", True, ["plan_rejected"])
    assert (roles.calls, result["tool_trace"]) == (["planner"], [])
    assert (await events(services, waiting["run_id"]))[-1].type == "cancelled"


async def test_a_second_decision_is_told_the_first(services: Services) -> None:
    waiting = await ask(services, COMPARE)
    await services.runs.approve(waiting["run_id"], APPROVE)
    with pytest.raises(Conflict) as refused:
        await services.runs.approve(waiting["run_id"], ApprovalRequest(decision="cancel"))
    assert (refused.value.code, (refused.value.stored or {})["action"]) == ("not_waiting", "approve")
    await follow(services, waiting["run_id"], waiting["last_seq"])


async def test_a_stale_version_changes_nothing(services: Services) -> None:
    waiting = await ask(services, COMPARE)
    with pytest.raises(Conflict) as refused:
        await services.runs.approve(waiting["run_id"], ApprovalRequest(decision="approve", plan_version=7))
    assert refused.value.code == "stale_plan"
    assert services.runs.get(waiting["run_id"])["status"] == "awaiting_approval"


async def test_of_fifty_mixed_decisions_one_wins(services: Services) -> None:
    waiting = await ask(services, COMPARE)
    kinds = [ApprovalRequest(decision="cancel" if number % 2 else "approve") for number in range(50)]
    done = await asyncio.gather(
        *(services.runs.approve(waiting["run_id"], one) for one in kinds), return_exceptions=True
    )
    assert [isinstance(one, dict) for one in done].count(True) == 1
    assert [isinstance(one, Conflict) for one in done].count(True) == 49
    result = await follow(services, waiting["run_id"], waiting["last_seq"])
    assert result["usage"]["searches"] in (0, 3)


def decide(path: Path, run_id: str, start: float) -> bool:
    store = RunStore(path)
    try:
        return store.decide(run_id, 1, {"action": "approve", "at": start}, "running", "1-test")
    finally:
        store.close()


async def test_of_two_processes_one_decides(services: Services, tmp_path: Path) -> None:
    waiting = await ask(services, COMPARE)
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        calls = [(tmp_path / "home" / "runs.db", waiting["run_id"], float(number)) for number in range(8)]
        done = await asyncio.to_thread(pool.starmap, decide, calls)
        pool.close()
        pool.join()
    assert sorted(done) == [False] * 7 + [True]


async def test_a_decision_that_was_stored_before_a_crash_is_used_by_the_resume(tmp_path: Path) -> None:
    roles = script()
    async with opened(tmp_path, roles) as services:
        waiting = await ask(services, COMPARE)
        decision = {"action": "approve", "plan_version": 1}
        assert services.store.decide(waiting["run_id"], 1, decision, "running", "999999999-gone")
    again = await reopened(tmp_path, roles)
    again.retriever.reranker = FixedReranker({"Kittiwake": 0.9})
    assert again.store.move(waiting["run_id"], ("running",), "resumable")
    await again.runs.resume(waiting["run_id"])
    result = await follow(again, waiting["run_id"], waiting["last_seq"])
    await close_services(again)
    assert (result["status"], roles.calls) == ("completed", ["planner", "writer"])
