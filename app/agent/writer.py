"""What does `writer` do? It ranks all evidence once more, chooses within a budget, and writes sentence by sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from app.agent.compose import Judged, Releaser, judge_sentence
from app.agent.context import Deps
from app.agent.drafting import DraftStream, by_key, keyed
from app.agent.state import AgentState, AgentUpdate, Json
from app.core.missing import missing_terms
from app.core.refusal import gap_sentence
from app.core.types import Passage, TaskStatus, Verdict
from app.core.warnings import warned
from app.errors import ModelError
from app.ports import DraftRequest
from app.retrieval.rerank import passage_text
from app.retrieval.select import Selection, select


async def writer(state: AgentState, deps: Deps) -> AgentUpdate:
    """Write the answer from the pool; what is not covered is named. Sentences are released as they are judged."""
    language = state["language"]
    selection = await _choose(state, deps)
    tasks = state.get("research_tasks", [])
    unanswered = _unanswered(tasks, deps)
    gaps = [task["question"] for task in tasks if task["id"] in unanswered]
    if len(gaps) == len(tasks):
        return {"outcome": _outcome(refused=True, cited=False, removed=False)}
    pairs = keyed(selection.kept, state["run_id"])
    covered = tuple(task["question"] for task in tasks if task["id"] not in unanswered)
    request = DraftRequest(state["question"], language, pairs, role="writer", tasks=covered, gaps=tuple(gaps))
    releaser = Releaser(deps, [one.chunk_id for one in selection.kept])
    stream = DraftStream(deps, request)
    removed: list[Judged] = []
    warnings: list[Json] = []
    try:
        async for draft in stream.sentences():
            judged = await judge_sentence(draft, by_key(pairs), deps)
            if judged.reason is not None:
                removed.append(judged)
                deps.recorder.emit("claim_removed", {"text": judged.text, "reason": judged.reason})
                deps.recorder.trace("removed", {"text": judged.text, "reason": judged.reason})
            elif judged.verdict not in (Verdict.GAP, Verdict.CONNECTIVE):
                releaser.release(judged)
    except ModelError as error:
        stream.cut = True
        warnings.append(warned("worker_degraded", language, f"writer: {error}"))
    cited = any(claim["citations"] for claim in releaser.claims)
    if removed:
        warnings.append(warned("claims_removed", language))
    if cited and stream.cut:
        warnings.append(warned("answer_truncated", language))
    if not cited:
        return {"outcome": _outcome(refused=True, cited=False, removed=bool(removed)), "warnings": warnings}
    warnings += _say_gaps(releaser, gaps, language)
    outcome = _outcome(refused=False, cited=True, removed=bool(removed))
    return {"outcome": outcome, "final": {"role": "writer", "refused": False}, "warnings": warnings}


def _say_gaps(releaser: Releaser, gaps: Sequence[str], language: str) -> list[Json]:
    for gap in gaps:
        releaser.release(Judged(gap_sentence(gap, language), Verdict.GAP))
    return [warned("insufficient_evidence", language)] if gaps else []


def _unanswered(tasks: Sequence[Json], deps: Deps) -> set[str]:
    """Return the tasks without evidence; without a model to read it, also those whose words the evidence lacks."""
    held = deps.recorder.passages()
    found = {task["id"] for task in tasks if task["status"] != TaskStatus.DONE.value}
    if deps.roles.uses_model:
        return found
    for task in tasks:
        passages = [held[chunk_id] for chunk_id in task["evidence_ids"] if chunk_id in held]
        good = [one for one in passages if (one.scores.rerank or 0.0) >= deps.limits.done_threshold]
        if missing_terms(task["question"], [passage_text(one) for one in good]):
            found.add(task["id"])
    return found


async def _choose(state: AgentState, deps: Deps) -> Selection:
    """Rank the pool by the whole question and by the tasks that found it, whichever is higher, and choose."""
    held = deps.recorder.passages()
    entries = {entry["chunk_id"]: entry["score"] for entry in state.get("pool", [])}
    pool = [held[chunk_id] for chunk_id in entries if chunk_id in held]
    again = await asyncio.to_thread(deps.reranker.rerank, state["question"], pool)
    ranked = sorted((_raised(one, entries[one.chunk_id]) for one in again), key=lambda one: -(one.scores.rerank or 0.0))
    limits = deps.limits
    selection = select(ranked, limits.writer_threshold, limits.writer_items, limits.writer_tokens)
    deps.recorder.trace(
        "writer_selection",
        {
            "threshold": limits.writer_threshold, "before": len(pool), "after": len(selection.kept),
            "dropped": [{"chunk_id": one.chunk_id, "why": why} for one, why in selection.dropped],
        },
    )  # fmt: skip
    return selection


def _raised(passage: Passage, score: float) -> Passage:
    return replace(passage, scores=replace(passage.scores, rerank=max(passage.scores.rerank or 0.0, score)))


def _outcome(*, refused: bool, cited: bool, removed: bool) -> Json:
    return {
        "role": "writer", "refused": refused, "removed": removed, "no_evidence": False, "gave_up": refused,
        "cited": cited, "missing": [],
    }  # fmt: skip
