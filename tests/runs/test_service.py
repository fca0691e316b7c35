"""Runs through the real graph, stores and files; the embedder is the hashing one and no model is used."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.agent.graph import mermaid
from app.core.citations import problems
from app.errors import Conflict, InvalidPlan, RunNotFound
from app.runs.requests import ApprovalRequest, RunRequest
from app.settings import Settings
from app.wiring import Services, close_services, open_library, open_services

LEAVE = "# Leave\n\nEvery employee has 24 days of annual leave. Unused annual leave ends in March.\n"
OIL = (
    "# Oil\n\nThe oil change interval of Kittiwake is 500 hours.\n\n"
    "The oil change interval of Luyu Star is 750 hours.\n\nThe oil change interval of Alder Pioneer is 600 hours.\n"
)
COMPARE = "Compare the oil change interval of Kittiwake, Luyu Star and Alder Pioneer."


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "leave.md").write_text(LEAVE, encoding="utf-8")
    (folder / "oil.md").write_text(OIL, encoding="utf-8")
    settings = Settings(home=tmp_path / "home", embedder="hashing", openai_api_key=None)
    library = open_library(settings)
    library.ingest([folder])
    opened = await open_services(settings, library)
    yield opened
    await close_services(opened)


async def ask(services: Services, question: str, **options: str) -> dict[str, object]:
    created = await services.runs.create(RunRequest.model_validate({"question": question, **options}))
    return await follow(services, created["run_id"])


async def follow(services: Services, run_id: str, after: int = 0) -> dict[str, object]:
    async for _ in services.runs.events(run_id, after):
        pass
    return services.runs.get(run_id)


async def test_a_simple_question_is_one_search_with_a_citation_that_verifies(services: Services) -> None:
    result = await ask(services, "How many days of annual leave does every employee have?")
    assert result["status"] == "completed"
    assert result["delegation_path"] == ["supervisor", "direct"]
    assert result["usage"]["searches"] == 1  # type: ignore[index]
    assert "24 days" in str(result["answer"])
    for level in ("stored", "source"):
        assert services.runs.verify(str(result["run_id"]), level)["ok"], level


async def test_evidence_numbers_markers_and_the_stream_agree(services: Services) -> None:
    result = await ask(services, COMPARE, approval="never")
    events = [event async for event in services.runs.events(str(result["run_id"]))]
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    tokens = "".join(event.data["text"] for event in events if event.type == "token")
    assert tokens == result["answer"] == events[-1].data["result"]["answer"]
    assert problems(tokens, result["citations"]) == []  # type: ignore[arg-type]
    ids = [one["id"] for one in result["evidence"]]  # type: ignore[attr-defined]
    assert ids == [one["evidence_id"] for one in result["citations"]]  # type: ignore[attr-defined]
    replayed = [event async for event in services.runs.events(str(result["run_id"]), after=3)]
    assert replayed == events[3:]


@pytest.mark.parametrize("question", ["What is the capital of France?", "法国的首都是哪里？"])
async def test_what_the_documents_do_not_hold_is_refused_with_what_is_missing(
    services: Services, question: str
) -> None:
    result = await ask(services, question)
    assert (result["status"], result["refused"]) == ("refused", True)
    assert result["gaps"]
    assert result["citations"] == []


async def test_three_tasks_wait_before_any_search_and_an_edited_plan_goes_on(services: Services) -> None:
    waiting = await ask(services, COMPARE)
    run_id = str(waiting["run_id"])
    assert waiting["status"] == "awaiting_approval"
    assert waiting["tool_trace"] == []
    with pytest.raises(Conflict) as stale:
        await services.runs.approve(run_id, ApprovalRequest(decision="approve", plan_version=9))
    assert stale.value.code == "stale_plan"
    with pytest.raises(InvalidPlan) as wrong:
        await services.runs.approve(run_id, ApprovalRequest(decision="edit", tasks=[{"query": "a"}, {"query": ""}]))
    assert wrong.value.index == 1
    tasks = [{"query": "oil change interval of Kittiwake"}, {"query": "oil change interval of Luyu Star"}]
    seen = services.runs.last_seq(run_id)
    await services.runs.approve(run_id, ApprovalRequest(decision="edit", tasks=tasks))
    result = await follow(services, run_id, seen)
    assert result["status"] == "completed"
    assert result["plan_approved"]
    assert [task["status"] for task in result["research_tasks"]] == ["done", "done"]  # type: ignore[attr-defined]
    assert {"500", "750"} <= set(re.findall(r"\d+", str(result["answer"])))


async def test_of_fifty_approvals_one_wins_and_research_runs_once(services: Services) -> None:
    waiting = await ask(services, COMPARE)
    run_id, seen = str(waiting["run_id"]), services.runs.last_seq(str(waiting["run_id"]))
    done = await asyncio.gather(
        *(services.runs.approve(run_id, ApprovalRequest(decision="approve")) for _ in range(50)),
        return_exceptions=True,
    )
    assert sum(isinstance(one, dict) for one in done) == 1
    assert sum(isinstance(one, Conflict) for one in done) == 49
    result = await follow(services, run_id, seen)
    assert result["usage"]["searches"] == 3  # type: ignore[index]


async def test_a_rejected_plan_searches_nothing_and_says_so(services: Services) -> None:
    waiting = await ask(services, COMPARE)
    run_id = str(waiting["run_id"])
    await services.runs.approve(run_id, ApprovalRequest(decision="cancel"))
    result = services.runs.get(run_id)
    assert result["status"] == "cancelled"
    assert [one["code"] for one in result["warnings"]] == ["plan_rejected"]
    assert result["usage"]["searches"] == 0
    with pytest.raises(Conflict):
        await services.runs.approve(run_id, ApprovalRequest(decision="approve"))


async def test_without_a_checkpoint_nothing_waits_and_nothing_is_kept(services: Services) -> None:
    result = await services.runs.answer(RunRequest(question=COMPARE))
    assert result["status"] == "completed"
    assert services.runs.list(None, 10, 0)["total"] == 0


async def test_a_waiting_run_is_approved_after_a_restart(services: Services, tmp_path: Path) -> None:
    waiting = await ask(services, COMPARE)
    run_id = str(waiting["run_id"])
    await services.runs.close()
    again = await open_services(services.settings, services.library)
    seen = again.runs.last_seq(run_id)
    await again.runs.approve(run_id, ApprovalRequest(decision="approve"))
    result = await follow(again, run_id, seen)
    await again.runs.close()
    await again.checkpoints.conn.close()
    assert result["status"] == "completed"
    assert [task["id"] for task in result["research_tasks"]] == [  # type: ignore[attr-defined]
        task["id"]
        for task in waiting["research_tasks"]  # type: ignore[attr-defined]
    ]


async def test_unknown_and_ended_runs_are_told_apart(services: Services) -> None:
    result = await ask(services, "How many days of annual leave does every employee have?")
    for act in (services.runs.resume, services.runs.cancel):
        with pytest.raises(Conflict):
            await act(str(result["run_id"]))
        with pytest.raises(RunNotFound):
            await act("00000000-0000-0000-0000-000000000000")


def test_the_graph_has_exactly_five_nodes_that_leave_by_conditions() -> None:
    drawn = mermaid()
    nodes = set(re.findall(r"^\t(\w+)\(", drawn, re.MULTILINE)) - {"__start__", "__end__"}
    assert nodes == {"supervisor", "direct", "planner", "researcher", "writer"}
    assert "__start__ --> supervisor" in drawn


async def test_tasks_that_no_edit_would_use_are_refused(services: Services) -> None:
    waiting = await ask(services, COMPARE)
    with pytest.raises(InvalidPlan):
        await services.runs.approve(
            str(waiting["run_id"]), ApprovalRequest(decision="approve", tasks=[{"query": "other"}])
        )
    assert services.runs.get(str(waiting["run_id"]))["status"] == "awaiting_approval"


async def test_a_first_answer_that_lacks_what_is_asked_is_no_fallback(services: Services) -> None:
    result = await ask(services, "How many days of annual leave does every employee have in 2031?", approval="never")
    assert result["status"] == "refused"
    assert "2031" in str(result["gaps"])


async def test_the_evidence_says_which_tasks_found_it_as_the_result_does(services: Services) -> None:
    result = await ask(services, COMPARE, approval="never")
    found = services.runs.evidence(str(result["run_id"]))
    assert found["evidence"] == result["evidence"]
    assert all(one["task_ids"] for one in found["evidence"])
