"""How is a run carried through the graph? In its own task, from its first node to a stored result.

Order of writes: run store, then checkpoint, then status. "Finished" is what the run's row says, never what the
graph's snapshot says.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, StateSnapshot

from app.agent.context import Deps, Recorder
from app.agent.graph import GRAPH_VERSION, Graph
from app.agent.state import AgentInput
from app.core.budget import Limits, Reservations
from app.core.policy import OPEN
from app.core.warnings import warned
from app.ports import Roles, SentenceScorer
from app.retrieval.search import Retriever
from app.runs import result as results
from app.runs.finish import build_result
from app.runs.memory import MemoryRecorder
from app.runs.recorder import StoredRecorder
from app.runs.requests import RunRequest
from app.runs.source import CatalogSource
from app.runs.store import LIVE, RunRow, RunStore
from app.runs.stream import Stream
from ingest.library import Library
from ingest.tokenize import language

Json = dict[str, Any]
NODES = ("supervisor", "direct", "planner", "researcher", "writer")
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Driver:
    """Everything that a run needs. `roles` is asked for anew at each start and resume: credentials are never kept."""

    store: RunStore
    stream: Stream
    graph: Graph
    library: Library
    retriever: Retriever
    scorer: SentenceScorer
    source: CatalogSource
    roles: Callable[[], Roles]
    limits: Limits
    researchers: asyncio.Semaphore
    refusals: Mapping[str, str]

    def fingerprint(self) -> Json:
        """Return what the answers of this program depend on."""
        return {
            "graph_version": GRAPH_VERSION, "model": self.roles().name, "embedder": self.library.embedder.name,
            "reranker": self.retriever.reranker.name, "corpus": self.library.stats(),
        }  # fmt: skip

    # -- carrying a run

    async def start(self, run_id: str, request: RunRequest) -> None:
        """Carry a new run to its first pause or its end."""
        if self.store.move(run_id, LIVE, "running"):
            await self._carry(run_id, request, _input(run_id, request, checkpointed=True))

    async def decided(self, run_id: str, decision: Json) -> None:
        """Carry a run on with the decision that its row holds."""
        row = self.store.get(run_id)
        if row is not None:
            await self._carry(run_id, RunRequest.model_validate(row.request), Command(resume=decision))

    async def resumed(self, run_id: str, row: RunRow) -> None:
        """Carry an interrupted run on: with its stored decision if it has one, else from the checkpoint."""
        request = RunRequest.model_validate(row.request)
        snapshot = await self.graph.aget_state(_config(run_id))
        checkpoint = (snapshot.config.get("configurable") or {}).get("checkpoint_id")
        self.store.trace(run_id, "checkpoint_resume", {"resumes": row.resumes + 1, "checkpoint": checkpoint})
        if not snapshot.values:
            await self._carry(run_id, request, _input(run_id, request, checkpointed=True))
        elif snapshot.interrupts or (row.decision is not None and not snapshot.values["plan"].get("approved")):
            if row.decision is None:
                await self._carry(run_id, request, None)
            else:
                await self._carry(run_id, request, Command(resume=row.decision))
        else:
            await self._carry(run_id, request, None)

    async def _carry(self, run_id: str, request: RunRequest, start: AgentInput | Command[Any] | None) -> None:
        """Run the graph and write how it ended; a failure ends as a status, whatever it was."""
        try:
            ended = _ended_tasks(await self.graph.aget_state(_config(run_id)))
            recorder = StoredRecorder(run_id, self.store, self.stream)
            deps = self._deps(run_id, request, recorder, self.store.used(run_id, ended))
            async with aclosing(
                self.graph.astream(  # type: ignore[type-var]  # an async generator
                    start,
                    _config(run_id, self.limits),
                    context=deps,
                    durability="sync",
                    stream_mode="updates",
                )
            ) as parts:
                async for _ in parts:
                    await asyncio.sleep(0)
            snapshot = await self.graph.aget_state(_config(run_id))
            if snapshot.interrupts:
                self._pause(run_id)
            else:
                self._finish(run_id, dict(snapshot.values))
        except asyncio.CancelledError:
            raise
        except Exception:  # the run's own task: what nothing else caught becomes the run's status
            logger.exception("run %s failed", run_id)
            self._fail(run_id, "failed", "internal", "The run failed; see the log. It can be resumed.")
        finally:
            self.stream.wake(run_id)

    def _pause(self, run_id: str) -> None:
        row = self.store.get(run_id)
        plan = (row.plan if row is not None else None) or {}
        told = {
            "tasks": plan.get("tasks", []), "plan_version": plan.get("plan_version"),
            "reasons": plan.get("reasons", []), "estimate": plan.get("estimate"),
        }  # fmt: skip
        self.store.move(run_id, LIVE, "awaiting_approval", ("approval_required", told), owner=None)

    def _finish(self, run_id: str, state: Json) -> None:
        row = self.store.get(run_id)
        if row is None:
            return
        result = self._result(row, state)
        extra = [("warning", one) for one in result["warnings"]] + [("usage", result["usage"])]
        self.store.finish(run_id, result["status"], result, "final", extra)

    def _fail(self, run_id: str, status: str, code: str, message: str) -> None:
        told = {"code": code, "message": message, "resumable": True, "status": status}
        self.store.move(run_id, LIVE, "resumable", ("error", told), owner=None)

    def abandon(self, row: RunRow) -> None:
        """Mark a run that its process left behind as resumable, and end its stream with an error that says so."""
        self._fail(row.id, "resumable", "interrupted", "The run was interrupted: resume it.")
        self.stream.wake(row.id)

    # -- ends without the graph

    def reject(self, row: RunRow, decision: Json) -> bool:
        """End a waiting run by a person's no: no model call, no search."""
        return self._end(row, ("awaiting_approval",), "plan_rejected", decision)

    def cancelled(self, row: RunRow) -> bool:
        """End a live or interrupted run."""
        return self._end(row, (*LIVE, "resumable"), "cancelled", None)

    def _end(self, row: RunRow, sources: tuple[str, ...], code: str, decision: Json | None) -> bool:
        values: Json = {"owner": None} if decision is None else {"owner": None, "decision": decision}
        state = {**_input(row.id, RunRequest.model_validate(row.request), checkpointed=True)}
        plan = row.plan or {}
        state |= {
            "final": {"role": None, "refused": True}, "warnings": [warned(code, str(state["language"]))],
            "research_tasks": plan.get("tasks", []), "plan": plan, "delegation_path": self._path(row),
        }  # fmt: skip
        values["result"] = {**self._result(row, state), "status": "cancelled"}
        done = self.store.move(row.id, sources, "cancelled", ("cancelled", {"result": values["result"]}), **values)
        self.stream.wake(row.id)
        return done

    # -- without a checkpoint

    async def answer(self, request: RunRequest, graph: Graph) -> Json:
        """Answer in memory: nothing is written, nothing can wait."""
        recorder = MemoryRecorder()
        deps = self._deps(recorder.run_id, request, recorder, {})
        start = _input(recorder.run_id, request, checkpointed=False)
        state = await graph.ainvoke(start, _config(recorder.run_id, self.limits), context=deps)
        return build_result(recorder.view(request, self.fingerprint()), dict(state), deps.limits, self.refusals)

    # -- reading

    def partial(self, row: RunRow) -> Json:
        """Return the result of a run that has not ended: what is committed so far, and the plan."""
        plan = row.plan or {}
        state: Json = {
            **_input(row.id, RunRequest.model_validate(row.request), checkpointed=True),
            "research_tasks": plan.get("tasks", []), "plan": plan, "warnings": [],
            "delegation_path": self._path(row),
        }  # fmt: skip
        return {**self._result(row, state), "status": row.status}

    def _path(self, row: RunRow) -> list[str]:
        routes = [one["role"] for one in self.store.traces(row.id, "route")]
        return [name for role in routes for name in ("supervisor", role) if name in NODES]

    def evidence(self, row: RunRow) -> Json:
        """Return evidence and pool of a run."""
        passages = self.store.passages(row.id)
        numbers = self.store.evidence(row.id)
        state = row.result or {}
        return {
            "evidence": results.evidence_json(row.id, numbers, passages, state),
            "pool": results.pool_json(row.id, numbers, passages, state),
        }

    def _result(self, row: RunRow, state: Json) -> Json:
        limits = self._limits(RunRequest.model_validate(row.request))
        return build_result(self.store.view(row), state, limits, self.refusals)

    def _limits(self, request: RunRequest) -> Limits:
        budgets = {} if request.budgets is None else request.budgets.model_dump(exclude_none=True)
        return replace(self.limits, **budgets)

    def _deps(self, run_id: str, request: RunRequest, recorder: Recorder, used: Mapping[str, int]) -> Deps:
        limits = self._limits(request)
        return Deps(
            run_id=run_id, roles=self.roles(), retriever=self.retriever, reranker=self.retriever.reranker,
            scorer=self.scorer, source=self.source, recorder=recorder, limits=limits,
            reservations=Reservations.of(limits, used), researchers=self.researchers,
        )  # fmt: skip


def _input(run_id: str, request: RunRequest, *, checkpointed: bool) -> AgentInput:
    return {
        "run_id": run_id,
        "question": request.question,
        "language": language(request.question),
        "mode": request.mode,
        "approval": request.approval,
        "checkpointed": checkpointed,
        "document_ids": None if request.filters is None else request.filters.document_ids,
        "messages": [HumanMessage(request.question, id=f"{run_id}-question")],
    }


def _ended_tasks(snapshot: StateSnapshot) -> set[str]:
    """Return the ids of the tasks that no resume does again: those of the state, and of nodes that had ended."""
    tasks = list(snapshot.values.get("research_tasks", []))
    for node in snapshot.tasks:
        if isinstance(node.result, dict):
            tasks += node.result.get("research_tasks", [])
    return {task["id"] for task in tasks if task.get("status") not in (None, *OPEN)}


def _config(run_id: str, limits: Limits | None = None) -> RunnableConfig:
    """Return the graph's configuration: the thread and a backstop on steps, nothing else is allowed in it."""
    config: RunnableConfig = {"configurable": {"thread_id": run_id}}
    if limits is not None:
        config["recursion_limit"] = 2 * limits.iterations + 8
    return config
