"""How does a chat model play the roles: what is it sent for each?"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import replace

from app.core.escape import escape_passage
from app.core.refusal import refusal_text
from app.ports import ChatModel, Completion, DraftRequest, KeyedPassage, Message, Role
from app.prompts import NOT_FOUND, PROMPTS

__all__ = ["ModelRoles", "passage_block"]

HISTORY_MESSAGES = 12
"""Messages of a conversation that routing sees: enough to know what `it` stands for."""

LANGUAGE_NAMES = {"en": "English", "zh": "Chinese (中文)", "zh-hans": "简体中文", "zh-hant": "繁體中文"}
NOTHING = "- none"
MARKED = f"[{NOT_FOUND}]"

KEYS_AFTER = re.compile(rf"(?<={NOT_FOUND})[\s.。`*\"']*(?:\[[\w\s,]*\]?[\s.。]*)+$")
SENTINEL_CHARS = 80
"""A reply is held back while it may be the sentinel, keys behind it included, up to so many characters."""


class ModelRoles:
    """The roles, played by `chat`; each request is the role's constant system text and one user message."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """The model's name."""
        return self._chat.name

    @property
    def uses_model(self) -> bool:
        """Whether a reply costs a model call: it does."""
        return True

    async def route(self, history: Sequence[Message], situation: str) -> Completion:
        """Return the model's `ROLE: <role>`, asked with the conversation so far and a fresh user message."""
        # Tool messages and empty ones make endpoints refuse or say nothing; so does a last assistant message.
        spoken = [m for m in history if m.role in ("user", "assistant") and m.content.strip()]
        request = _request("supervisor", situation=situation)
        return await self._chat.complete([request[0], *spoken[-HISTORY_MESSAGES:], request[1]], "supervisor")

    async def plan(self, question: str, max_tasks: int, avoid: Sequence[str]) -> Completion:
        """Return the model's plan, which is parsed by `app.core.planparse`."""
        request = _request("planner", question=question, max_tasks=max_tasks, avoid=_listed(avoid))
        return await self._chat.complete(request, "planner")

    async def research(
        self, question: str, passages: Sequence[KeyedPassage], tried: Sequence[str], left: int
    ) -> Completion:
        """Return the model's next step of a turn-by-turn search: `SEARCH: <words>` or `DONE`."""
        found = passage_blocks(passages) or NOTHING
        request = _request("researcher", question=question, passages=found, tried=_listed(tried), left=left)
        return await self._chat.complete(request, "researcher")

    async def draft(self, request: DraftRequest) -> AsyncIterator[str | Completion]:
        """Yield the answer as the model writes it, and last its `Completion`."""
        reply = self._chat.stream(_draft_messages(request), request.role)
        translated = _sentinel_translated(reply, refusal_text(request.language))
        cleaned = _without_marked_sentinel(translated)
        try:
            async for item in cleaned:
                yield item
        finally:
            # A reader that leaves early ends the request at once, not when the garbage is collected.
            for stream in (cleaned, translated, reply):
                if isinstance(stream, AsyncGenerator):
                    await stream.aclose()


async def _sentinel_translated(reply: AsyncIterator[str | Completion], refusal: str) -> AsyncIterator[str | Completion]:
    """Yield `reply`, but `refusal` where all of it is the sentinel: nobody else has to know that word."""
    held: str | None = ""
    async for item in reply:
        if isinstance(item, str) and held is not None:
            held += item
            if _may_be_sentinel(held):
                continue
            yield held
            held = None
        elif isinstance(item, str):
            yield item
        elif held is not None and _bare(held) == NOT_FOUND:
            yield refusal
            yield replace(item, text=refusal)
        else:
            if held:
                yield held
            yield item


async def _without_marked_sentinel(reply: AsyncIterator[str | Completion]) -> AsyncIterator[str | Completion]:
    """Yield `reply` without the sentinel where it stands in place of a key, as behind the sentence about a gap."""
    held = ""
    async for item in reply:
        if isinstance(item, Completion):
            if held:
                yield held
            yield replace(item, text=item.text.replace(MARKED, ""))
            return
        held = (held + item).replace(MARKED, "")
        ends = next((size for size in range(len(MARKED) - 1, 0, -1) if held.endswith(MARKED[:size])), 0)
        if piece := held[: len(held) - ends]:
            yield piece
        held = held[len(held) - ends :]


def _bare(text: str) -> str:
    """Return the sentinel alone where small models write it with a key or in quotes."""
    return KEYS_AFTER.sub("", text).strip(" \n\t.。`*\"'[]")


def _may_be_sentinel(text: str) -> bool:
    return NOT_FOUND.startswith(_bare(text)) and len(text) < SENTINEL_CHARS


def passage_block(item: KeyedPassage) -> str:
    """Return a passage between delimiters that carry its key, which no document's author can know."""
    passage = item.passage
    place = " > ".join(part for part in (passage.document.title, *passage.headings) if part)
    source = escape_passage(" ".join(place.split()))
    text = escape_passage("\n".join(part for part in (passage.table_header, passage.text) if part))
    return f'<passage key="{item.key}">\nFrom: {source}\n{text}\n</passage key="{item.key}">'


def passage_blocks(passages: Sequence[KeyedPassage]) -> str:
    """Return passages as they stand in a user message."""
    return "\n\n".join(map(passage_block, passages))


def _draft_messages(request: DraftRequest) -> list[Message]:
    values: dict[str, object] = {
        "passages": passage_blocks(request.passages),
        "keys": " ".join(f"[{item.key}]" for item in request.passages),
        "language": _language_name(request.language),
        "question": request.question,
    }
    if request.role == "writer":
        values |= {"tasks": _listed(request.tasks or (request.question,)), "gaps": _listed(request.gaps)}
    return _request(request.role, **values)


def _request(role: Role, **values: object) -> list[Message]:
    prompt = PROMPTS[role]
    return [Message("system", prompt.system), Message("user", prompt.fill(**values))]


def _listed(items: Sequence[str]) -> str:
    return "\n".join(f"- {' '.join(item.split())}" for item in items) or NOTHING


def _language_name(code: str) -> str:
    known = LANGUAGE_NAMES.get(code.lower()) or LANGUAGE_NAMES.get(code.lower().partition("-")[0])
    return known or code or "the question's"
