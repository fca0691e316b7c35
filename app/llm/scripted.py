"""How are the roles played in a test of the graph? From tables of replies, with every call written down."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from app.errors import ModelError
from app.ports import Completion, DraftRequest, Message

__all__ = ["ScriptedRoles", "fails"]

Reply = str | ModelError
Made = Reply | Callable[[DraftRequest], Reply]
T = TypeVar("T")
Called = Literal["supervisor", "planner", "direct", "writer"]

PIECE = 7
"""Characters of a streamed piece: short, so that markers are split over pieces."""
NAMED_KEY = re.compile(r"\{(\d+)\}")


def fails(message: str = "scripted failure") -> ModelError:
    """Return the failure of an endpoint, to be raised in place of a reply."""
    return ModelError(message, kind="timeout", calls=2)


@dataclass
class ScriptedRoles:
    """Replies in turn, the last of each list for ever; a `ModelError` is raised instead.

    A draft may be made from its request; in its text `{1}` stands for the key of the first passage. `calls` are the
    roles asked, in order; `drafts`, `histories` and `plans` what they were asked with.
    """

    routes: Sequence[Reply] = ("ROLE: direct",)
    plan_replies: Sequence[Reply] = ("[]",)
    direct: Sequence[Made] = ("",)
    writer: Sequence[Made] = ("",)
    finish_reason: str | None = "stop"
    calls: list[Called] = field(default_factory=list)
    drafts: list[DraftRequest] = field(default_factory=list)
    histories: list[tuple[Message, ...]] = field(default_factory=list)
    plans: list[tuple[str, int, tuple[str, ...]]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What stands for the model's name."""
        return "scripted"

    @property
    def uses_model(self) -> bool:
        """Whether a reply counts as a model call: it does."""
        return True

    async def route(self, history: Sequence[Message], situation: str) -> Completion:
        """Return the next route."""
        self.histories.append(tuple(history))
        return _whole(self._next("supervisor", self.routes))

    async def plan(self, question: str, max_tasks: int, avoid: Sequence[str]) -> Completion:
        """Return the next plan."""
        self.plans.append((question, max_tasks, tuple(avoid)))
        return _whole(self._next("planner", self.plan_replies))

    async def draft(self, request: DraftRequest) -> AsyncIterator[str | Completion]:
        """Yield the next draft in pieces, and last its `Completion`."""
        self.drafts.append(request)
        writes = request.role == "writer"
        made = self._next("writer", self.writer) if writes else self._next("direct", self.direct)
        reply = made(request) if callable(made) else made
        text = NAMED_KEY.sub(lambda match: _key(request, int(match[1])), _text(reply))
        for start in range(0, len(text), PIECE):
            yield text[start : start + PIECE]
        yield Completion(text, self.finish_reason, tokens_in=10, tokens_out=5)

    def _next(self, role: Called, replies: Sequence[T]) -> T:
        told = self.calls.count(role)
        self.calls.append(role)
        return replies[min(told, len(replies) - 1)]


def _whole(reply: Reply) -> Completion:
    return Completion(_text(reply), tokens_in=10, tokens_out=5)


def _text(reply: Reply) -> str:
    if isinstance(reply, ModelError):
        raise reply
    return reply


def _key(request: DraftRequest, number: int) -> str:
    return f"[{request.passages[number - 1].key}]" if number <= len(request.passages) else "[0]"
