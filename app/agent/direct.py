"""What does `direct` do? One retrieval, one generation; nothing is shown before the whole draft is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    update: AgentUpdate = {"queries": [question]}
    earlier = _earlier(deps)
    if earlier is not None:
        return {**update, **_close(state, deps, earlier)}
    passages = (await search(deps, "direct", question, None, state.get("document_ids"))).passages
    good = [one for one in passages if (one.scores.rerank or 0.0) >= deps.limits.done_threshold]
    if not good:
        return {**update, "outcome": _outcome(refused=True, no_evidence=True)}
    shown = [one for one in passages if (one.scores.rerank or 0.0) >= deps.limits.writer_threshold][:PASSAGES]
    pairs = keyed(shown, state["run_id"])
    stream = DraftStream(deps, DraftRequest(question, state["language"], pairs, role="direct"))
    judged = [await judge_sentence(draft, by_key(pairs), deps) async for draft in stream.sentences()]
    drafted = Drafted(judged, shown, is_refusal(stream.text), stream.cut)
    deps.recorder.save_draft("direct", drafted.to_json())
    return {**update, **_close(state, deps, drafted)}


@dataclass(frozen=True, slots=True)
class Drafted:
    """A judged draft with the passages that it was written from."""

    judged: Sequence[Judged]
    shown: Sequence[Passage]
    refuses: bool
    cut: bool

    def to_json(self) -> Json:
        """Return it for the run store; passages by chunk id."""
        return {
            "sentences": [one.to_json() for one in self.judged], "shown": [one.chunk_id for one in self.shown],
            "refuses": self.refuses, "cut": self.cut,
        }  # fmt: skip


def _earlier(deps: Deps) -> Drafted | None:
    """Return the draft that this run made before it was interrupted: drafted again it could be another one."""
    draft = deps.recorder.draft("direct")
    if draft is None:
        return None
    held = deps.recorder.passages()
    judged = [Judged.from_json(one, held) for one in draft["sentences"]]
    return Drafted(judged, [held[chunk_id] for chunk_id in draft["shown"]], draft["refuses"], draft["cut"])


def _close(state: AgentState, deps: Deps, drafted: Drafted) -> AgentUpdate:
    judged, shown = drafted.judged, drafted.shown
    kept = [one for one in judged if one.quotes]
    removed = [one for one in judged if one.reason is not None]
    missing = () if deps.roles.uses_model else missing_terms(state["question"], [passage_text(one) for one in shown])
    refused = not kept or drafted.refuses or any(one.verdict is Verdict.GAP for one in judged) or bool(missing)
    for one in removed:
        deps.recorder.emit("claim_removed", {"text": one.text, "reason": one.reason})
        deps.recorder.trace("removed", {"text": one.text, "reason": one.reason})
    warnings = [warned("claims_removed", state["language"])] if removed else []
    if refused:
        warnings.append(warned("answer_incomplete", state["language"]))
    if drafted.cut:
        warnings.append(warned("answer_truncated", state["language"]))
    outcome = _outcome(refused=refused, removed=bool(removed), cited=bool(kept) and not missing, missing=list(missing))
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


def release_fallback(deps: Deps) -> None:
    """Commit what stands of the draft of `direct`, unless research had committed something."""
    drafted = _earlier(deps)
    if drafted is not None and not deps.recorder.claims():
        release_all(deps, drafted.judged, [one.chunk_id for one in drafted.shown])


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
