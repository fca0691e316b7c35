"""What is the result of a run? The one object of the command line, HTTP, the page and the events."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from app.core.refusal import refusal_text
from app.core.types import TaskStatus

Json = dict[str, Any]

NEAREST = 3
EVIDENCE_NAMESPACE = uuid.UUID("0b9f0e8e-50f3-5c39-8b35-6f3c6f2f4c55")


def evidence_id(run_id: str, chunk_id: str) -> str:
    """Return the id of a passage as evidence of a run."""
    return str(uuid.uuid5(EVIDENCE_NAMESPACE, f"{run_id}/{chunk_id}"))


def citation_json(run_id: str, number: int, passage: Json, claims: Sequence[Json]) -> Json:
    """Return a citation: one passage under its number, with the quotes of the claims that lean on it."""
    quotes = [
        {name: quote[name] for name in ("claim", "text", "span", "byte_span", "page", "boxes", "support")}
        | {"ocr": quote.get("ocr", False)}  # runs of an earlier version do not say
        for claim in claims
        for quote in claim["quotes"]
        if quote["chunk_id"] == passage["chunk_id"]
    ]
    return {
        "number": number,
        "evidence_id": evidence_id(run_id, passage["chunk_id"]),
        "document": passage["document"],
        "page": quotes[0]["page"] if quotes else passage["page"],
        "page_label": _label(claims, passage),
        "headings": passage["headings"],
        "quotes": quotes,
    }


def _label(claims: Sequence[Json], passage: Json) -> str | None:
    for claim in claims:
        for quote in claim["quotes"]:
            if quote["chunk_id"] == passage["chunk_id"]:
                label: str | None = quote["page_label"]
                return label
    found: str | None = passage["page_label"]
    return found


def claims_json(claims: Sequence[Json]) -> tuple[str, list[Json]]:
    """Return the answer, and its claims with the span of each in the answer."""
    answer = ""
    rows = []
    for claim in claims:
        start = len(answer) + len(claim["rendered"]) - len(claim["rendered"].lstrip())
        answer += claim["rendered"]
        rows.append(
            {
                "text": claim["text"],
                "verdict": claim["verdict"],
                "citations": claim["citations"],
                "span": {"start": start, "end": len(answer)},
            }
        )
    return answer, rows


def evidence_json(run_id: str, numbers: Sequence[str], passages: Mapping[str, Json], state: Json) -> list[Json]:
    """Return the evidence in the order of its numbers."""
    tasks = _found_by(state)
    return [
        {
            "id": evidence_id(run_id, chunk_id),
            "number": number,
            **passages[chunk_id],
            "task_ids": tasks.get(chunk_id, []),
        }
        for number, chunk_id in enumerate(numbers, 1)
    ]


def pool_json(run_id: str, numbers: Sequence[str], passages: Mapping[str, Json], state: Json) -> list[Json]:
    """Return what the answer might have drawn on and does not cite, ranked."""
    tasks = _found_by(state)
    rest = [one for key, one in passages.items() if key not in numbers]
    rest.sort(key=lambda one: -(one["scores"]["rerank"] or 0.0))
    return [
        {
            "id": evidence_id(run_id, one["chunk_id"]),
            "number": None,
            **one,
            "task_ids": tasks.get(one["chunk_id"], []),
        }
        for one in rest
    ]


def _found_by(state: Json) -> dict[str, list[str]]:
    """Return by chunk the tasks that found it; a stored result serves as well as the state it came from."""
    found: dict[str, list[str]] = {}
    for task in state.get("research_tasks", []):
        for chunk_id in task["evidence_ids"]:
            found.setdefault(chunk_id, []).append(task["id"])
    return found


def gaps_json(state: Json, passages: Mapping[str, Json], refused: bool, threshold: float) -> list[Json]:
    """Return what is missing: for each open task, or for the question; with the nearest passages and why they fail."""
    if refused:
        missing = [*state.get("direct", {}).get("missing", []), *state.get("outcome", {}).get("missing", [])]
        label = state["question"] if not missing else ", ".join(dict.fromkeys(missing))
        reason = "error" if state.get("outcome", {}).get("failed") else ("irrelevant" if passages else "no_evidence")
        return [{"missing": label, "reason": reason, "nearest": _nearest(passages.values(), threshold)}]
    return [
        {
            "missing": task["question"],
            "reason": {"failed": "error", "skipped": "budget"}.get(task["status"], task["reason"] or "irrelevant"),
            "nearest": _nearest([passages[i] for i in task["evidence_ids"] if i in passages], threshold),
            "task_id": task["id"],
        }
        for task in state.get("research_tasks", [])
        if task["status"] != TaskStatus.DONE.value
    ]


def _nearest(passages: Any, threshold: float) -> list[Json]:
    ranked = sorted(passages, key=lambda one: -(one["scores"]["rerank"] or 0.0))[:NEAREST]
    return [
        {
            "document": one["document"],
            "page": one["page"],
            "score": one["scores"]["rerank"] or 0.0,
            "why_not": _why_not(one["scores"]["rerank"] or 0.0, threshold),
        }
        for one in ranked
    ]


def _why_not(score: float, threshold: float) -> str:
    if score < threshold:
        return f"its score is under {threshold:.2f}: it is about something else"
    return "it is near the topic, but no sentence of it answers the question"


def usage_json(traces: Sequence[Json], state: Json, limits: Mapping[str, int], seconds: float) -> Json:
    """Return what the run cost, and each budget's limit and use."""
    llm = [one for one in traces if one["kind"] == "llm"]
    searches = [one for one in traces if one["kind"] == "tool" and "hint" not in one]
    by_role: dict[str, int] = {}
    for one in llm:
        by_role[one["role"]] = by_role.get(one["role"], 0) + one["calls"]
    used = {
        "iterations": state.get("iterations", 0),
        "searches": len(searches),
        "pages": sum(one["read"] for one in searches),
        "evidence": len(state.get("pool", [])),
        "llm_calls": sum(by_role.values()),
    }
    return {
        "llm_calls": sum(by_role.values()),
        "llm_calls_by_role": by_role,
        "tokens_in": sum(one["tokens_in"] for one in llm),
        "tokens_out": sum(one["tokens_out"] for one in llm),
        "searches": len(searches),
        "cost": None,
        "seconds": round(seconds, 3),
        "budgets": {name: {"limit": limits[name], "used": count} for name, count in used.items()},
    }


def refusal(state: Json, custom: Mapping[str, str]) -> str:
    """Return the fixed refusal in the question's language."""
    return refusal_text(state["language"], custom)
