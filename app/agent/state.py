"""What does the graph carry from node to node? Plain JSON types, ids and messages; texts are in the run store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Required, TypedDict

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages

Json = dict[str, Any]


def merge_tasks(left: Sequence[Json], right: Sequence[Json]) -> list[Json]:
    """Replace tasks by id and keep the order; a list that starts with `{"replace": true}` is a new plan."""
    if right and right[0].get("replace"):
        return list(right[1:])
    merged = {task["id"]: task for task in left}
    merged.update((task["id"], task) for task in right)
    return list(merged.values())


def merge_pool(left: Sequence[Json], right: Sequence[Json]) -> list[Json]:
    """Join evidence found by parallel tasks: one entry a chunk, with every task that found it and its best score."""
    merged = {entry["chunk_id"]: entry for entry in left}
    for entry in right:
        held = merged.get(entry["chunk_id"])
        if held is None:
            merged[entry["chunk_id"]] = entry
        else:
            tasks = [*held["task_ids"], *(task for task in entry["task_ids"] if task not in held["task_ids"])]
            merged[entry["chunk_id"]] = {
                "chunk_id": entry["chunk_id"], "task_ids": tasks, "score": max(held["score"], entry["score"]),
            }  # fmt: skip
    return list(merged.values())


def add_warnings(left: Sequence[Json], right: Sequence[Json]) -> list[Json]:
    """Append warnings, each code with its message once."""
    seen = {(one["code"], one["message"]) for one in left}
    return [*left, *(one for one in right if (one["code"], one["message"]) not in seen)]


def add_items(left: Sequence[str], right: Sequence[str]) -> list[str]:
    """Append strings that are not there yet."""
    return [*left, *(one for one in dict.fromkeys(right) if one not in left)]


class AgentInput(TypedDict):
    """What a run starts from."""

    run_id: str
    question: str
    language: str
    mode: str
    approval: str
    checkpointed: bool
    document_ids: list[str] | None
    messages: Annotated[list[AnyMessage], add_messages]


class AgentUpdate(TypedDict, total=False):
    """What a node may write.

    `outcome` is how the last worker ended; `final` names the draft that is the answer, or a refusal. Fields that
    parallel researchers write have reducers; `delegation_path` is written by the supervisor alone.
    """

    messages: Annotated[list[AnyMessage], add_messages]
    iterations: int
    delegation_path: list[str]
    research_tasks: Annotated[list[Json], merge_tasks]
    pool: Annotated[list[Json], merge_pool]
    warnings: Annotated[list[Json], add_warnings]
    queries: Annotated[list[str], add_items]
    outcome: Json
    direct: Json
    plan: Json
    final: Json


class AgentState(AgentUpdate, total=False):
    """The whole state."""

    run_id: Required[str]
    question: Required[str]
    language: Required[str]
    mode: Required[str]
    approval: Required[str]
    checkpointed: Required[bool]
    document_ids: Required[list[str] | None]
