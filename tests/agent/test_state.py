"""What is kept between nodes: plain data that the strict serializer gives back as it was, and nothing secret."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph.message import add_messages
from pydantic import SecretStr

from app.agent.state import add_items, add_warnings, merge_pool, merge_tasks
from app.llm.scripted import ScriptedRoles
from app.llm.simulate import SimulatedEndpoint, reply_with
from app.runs.requests import RunRequest
from app.settings import Settings
from app.wiring import close_services, open_library, open_services
from tests.harness import COMPARE, KITTIWAKE, TWO, FixedReranker, Json, ask, events, files_holding, opened, write_files

SERDE = JsonPlusSerializer(allowed_msgpack_modules=None)
NODES = {"supervisor", "direct", "planner", "researcher", "writer"}
KEY = "sk-CANARY0123456789"
REFUSAL = "I could not find that in the documents."


WARNING = {"code": "iteration_cap", "message": "The run reached its limit of steps."}


def entry(chunk: str, task: str, score: float) -> Json:
    return {"chunk_id": chunk, "task_ids": [task], "score": score}


entries = st.lists(st.builds(entry, st.sampled_from("abc"), st.sampled_from(["t1", "t2"]), st.floats(0, 1)), max_size=6)


@given(entries, entries)
def test_a_pool_holds_a_chunk_once_with_every_task_and_its_best_score(left: list[Json], right: list[Json]) -> None:
    merged = merge_pool(merge_pool([], left[:1]), [*left[1:], *right])
    by_chunk = {one["chunk_id"]: one for one in merged}
    assert len(by_chunk) == len(merged)
    for one in [*left, *right]:
        assert set(one["task_ids"]) <= set(by_chunk[one["chunk_id"]]["task_ids"])
        assert by_chunk[one["chunk_id"]]["score"] >= one["score"]


def test_a_task_is_replaced_in_its_place_and_a_new_plan_replaces_all() -> None:
    held = [{"id": "t1", "status": "pending"}, {"id": "t2", "status": "pending"}]
    assert merge_tasks(held, [{"id": "t1", "status": "done"}]) == [{"id": "t1", "status": "done"}, held[1]]
    assert merge_tasks(held, [{"replace": True}, {"id": "t9"}]) == [{"id": "t9"}]


@pytest.mark.parametrize(
    ("reducer", "left", "right", "merged"),
    [
        (add_items, ["a"], ["b", "a", "b"], ["a", "b"]),
        (add_warnings, [WARNING], [WARNING], [WARNING]),
    ],
)  # fmt: skip
def test_what_is_there_is_not_added_again(reducer: Callable[..., Any], left: Any, right: Any, merged: Any) -> None:
    assert reducer(left, right) == merged


def test_messages_add_up_and_one_id_stays_one() -> None:
    held = add_messages([HumanMessage("a", id="1")], [AIMessage("b", id="2")])
    assert len(add_messages(held, [AIMessage("b", id="2")])) == 2


def plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(plain, value))
    return value is None or isinstance(value, str | int | float | bool | BaseMessage)


async def test_every_nodes_state_survives_the_strict_serializer_and_holds_plain_data(tmp_path: Path) -> None:
    roles = ScriptedRoles(direct=[REFUSAL], plan_replies=[TWO], writer=[lambda r: f"{KITTIWAKE} [{r.passages[0].key}]"])
    async with opened(tmp_path, roles, FixedReranker({"Kittiwake": 0.9}, 0.5)) as services:
        result = await ask(services, "What is the oil change interval?", approval="never")
        config: Any = {"configurable": {"thread_id": result["run_id"]}}
        snapshots = [one async for one in services.runs._driver.graph.aget_state_history(config)]
    assert {name for one in snapshots for name in one.next} >= {
        "supervisor",
        "direct",
        "planner",
        "researcher",
        "writer",
    }
    for snapshot in snapshots:
        assert snapshot.values == SERDE.loads_typed(SERDE.dumps_typed(snapshot.values))
        assert plain(snapshot.values)


async def test_state_holds_ids_and_not_the_documents(tmp_path: Path) -> None:
    roles = ScriptedRoles(direct=[lambda r: f"{KITTIWAKE} [{r.passages[0].key}]"])
    async with opened(tmp_path, roles, FixedReranker({"Kittiwake": 0.9})) as services:
        result = await ask(services, "What is the oil change interval of Kittiwake?")
        assert result["status"] == "completed"
    assert checkpoint_bytes(tmp_path / "home").find(b"500 hours") == -1


def checkpoint_bytes(home: Path) -> bytes:
    found = b""
    with sqlite3.connect(home / "checkpoints.db") as connection:
        for table in ("checkpoints", "writes"):
            for row in connection.execute(f"SELECT * FROM {table}"):
                found += b"\n".join(str(one).encode() if not isinstance(one, bytes) else one for one in row)
    connection.close()
    return found


async def test_the_key_of_the_model_is_in_no_file_whatever_the_endpoint_says(tmp_path: Path) -> None:
    answers = ("ROLE: direct", REFUSAL, TWO, REFUSAL)
    with SimulatedEndpoint(reply_with(*answers)) as endpoint:
        settings = Settings(home=tmp_path / "home", embedder="hashing", openai_api_key=SecretStr(KEY),
                            openai_base_url=endpoint.base_url, _env_file=None)  # fmt: skip
        library = open_library(settings)
        library.ingest([write_files(tmp_path / "docs")])
        services = await open_services(settings, library)
        services.retriever.reranker = FixedReranker(otherwise=0.9)
        await ask(services, "How many days of annual leave has every employee?", approval="never")
        await ask(services, COMPARE)
        endpoint.script = lambda request: replace(reply_with("")(request), status=401, text=f"bad key {KEY}")
        failed = await services.runs.create(RunRequest(question="How many days of leave are there?"))
        await events(services, failed["run_id"])
        await close_services(services)
    assert files_holding(tmp_path, b"gpt-5-mini") != []
    assert files_holding(tmp_path, b"CANARY") == []
