"""What does `supervisor` do? It asks the policy, and goes where it says; only an open question costs a model call."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Literal, cast

from langchain_core.messages import AIMessage, HumanMessage
from langgraph.types import Command, Send, interrupt

from app.agent.context import Deps, count_failed, count_llm, node_finished
from app.agent.direct import release_fallback
from app.agent.planner import plan_update
from app.agent.search import share
from app.agent.state import AgentState, AgentUpdate, Json
from app.core.heuristics import opening_route
from app.core.policy import Decision, DecisionState, decide, fallback_route
from app.core.routeparse import parse_route
from app.core.types import Task, TaskStatus
from app.core.warnings import warned
from app.errors import ModelError
from app.ports import Message

Destination = Literal["direct", "planner", "researcher", "writer", "__end__"]
Goto = Command[Destination]


async def supervisor(state: AgentState, deps: Deps) -> Goto:
    """Decide what comes next. Nothing that costs or is seen precedes `interrupt()`: a resume replays this node."""
    started = time.perf_counter()
    facts = decision_state(state)
    decision = decide(facts, deps.limits)
    update: AgentUpdate = {}
    if decision.action == "interrupt":
        answer = interrupt({"plan_version": state["plan"]["plan_version"]})
        update = _approved(state, deps, answer)
        merged: AgentState = {**state, **update, "research_tasks": _tasks_after(state, update)}
        decision, state = decide(decision_state(merged), deps.limits), merged
    deps.recorder.emit("node_started", {"node": "supervisor", "iteration": state.get("iterations", 0)})
    by = "rule"
    if decision.action == "ask_model":
        decision, warnings = await _ask(state, deps, facts)
        update = {**update, "warnings": warnings}
        by = "model"
    command = _go(state, deps, decision, update, by)
    node_finished(deps, "supervisor", started, cast(Json, command.update), decision.reason)
    return command


def decision_state(state: AgentState) -> DecisionState:
    """Read from the state what the policy looks at."""
    outcome, direct, plan = state.get("outcome", {}), state.get("direct", {}), state.get("plan", {})
    final = state.get("final")
    heuristic = opening_route(state["question"])
    return DecisionState(
        iterations=state.get("iterations", 0),
        has_final=final is not None,
        last_role=outcome.get("role"),
        refused=bool(outcome.get("refused")),
        removed_claims=bool(outcome.get("removed")),
        no_evidence=bool(outcome.get("no_evidence")),
        gave_up=bool(outcome.get("gave_up")),
        cited=bool(outcome.get("cited")),
        fallback_present=bool(direct),
        fallback_cited=bool(direct.get("cited")),
        plan_present=bool(plan),
        plan_needs_approval=bool(plan.get("needs_approval")),
        plan_approved=bool(plan.get("approved")),
        task_statuses=tuple(TaskStatus(task["status"]) for task in state.get("research_tasks", [])),
        evidence_count=len(state.get("pool", [])),
        mode=state["mode"],
        heuristic=None if heuristic is None else heuristic.role,
        heuristic_reason=None if heuristic is None else heuristic.reason,
    )


def _tasks_after(state: AgentState, update: AgentUpdate) -> list[Json]:
    tasks = update.get("research_tasks")
    return list(state.get("research_tasks", [])) if not tasks else list(tasks[1:])


def _approved(state: AgentState, deps: Deps, answer: Json) -> AgentUpdate:
    """Write "plan approved" into the state; an edited plan counts as approved and keeps its new tasks."""
    if answer["action"] != "edit":
        return {"plan": {**state["plan"], "approved": True}}
    tasks = [Task(one["id"], one["question"], one["query"]) for one in answer["tasks"]]
    update = plan_update(state, deps, tasks, int(answer["plan_version"]))
    warnings = [warned("plan_truncated", state["language"])] if answer.get("dropped") else []
    return {
        **update,
        "plan": {**update["plan"], "needs_approval": True, "approved": True},
        "warnings": warnings,
    }


async def _ask(state: AgentState, deps: Deps, facts: DecisionState) -> tuple[Decision, list[Json]]:
    """Let the model route: human and plain AI messages only, and a fresh question last."""
    history = [
        Message("user" if isinstance(one, HumanMessage) else "assistant", str(one.content))
        for one in state.get("messages", [])
        if isinstance(one, HumanMessage) or (isinstance(one, AIMessage) and not one.tool_calls)
    ]
    try:
        reply = await deps.roles.route(history, _situation(state))
        count_llm(deps, "supervisor", reply)
        role = parse_route(reply.text)
    except ModelError as error:
        count_failed(deps, "supervisor", error)
        deps.recorder.trace("failure", {"role": "supervisor", "error": str(error)})
        role = None
    if role is None:
        return fallback_route(facts), [warned("route_parse_failed", state["language"])]
    return decide(replace(facts, model_route=role), deps.limits), []


def _situation(state: AgentState) -> str:
    tasks = state.get("research_tasks", [])
    return f"question: {state['question']}\ntasks: {len(tasks)}\nevidence: {len(state.get('pool', []))}"


def _go(state: AgentState, deps: Deps, decision: Decision, update: AgentUpdate, by: str) -> Goto:
    deps.recorder.emit("route", {"role": decision.action, "reason": decision.reason, "by": by})
    deps.recorder.trace("route", {"role": decision.action, "reason": decision.reason, "by": by})
    if decision.warning is not None:
        update = {
            **update,
            "warnings": [*update.get("warnings", []), warned(decision.warning, state["language"])],
        }
    path = [*state.get("delegation_path", []), "supervisor"]
    if decision.action == "return_fallback":
        release_fallback(deps)
    if decision.action in ("end", "refuse", "return_fallback"):
        update = {**update, "final": _final(state, decision), "delegation_path": path}
        return Command(update=dict(update), goto="__end__")
    update = {
        **update,
        "iterations": state.get("iterations", 0) + 1,
        "delegation_path": [*path, decision.action],
        "messages": [AIMessage(f"{decision.action}: {decision.reason}")],
    }
    return Command(update=dict(update), goto=_target(state, deps, decision))


def _final(state: AgentState, decision: Decision) -> Json:
    if decision.action == "return_fallback":
        return {"role": "direct", "refused": False, "fallback": True}
    if decision.action == "end" and state.get("final") is not None:
        return state["final"]
    return {"role": None, "refused": True}


def _target(state: AgentState, deps: Deps, decision: Decision) -> Any:
    if decision.action != "researcher":
        return decision.action
    open_tasks = [task for task in state.get("research_tasks", []) if task["status"] in ("pending", "running")]
    common = {
        "document_ids": state.get("document_ids"), "language": state["language"],
        "limit": share(len(open_tasks), deps.limits),
    }  # fmt: skip
    return [Send("researcher", {"task": task, **common}) for task in open_tasks]
