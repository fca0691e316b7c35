"""Which nodes and edges does the graph have? Five nodes; the supervisor goes by `Command`, workers by condition.

Why LangGraph: an explicit state that is kept after every node, an interrupt that survives the process, reducers for
parallel work. What it costs is in the README.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime

from app.agent.context import Deps, node_finished
from app.agent.direct import direct
from app.agent.planner import planner
from app.agent.researcher import TaskInput, researcher
from app.agent.state import AgentInput, AgentState, AgentUpdate
from app.agent.supervisor import Goto, supervisor
from app.agent.writer import writer
from app.core.warnings import warned
from app.errors import ModelError
from ingest.errors import IngestError

GRAPH_VERSION = "1"
"""Changes when a waiting run of the older graph could not go on in the newer one."""

Graph = CompiledStateGraph[AgentState, Deps, AgentInput, AgentState]
Worker = Callable[[AgentState, Deps], Awaitable[AgentUpdate]]
DEGRADES = (ModelError, IngestError, OSError, RuntimeError, ValueError)
"""What a worker may meet: an endpoint, an index, a disk. It ends as a structured refusal with a warning."""


def build(checkpointer: BaseCheckpointSaver[Any] | None = None) -> Graph:
    """Return the compiled graph; without a checkpointer nothing is kept and nothing can wait."""
    builder = StateGraph(AgentState, context_schema=Deps, input_schema=AgentInput)
    builder.add_node("supervisor", _supervisor)
    for name, node in (("direct", direct), ("planner", planner), ("writer", writer)):
        builder.add_node(name, cast(Any, _worker(name, node)))
        builder.add_conditional_edges(name, _after, {"supervisor": "supervisor", END: END})
    builder.add_node("researcher", _researcher)
    builder.add_conditional_edges("researcher", _after, {"supervisor": "supervisor", END: END})
    builder.add_edge(START, "supervisor")
    return builder.compile(checkpointer=checkpointer)


def mermaid() -> str:
    """Return the graph as Mermaid."""
    return build().get_graph().draw_mermaid()


async def _supervisor(state: AgentState, runtime: Runtime[Deps]) -> Goto:
    return await supervisor(state, runtime.context)


async def _researcher(state: TaskInput, runtime: Runtime[Deps]) -> AgentUpdate:
    return await _observed("researcher", runtime.context, researcher(state, runtime.context))


def _worker(name: str, work: Worker) -> Callable[[AgentState, Runtime[Deps]], Awaitable[AgentUpdate]]:
    async def node(state: AgentState, runtime: Runtime[Deps]) -> AgentUpdate:
        return await _observed(name, runtime.context, _guarded(name, work, state, runtime.context))

    node.__name__ = name
    return node


async def _guarded(name: str, work: Worker, state: AgentState, deps: Deps) -> AgentUpdate:
    try:
        return await work(state, deps)
    except DEGRADES as error:
        return _degraded(name, state, deps, error)


def _degraded(name: str, state: AgentState, deps: Deps, error: Exception) -> AgentUpdate:
    """A worker that fails refuses, and says so; what it had committed stays."""
    detail = str(error) if isinstance(error, ModelError | IngestError) else type(error).__name__
    deps.recorder.trace("failure", {"role": name, "error": detail})
    outcome = {
        "role": name, "refused": True, "removed": False, "no_evidence": False, "gave_up": True, "cited": False,
        "missing": [], "failed": True,
    }  # fmt: skip
    update: AgentUpdate = {
        "outcome": outcome,
        "warnings": [warned("worker_degraded", state["language"], f"{name}: {detail}")],
    }
    if name == "direct":
        update["direct"] = outcome
    if name == "writer" and any(claim["citations"] for claim in deps.recorder.claims()):
        update["warnings"].append(warned("answer_truncated", state["language"]))
        update["final"] = {"role": "writer", "refused": False}
    return update


def _after(state: AgentState) -> str:
    return END if state.get("final") is not None else "supervisor"


async def _observed(name: str, deps: Deps, work: Awaitable[AgentUpdate]) -> AgentUpdate:
    """Tell when a worker starts and ends, and which fields it wrote."""
    deps.recorder.emit("node_started", {"node": name})
    started = time.perf_counter()
    update = await work
    node_finished(deps, name, started, update)
    return update
