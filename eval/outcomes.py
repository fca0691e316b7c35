"""How do a search and a run become an outcome, and an outcome a line of a file?"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, fields, replace
from typing import Any

from app.core.types import Passage
from app.errors import CitedragError
from app.runs.requests import RunRequest
from app.wiring import Services
from eval.types import Cited, Outcome, Question
from ingest.errors import IngestError
from ingest.library import Library

Json = dict[str, Any]
Namer = Callable[[str], str]

FAILURES = (CitedragError, IngestError, ArithmeticError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""What a question may end in: its failure is its outcome, and the others go on."""
DEPTH = 1000
"""Passages asked of a search: the candidates that the variant takes are fewer."""


async def ask(services: Services, question: Question, name: Namer, *, answers: bool, mode: str) -> Outcome:
    """Search for a question, and answer it if wanted; a failure becomes the outcome's `error`."""
    started = time.perf_counter()
    try:
        found = await asyncio.to_thread(services.retriever.search, question.text, DEPTH)
        passages = [one.passage for one in found.candidates]
        outcome = Outcome(question.id, ranked=distinct(name(one.document.path) for one in passages),
                          best_score=best(passages))  # fmt: skip
        if answers:
            started = time.perf_counter()
            result = await services.runs.answer(RunRequest.model_validate({"question": question.text, "mode": mode}))
            return of_result(outcome, result, services.library, name, time.perf_counter() - started)
    except FAILURES as error:
        return Outcome(question.id, error=f"{type(error).__name__}: {error}"[:500])
    return replace(outcome, seconds=round(time.perf_counter() - started, 4))


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return each name once, in the order of its first appearance."""
    return tuple(dict.fromkeys(names))


def best(passages: Iterable[Passage]) -> float | None:
    """Return the highest probability that the reranker gave, None if it gave none."""
    return max((one.scores.rerank for one in passages if one.scores.rerank is not None), default=None)


def of_result(found: Outcome, result: Json, library: Library, name: Namer, seconds: float) -> Outcome:
    """Join what was retrieved with a run's result; every quotation is checked against the stored text here."""
    usage = result["usage"]
    return replace(
        found,
        answered=not result["refused"],
        answer="" if result["refused"] else result["answer"],
        claims=tuple(one["text"] for one in result["claims"]),
        verdicts=tuple(one["verdict"] for one in result["claims"]),
        cited=tuple(_cited(result, library, name)),
        warnings=tuple(one["code"] for one in result["warnings"]),
        llm_calls=usage["llm_calls"],
        tokens_in=usage["tokens_in"],
        tokens_out=usage["tokens_out"],
        searches=usage["searches"],
        seconds=round(seconds, 4),
        delegation=tuple(result["delegation_path"]),
    )


def _cited(result: Json, library: Library, name: Namer) -> Iterable[Cited]:
    passages = {one["id"]: one["text"] for one in result["evidence"]}
    for citation in result["citations"]:
        text = library.text(citation["document"]["id"]) or ""
        for quote in citation["quotes"]:
            span = quote["span"]
            yield Cited(
                claim=quote["claim"],
                number=citation["number"],
                document=name(citation["document"]["path"]),
                page=quote["page"],
                quote=quote["text"],
                passage=passages[citation["evidence_id"]],
                verified=text[span["start"] : span["end"]] == quote["text"],
            )


def to_json(outcome: Outcome) -> Json:
    """Return an outcome as plain data."""
    return asdict(outcome)


def from_json(data: Json) -> Outcome:
    """Return the outcome that `to_json` wrote."""
    plain: Json = {one.name: data[one.name] for one in fields(Outcome)}
    lists: Json = {key: tuple(value) for key, value in plain.items() if isinstance(value, list)}
    return Outcome(**{**plain, **lists, "cited": tuple(Cited(**one) for one in data["cited"])})
