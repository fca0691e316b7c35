"""What must a model, and whoever plays the roles, be able to do?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from app.core.types import Passage

Role = Literal["supervisor", "direct", "planner", "researcher", "writer"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a model's conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole reply. `calls` counts requests made for it, repeats included; tokens are 0 where unknown."""

    text: str
    finish_reason: str | None = "stop"
    tokens_in: int = 0
    tokens_out: int = 0
    calls: int = 1


class ChatModel(Protocol):
    """A chat model. Raises `app.errors.ModelError` and nothing else when the endpoint misbehaves."""

    @property
    def name(self) -> str:
        """The model's name."""

    async def complete(self, messages: Sequence[Message], role: Role) -> Completion:
        """Return the reply to `messages`; a failed call is repeated once."""

    def stream(self, messages: Sequence[Message], role: Role) -> AsyncIterator[str | Completion]:
        """Yield pieces of text as they come, and last a `Completion` with the whole text and its cost."""


@dataclass(frozen=True, slots=True)
class KeyedPassage:
    """A passage under the opaque key by which a model cites it in this run."""

    key: str
    passage: Passage


@dataclass(frozen=True, slots=True)
class DraftRequest:
    """What an answer is drafted from. `gaps` are questions for which no evidence was found."""

    question: str
    language: str
    passages: tuple[KeyedPassage, ...]
    role: Role = "direct"
    tasks: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()


class Roles(Protocol):
    """Who plays the roles of the graph: a model, or the rules that need none."""

    @property
    def name(self) -> str:
        """The model's name, or `extractive`."""

    @property
    def uses_model(self) -> bool:
        """Whether a reply costs a model call."""

    async def route(self, history: Sequence[Message], situation: str) -> Completion:
        """Return a reply of the form `ROLE: <role>`."""

    async def plan(self, question: str, max_tasks: int, avoid: Sequence[str]) -> Completion:
        """Return a plan in text (JSON, or a numbered list); `avoid` are queries that found nothing."""

    def draft(self, request: DraftRequest) -> AsyncIterator[str | Completion]:
        """Yield the answer's text with evidence keys in brackets after each sentence, and last a `Completion`."""


class SentenceScorer(Protocol):
    """Semantic nearness of sentences to a text."""

    def scores(self, text: str, sentences: Sequence[str]) -> list[float]:
        """Return a cosine in [-1, 1] for each sentence."""
