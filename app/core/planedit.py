"""Is a plan that a person edited right? Each task is checked; the first wrong one is named."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from app.core.budget import Limits
from app.core.planparse import QUERY_CHARS
from app.errors import InvalidPlan

FIELDS = {"id", "question", "query", "status", "evidence_ids", "depends_on", "best", "reason"}


def validate_tasks(tasks: Sequence[Any], keep: int = Limits().edited_tasks) -> tuple[list[dict[str, Any]], int]:
    """Return the first `keep` tasks as `{id, question, query}`, and how many were dropped. Raises InvalidPlan."""
    if not tasks:
        raise InvalidPlan(0, "a plan has at least one task; to drop it, reject the plan.")
    kept = [_task(index, task) for index, task in enumerate(tasks[:keep])]
    ids: set[str] = set()
    for index, task in enumerate(kept):
        if task["id"] in ids:
            raise InvalidPlan(index, f"the id {task['id']!r} is used twice.")
        ids |= {task["id"]} - {""}
    for index, task in enumerate(kept):
        task["id"] = task["id"] or _free_id(index, ids)
    return kept, max(0, len(tasks) - keep)


def _free_id(index: int, ids: set[str]) -> str:
    """Return and take `t1` for the first task and so on, or the next number that no other task has."""
    number = next(number for number in count(index + 1) if f"t{number}" not in ids)
    ids.add(f"t{number}")
    return f"t{number}"


def _task(index: int, task: Any) -> dict[str, Any]:
    if not isinstance(task, dict):
        raise InvalidPlan(index, "a task is an object with `query`, and optionally `id` and `question`.")
    unknown = set(task) - FIELDS
    if unknown:
        raise InvalidPlan(index, f"unknown fields: {', '.join(sorted(map(str, unknown)))}.")
    texts = {name: "" if task.get(name) is None else task[name] for name in ("id", "question", "query")}
    if not all(isinstance(value, str) for value in texts.values()):
        raise InvalidPlan(index, "`id`, `question` and `query` are texts.")
    query = " ".join(texts["query"].split())
    if not query:
        raise InvalidPlan(index, "`query` is empty.")
    if len(query) > QUERY_CHARS or len(texts["question"]) > QUERY_CHARS:
        raise InvalidPlan(index, f"`query` and `question` have at most {QUERY_CHARS} characters.")
    question = " ".join(texts["question"].split())
    return {"id": texts["id"].strip(), "question": question or query, "query": query}
