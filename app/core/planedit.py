"""Is a plan that a person edited right? Each task is checked; the first wrong one is named."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.core.budget import Limits
from app.core.planparse import QUERY_CHARS
from app.errors import InvalidPlan

FIELDS = {"id", "question", "query", "status", "evidence_ids", "depends_on", "best", "reason"}


def validate_tasks(tasks: Sequence[Any], keep: int = Limits().edited_tasks) -> tuple[list[dict[str, Any]], int]:
    """Return the first `keep` tasks as `{id, question, query}`, and how many were dropped. Raises InvalidPlan."""
    kept: list[dict[str, Any]] = []
    ids: set[str] = set()
    for index, task in enumerate(tasks[:keep]):
        checked = _task(index, task)
        if checked["id"] in ids:
            raise InvalidPlan(index, f"the id {checked['id']!r} is used twice.")
        ids.add(checked["id"])
        kept.append(checked)
    return kept, max(0, len(tasks) - keep)


def _task(index: int, task: Any) -> dict[str, Any]:
    if not isinstance(task, dict):
        raise InvalidPlan(index, "a task is an object with `query`, and optionally `id` and `question`.")
    unknown = set(task) - FIELDS
    if unknown:
        raise InvalidPlan(index, f"unknown fields: {', '.join(sorted(map(str, unknown)))}.")
    texts = {name: task.get(name, "") or "" for name in ("id", "question", "query")}
    if not all(isinstance(value, str) for value in texts.values()):
        raise InvalidPlan(index, "`id`, `question` and `query` are texts.")
    query = " ".join(texts["query"].split())
    if not query:
        raise InvalidPlan(index, "`query` is empty.")
    if len(query) > QUERY_CHARS or len(texts["question"]) > QUERY_CHARS:
        raise InvalidPlan(index, f"`query` and `question` have at most {QUERY_CHARS} characters.")
    return {"id": texts["id"] or f"t{index + 1}", "question": texts["question"] or query, "query": query}
