"""Which tasks does a planner's reply hold? JSON, else a numbered list, else the question itself."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from app.core.routeparse import without_thought
from app.core.types import Task

QUERY_CHARS = 500
_NUMBERED = re.compile(
    r"^\s*(?:\d{1,2}\s*[.)、．）]|[（(]\d{1,2}[)）]|[一二三四五六七八九十]{1,2}\s*[、.．]|[-*•])\s*(?P<text>\S.*)$",
    re.MULTILINE,
)
_DECODER = json.JSONDecoder()
_JSON_START = re.compile(r"[\[{]")
_COMMA_TOO_MANY = re.compile(r",(\s*[\]}])")
_AROUND = ' \t*`"“”'
"""What models put round a query in a list."""
JSON_TRIES = 100
"""Brackets at which JSON is looked for: prose has few, and each costs a pass."""


@dataclass(frozen=True, slots=True)
class ParsedPlan:
    """The tasks, how they were found, and how many were over the limit."""

    tasks: tuple[Task, ...]
    how: Literal["json", "list", "fallback"]
    dropped: int


def parse_plan(reply: str, question: str, limit: int) -> ParsedPlan:
    """Read a reply; blank and repeated queries do not count, and only the first `limit` tasks are kept."""
    text = without_thought(reply)
    for how, pairs in (("json", _from_json(text)), ("list", _from_list(text))):
        tasks = _tasks(pairs)
        if tasks:
            return ParsedPlan(tuple(tasks[:limit]), "json" if how == "json" else "list", max(0, len(tasks) - limit))
    whole = " ".join(question.split())[:QUERY_CHARS]
    return ParsedPlan((Task("t1", whole, whole),), "fallback", 0)


def _tasks(pairs: Iterable[tuple[str, str]]) -> list[Task]:
    tasks: list[Task] = []
    seen: set[str] = set()
    for question, query in pairs:
        query = " ".join(query.split())[:QUERY_CHARS]
        if query and query.casefold() not in seen:
            seen.add(query.casefold())
            tasks.append(Task(f"t{len(tasks) + 1}", " ".join(question.split())[:QUERY_CHARS] or query, query))
    return tasks


def _from_json(text: str) -> list[tuple[str, str]]:
    """Return the tasks of the first JSON list, or of the objects that stand one by one, as in a list that was cut."""
    single: list[tuple[str, str]] = []
    for found in [*_json_values(text)] or [*_json_values(_COMMA_TOO_MANY.sub(r"\1", text))]:
        pairs = _pairs(found)
        if not isinstance(found, dict) or len(pairs) > 1:
            if pairs and not single:
                return pairs
            continue
        single += pairs
    return single


def _json_values(text: str) -> Iterator[Any]:
    """Yield the JSON lists and objects that stand in the text, whatever stands around them."""
    position, tries = 0, 0
    while (match := _JSON_START.search(text, position)) is not None and tries < JSON_TRIES:
        tries += 1
        try:
            found, position = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            position = match.end()
            continue
        yield found


def _pairs(found: Any) -> list[tuple[str, str]]:
    if isinstance(found, dict):
        for name in ("tasks", "research_tasks", "queries", "plan"):
            if isinstance(found.get(name), list):
                return _pairs(found[name])
        return _pairs([found])
    if not isinstance(found, list):
        return []
    return [pair for pair in map(_pair, found) if pair is not None]


def _pair(item: Any) -> tuple[str, str] | None:
    if isinstance(item, str):
        return item, item
    if not isinstance(item, dict):
        return None
    texts = {name: item[name] for name in ("question", "query", "task") if isinstance(item.get(name), str)}
    question = texts.get("question") or texts.get("task") or texts.get("query")
    return None if question is None else (question, texts.get("query") or question)


def _from_list(text: str) -> list[tuple[str, str]]:
    items = [match["text"].strip(_AROUND) for match in _NUMBERED.finditer(text)]
    return [(item, item) for item in items]


_ENDS = re.compile(r"(?<=\?)\s+(?=\S)|(?<=[?？])\s*(?=[^\s\x00-\x7f”’」』）])|(?<=？)\s*(?=\w)")
_SEMICOLON = re.compile(r"[;；]\s*(?:and\s+)?")
_AND_WHAT = re.compile(
    r",?\s+and\s+(?=(?:what|who|whom|when|where|which|why|how)\b)|[，,]\s*(?:以及|并且|而且|还有)?(?=[^，,]{0,12}(?:多少|什么|哪|几|如何|怎么|谁))",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"\b(?:what|who|whom|whose|when|where|which|why|how|is|are|was|were|do|does|did|can|could|should|has|have)\b"
    r"|多少|多[长久大高远重]|什么|哪|几|如何|怎么|谁|是否|[吗呢]",
    re.IGNORECASE,
)
_COMPARE_EN = re.compile(
    r"^(?P<lead>(?:compare|contrast)\s+(?:the\s+)?(?P<what>.*?)\s*(?:of|between|among|for)\s+)(?P<items>.+?)[.?]?$",
    re.IGNORECASE,
)
_COMPARE_EN_PLAIN = re.compile(r"^(?:compare|contrast)\s+(?P<items>.+?)[.?]?$", re.IGNORECASE)
_ITEMS = re.compile(r"\s*,\s*(?:and\s+)?|\s+and\s+|\s+versus\s+|\s+vs\.?\s+|\s*[、]\s*|\s*[和与]\s*|\s*以及\s*")
_COMPARE_ZH = re.compile(r"^(?:请)?(?:比较|对比)(?:一下)?(?P<items>.+?)(?P<what>的[^的]{1,20})?[。？?]?$")


def split_question(question: str, limit: int = 3) -> list[str]:
    """Split a question into its parts by rules, for a planner without a model; at most `limit`, else the question."""
    text = " ".join(question.split())
    for split in (_compared, _questions):
        parts = split(text)
        if len(parts) > 1:
            return parts[:limit]
    return [text]


def _questions(text: str) -> list[str]:
    parts = [part.strip() for part in _ENDS.split(text) if part.strip()]
    if len(parts) == 1:
        parts = [part.strip() for part in _SEMICOLON.split(text) if len(part.strip()) > 3]
    if len(parts) == 1:
        parts = [part.strip() for part in _AND_WHAT.split(text)]
        # "When and where", "who and why", "如果…，需要什么": a piece that asks nothing by itself belongs to the whole.
        parts = parts if all(_asks(part) for part in parts) else [text]
    return parts


def _asks(part: str) -> bool:
    return _ASKS.search(part) is not None and (not part.isascii() or len(part.split()) > 1)


def _compared(text: str) -> list[str]:
    chinese = _COMPARE_ZH.match(text)
    if chinese is not None:
        what = chinese["what"] or ""
        items = [item for item in _ITEMS.split(chinese["items"]) if item]
        return [f"{item}{what}" for item in items]
    english = _COMPARE_EN.match(text)
    if english is not None:
        what = english["what"].strip()
        items = [item for item in _ITEMS.split(english["items"]) if item]
        return [f"{what} of {item}" for item in items]
    plain = _COMPARE_EN_PLAIN.match(text)
    return [] if plain is None else [item for item in _ITEMS.split(plain["items"]) if item]
