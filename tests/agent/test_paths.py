"""The ways through the graph, with scripted roles: what each failure and each budget leads to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.llm.scripted import ScriptedRoles, fails
from app.runs.requests import ApprovalRequest
from tests.harness import (
    ALDER,
    COMPARE,
    KITTIWAKE,
    LEAVE,
    LUYU,
    THREE,
    TWO,
    FixedReranker,
    Json,
    ask,
    codes,
    files_holding,
    follow,
    opened,
)

ASKED = "How many days of annual leave does every employee have?"
UNCLEAR = " ".join(["leave"] * 41)
"""Too long for the rules, so the model routes it."""
REFUSAL = "I could not find that in the documents."
ALL = FixedReranker(otherwise=0.9)
GOOD = f"{LEAVE} {{1}}"


async def run(tmp_path: Path, roles: ScriptedRoles, question: str, reranker: Any = ALL, **options: Any) -> Json:
    async with opened(tmp_path, roles, reranker) as services:
        return await ask(services, question, **{"approval": "never", **options})


def cites(*sentences: str) -> Callable[[Any], str]:
    """Return a draft that cites for each sentence the passage it stands in."""
    return lambda request: " ".join(
        f"{text} [{next((one.key for one in request.passages if text in one.passage.text), '0')}]" for text in sentences
    )


async def test_direct_answers_with_one_search_and_one_generation(tmp_path: Path) -> None:
    roles = ScriptedRoles(direct=[cites(LEAVE)])
    result = await run(tmp_path, roles, ASKED)
    assert (result["status"], result["delegation_path"]) == ("completed", ["supervisor", "direct"])
    assert roles.calls == ["direct"]
    assert len(result["tool_trace"]) == 1


async def test_a_refusal_goes_to_planner_researcher_and_writer(tmp_path: Path) -> None:
    roles = ScriptedRoles(direct=[REFUSAL], plan_replies=[TWO], writer=[cites(KITTIWAKE, LUYU)])
    result = await run(tmp_path, roles, "What is the oil change interval of the ships?")
    assert result["delegation_path"][1::2] == ["direct", "planner", "researcher", "writer"]
    assert roles.calls == ["direct", "planner", "writer"]
    assert "answer_incomplete" in codes(result)
    assert [task["status"] for task in result["research_tasks"]] == ["done", "done"]


async def test_a_removed_claim_goes_to_the_planner_and_is_never_shown(tmp_path: Path) -> None:
    roles = ScriptedRoles(
        direct=[lambda request: f"{cites(LEAVE)(request)} The moon is made of 77 cheeses. [{request.passages[0].key}]"],
        plan_replies=['[{"query": "annual leave"}]'],
        writer=[cites(LEAVE)],
    )
    result = await run(tmp_path, roles, ASKED)
    assert "planner" in result["delegation_path"]
    assert "claims_removed" in codes(result)
    assert "cheeses" not in result["answer"]


async def test_research_that_refuses_falls_back_to_what_direct_cited(tmp_path: Path) -> None:
    roles = ScriptedRoles(
        direct=[lambda request: f"{cites(LEAVE)(request)} {REFUSAL}"],
        plan_replies=['[{"query": "annual leave"}]'],
        writer=[REFUSAL],
    )
    result = await run(tmp_path, roles, ASKED)
    assert (result["status"], "fallback_to_direct" in codes(result)) == ("completed", True)
    assert result["answer"] == f"{LEAVE}[1]"
    assert result["citations"][0]["quotes"][0]["text"] == LEAVE


async def test_research_that_refuses_after_an_uncited_answer_refuses(tmp_path: Path) -> None:
    roles = ScriptedRoles(direct=[REFUSAL], plan_replies=['[{"query": "annual leave"}]'], writer=[REFUSAL])
    result = await run(tmp_path, roles, ASKED)
    assert (result["status"], result["citations"]) == ("refused", [])
    assert "fallback_to_direct" not in codes(result)


async def test_no_evidence_asks_for_other_queries_at_most_two(tmp_path: Path) -> None:
    roles = ScriptedRoles(plan_replies=[THREE], writer=[cites(KITTIWAKE)])
    result = await run(tmp_path, roles, "What is the weather?", FixedReranker())
    assert roles.plans == [("What is the weather?", 2, ("What is the weather?",))]
    assert [task["status"] for task in result["research_tasks"]] == ["insufficient_evidence"] * 2
    assert (result["status"], roles.calls) == ("refused", ["planner"])


async def test_no_other_query_refuses_without_research(tmp_path: Path) -> None:
    roles = ScriptedRoles(plan_replies=['[{"query": "What is the weather?"}]'])
    result = await run(tmp_path, roles, "What is the weather?", FixedReranker())
    assert result["status"] == "refused"
    assert "researcher" not in result["delegation_path"]


async def test_the_researcher_uses_the_plan_and_not_what_a_message_says(tmp_path: Path) -> None:
    misleading = f'Let us search for "bananas" instead.\n```json\n{TWO}\n```'
    roles = ScriptedRoles(plan_replies=[misleading], writer=[cites(KITTIWAKE, LUYU)])
    result = await run(tmp_path, roles, COMPARE)
    assert sorted(one["query"] for one in result["tool_trace"]) == ["oil Kittiwake", "oil Luyu Star"]


async def test_a_garbage_plan_is_one_task_with_a_warning(tmp_path: Path) -> None:
    result = await run(tmp_path, ScriptedRoles(plan_replies=["%$&"], writer=[cites(ALDER)]), COMPARE)
    assert "planner_parse_failed" in codes(result)
    assert [task["query"] for task in result["research_tasks"]] == [COMPARE]
    assert result["status"] == "completed"


async def test_of_seven_tasks_three_are_kept(tmp_path: Path) -> None:
    seven = "\n".join(f"{n}. oil {n}" for n in range(1, 8))
    result = await run(tmp_path, ScriptedRoles(plan_replies=[seven], writer=[cites(ALDER)]), COMPARE)
    assert len(result["research_tasks"]) == 3
    assert "plan_truncated" in codes(result)


@pytest.mark.parametrize("reply", ["", "I think ROLE: writer", "ROLE: writer and planner", fails()])
async def test_a_garbage_route_goes_the_safe_way(tmp_path: Path, reply: Any) -> None:
    roles = ScriptedRoles(routes=[reply], direct=[cites(LEAVE)])
    result = await run(tmp_path, roles, UNCLEAR)
    assert (result["status"], result["delegation_path"]) == ("completed", ["supervisor", "direct"])
    assert "route_parse_failed" in codes(result)
    assert [message.role for history in roles.histories for message in history] == ["user"]


async def test_a_finish_of_the_model_ends_the_run(tmp_path: Path) -> None:
    result = await run(tmp_path, ScriptedRoles(routes=["<think>SECRET</think>ROLE: finish"]), UNCLEAR)
    assert (result["status"], result["delegation_path"]) == ("refused", ["supervisor"])


@pytest.mark.parametrize(
    ("role", "script"),
    [
        ("direct", {"direct": [fails()], "plan_replies": ['[{"query": "leave"}]'], "writer": [REFUSAL]}),
        ("planner", {"direct": [REFUSAL], "plan_replies": [fails()], "writer": [REFUSAL]}),
        ("writer", {"direct": [REFUSAL], "plan_replies": ['[{"query": "leave"}]'], "writer": [fails()]}),
    ],
)
async def test_a_failing_model_ends_as_a_refusal_with_a_warning(tmp_path: Path, role: str, script: Any) -> None:
    result = await run(tmp_path, ScriptedRoles(**script), ASKED)
    assert result["status"] == "refused"
    assert any(one["code"] == "worker_degraded" and role in one["message"] for one in result["warnings"])
    assert result["usage"]["llm_calls_by_role"][role] == fails().calls


class BrokenDisk(FixedReranker):
    def rerank(self, query: str, passages: Any) -> Any:
        raise OSError("disk on fire")


async def test_a_failing_search_fails_its_tasks_and_says_so(tmp_path: Path) -> None:
    roles = ScriptedRoles(plan_replies=[TWO])
    result = await run(tmp_path, roles, COMPARE, BrokenDisk())
    assert [task["status"] for task in result["research_tasks"]] == ["failed", "failed"]
    assert (result["status"], "worker_degraded" in codes(result)) == ("refused", True)


async def test_two_tasks_with_one_query_find_each_chunk_once(tmp_path: Path) -> None:
    plan = '[{"query": "oil"}, {"query": "oil interval"}]'
    roles = ScriptedRoles(plan_replies=[plan], writer=[cites(KITTIWAKE, LUYU)])
    result = await run(tmp_path, roles, COMPARE)
    chunks = [one["chunk_id"] for one in result["evidence"]]
    assert len(chunks) == len(set(chunks)) == 2
    assert all(sorted(one["task_ids"]) == ["t1", "t2"] for one in result["evidence"])


@pytest.mark.parametrize(("score", "status"), [(0.3999, "insufficient_evidence"), (0.4000, "done")])
async def test_a_task_is_done_from_its_threshold_on(tmp_path: Path, score: float, status: str) -> None:
    roles = ScriptedRoles(plan_replies=[TWO], writer=[cites(KITTIWAKE)])
    result = await run(tmp_path, roles, COMPARE, FixedReranker({"Kittiwake": score}))
    assert {task["status"] for task in result["research_tasks"]} == {status}


@pytest.mark.parametrize("name", ["searches", "pages", "evidence"])
async def test_each_tool_budget_alone_bites(tmp_path: Path, name: str) -> None:
    roles = ScriptedRoles(plan_replies=[TWO], writer=[cites(KITTIWAKE)])
    result = await run(tmp_path, roles, COMPARE, budgets={name: 1})
    budgets = result["usage"]["budgets"]
    assert (budgets[name]["used"], budgets[name]["limit"]) == (1, 1)
    assert "tool_budget_exhausted" in codes(result)
    assert [one for one in ("searches", "pages", "evidence") if budgets[one]["used"] >= budgets[one]["limit"]] == [name]


async def test_six_edited_tasks_all_get_evidence(tmp_path: Path) -> None:
    async with opened(tmp_path, ScriptedRoles(plan_replies=[THREE], writer=[cites(KITTIWAKE)]), ALL) as services:
        waiting = await ask(services, COMPARE)
        seen = services.runs.last_seq(waiting["run_id"])
        tasks = [{"query": f"oil change {n}"} for n in range(6)]
        await services.runs.approve(waiting["run_id"], ApprovalRequest(decision="edit", tasks=tasks))
        result = await follow(services, waiting["run_id"], seen)
    assert [task["status"] for task in result["research_tasks"]] == ["done"] * 6
    assert "tool_budget_exhausted" not in codes(result)


async def test_more_model_calls_than_the_budget_only_warn(tmp_path: Path) -> None:
    roles = ScriptedRoles(direct=[REFUSAL], plan_replies=[TWO], writer=[cites(KITTIWAKE, LUYU)])
    result = await run(tmp_path, roles, "What is the oil change interval?", budgets={"llm_calls": 2})
    assert (result["status"], result["usage"]["llm_calls"]) == ("completed", 3)
    assert codes(result).count("llm_budget_exceeded") == 1


async def test_the_cap_on_iterations_ends_with_a_structured_answer(tmp_path: Path) -> None:
    roles = ScriptedRoles(direct=[REFUSAL], plan_replies=[TWO], writer=[cites(KITTIWAKE)])
    async with opened(tmp_path, roles, ALL) as services:
        driver = services.runs._driver  # the limit of 8 is out of reach of any honest path: policy ends them earlier
        services.runs._driver = replace(driver, limits=replace(driver.limits, iterations=3))
        result = await ask(services, "What is the oil change interval?", approval="never")
    assert (result["iterations"], result["status"]) == (3, "refused")
    assert "iteration_cap" in codes(result)
    assert roles.calls == ["direct", "planner"]


async def test_a_gap_is_named_and_the_rest_is_answered(tmp_path: Path) -> None:
    plan = '[{"question": "Oil of Kittiwake?", "query": "Kittiwake"}, {"question": "Who is the cook?", "query": "%%"}]'
    roles = ScriptedRoles(plan_replies=[plan], writer=[cites(KITTIWAKE)])
    result = await run(tmp_path, roles, COMPARE, FixedReranker({"Kittiwake": 0.9}))
    named = [gap["task_id"] for gap in result["gaps"]]
    statuses = {task["id"]: task["status"] for task in result["research_tasks"]}
    assert named == [task_id for task_id, status in statuses.items() if status != "done"]


async def test_think_text_stays_nowhere(tmp_path: Path) -> None:
    think = "<think>SECRET</think>"
    roles = ScriptedRoles(
        direct=[f"{think}{REFUSAL}"],
        plan_replies=[f"{think}{TWO}"],
        writer=[lambda request: think + cites(KITTIWAKE, LUYU)(request)],
    )
    result = await run(tmp_path, roles, "What is the oil change interval?")
    assert result["status"] == "completed"
    assert files_holding(tmp_path, b"SECRET") == []
