"""What does `direct` do? One retrieval, one generation; nothing is shown before the whole draft is judged."""

from __future__ import annotations

from collections.abc import Sequence

from app.agent.compose import Judged, Releaser, judge_sentence
from app.agent.context import Deps
from app.agent.drafting import DraftStream, by_key, keyed
from app.agent.search import search
from app.agent.state import AgentState, AgentUpdate, Json
from app.core.missing import missing_terms
from app.core.refusal import is_refusal
from app.core.types import Passage, Verdict
from app.core.warnings import warned
from app.ports import DraftRequest
from app.retrieval.rerank import passage_text

PASSAGES = 6
"""What the model sees: the passages above the writer's threshold, at most these many."""


async def direct(state: AgentState, deps: Deps) -> AgentUpdate:
    """Answer at once, or say how it failed: no evidence, refused in the model's words, or sentences removed."""
    question = state["question"]
    passages = await search(deps, "direct", question, None, state.get("document_ids")) or []
    good = [one for one in passages if (one.scores.rerank or 0.0) >= deps.limits.done_threshold]
    update: AgentUpdate = {"queries": [question]}
    if not good:
        return {**update, "outcome": _outcome(refused=True, no_evidence=True)}
    shown = [one for one in passages if (one.scores.rerank or 0.0) >= deps.limits.writer_threshold][:PASSAGES]
    pairs = keyed(shown, state["run_id"])
    stream = DraftStream(deps, DraftRequest(question, state["language"], pairs, role="direct"))
    judged = [await judge_sentence(draft, by_key(pairs), deps) async for draft in stream.sentences()]
    deps.recorder.save_draft("direct", {"sentences": [one.to_json() for one in judged]})
    return {**update, **_close(state, deps, judged, shown, stream)}


def _close(
    state: AgentState, deps: Deps, judged: Sequence[Judged], shown: Sequence[Passage], stream: DraftStream
) -> AgentUpdate:
    kept = [one for one in judged if one.quotes]
    removed = [one for one in judged if one.reason is not None]
    missing = () if deps.roles.uses_model else missing_terms(state["question"], [passage_text(one) for one in shown])
    refused = not kept or is_refusal(stream.text) or any(one.verdict is Verdict.GAP for one in judged) or bool(missing)
    for one in removed:
        deps.recorder.emit("claim_removed", {"text": one.text, "reason": one.reason})
        deps.recorder.trace("removed", {"text": one.text, "reason": one.reason})
    warnings = [warned("claims_removed", state["language"])] if removed else []
    if refused:
        warnings.append(warned("answer_incomplete", state["language"]))
    if stream.cut:
        warnings.append(warned("answer_truncated", state["language"]))
    outcome = _outcome(refused=refused, removed=bool(removed), cited=bool(kept), missing=list(missing))
    update: AgentUpdate = {"outcome": outcome, "direct": outcome, "warnings": warnings}
    if refused or removed:
        if state["mode"] != "direct":
            pool = [_entry(passage) for passage in shown]
            return {**update, "pool": pool}
        if refused:
            return update
    release_all(deps, judged, [one.chunk_id for one in shown])
    return {**update, "final": {"role": "direct", "refused": False}}


def release_all(deps: Deps, judged: Sequence[Judged], order: Sequence[str]) -> None:
    """Commit the sentences that stand; what only leads over goes if nothing follows it."""
    releaser = Releaser(deps, order)
    kept = [one for one in judged if one.reason is None and one.verdict is not Verdict.GAP]
    while kept and kept[-1].verdict is Verdict.CONNECTIVE:
        kept.pop()
    for one in kept:
        releaser.release(one)


def _entry(passage: Passage) -> Json:
    return {"chunk_id": passage.chunk_id, "task_ids": ["direct"], "score": passage.scores.rerank or 0.0}


def _outcome(
    *, refused: bool, removed: bool = False, no_evidence: bool = False, cited: bool = False,
    missing: Sequence[str] = (),
) -> Json:  # fmt: skip
    return {
        "role": "direct", "refused": refused, "removed": removed, "no_evidence": no_evidence,
        "gave_up": refused and not no_evidence, "cited": cited, "missing": list(missing),
    }  # fmt: skip
