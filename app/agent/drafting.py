"""How is a model's text read sentence by sentence? Think text out, sentences split, evidence keys taken off."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing

from app.agent.context import Deps, count_failed, count_llm
from app.core.markers import SentenceStream, make_keys
from app.core.types import Draft, Passage
from app.errors import ModelError
from app.ports import Completion, DraftRequest, KeyedPassage

INCOMPLETE = ("length", "content_filter")
"""Finish reasons that mean the text was cut."""


class DraftStream:
    """The sentences of one draft; `text` is the whole reply and `cut` says that it was cut short, once exhausted."""

    def __init__(self, deps: Deps, request: DraftRequest) -> None:
        self._deps = deps
        self._request = request
        self.text = ""
        self.cut = False

    async def sentences(self) -> AsyncIterator[Draft]:
        """Yield each sentence as soon as it is whole. Raises ModelError as the model does."""
        try:
            async for draft in self._drafts():
                yield draft
        except ModelError as error:
            count_failed(self._deps, self._request.role, error)
            raise

    async def _drafts(self) -> AsyncIterator[Draft]:
        splitter = SentenceStream(frozenset(one.key for one in self._request.passages))
        async with aclosing(self._deps.roles.draft(self._request)) as pieces:  # type: ignore[type-var]  # an async generator
            async for piece in pieces:
                if isinstance(piece, Completion):
                    self.text = piece.text
                    self.cut = piece.finish_reason in INCOMPLETE or piece.finish_reason is None
                    count_llm(self._deps, self._request.role, piece)
                    continue
                for draft in splitter.feed(piece):
                    yield draft
        for draft in splitter.close():
            yield draft


def keyed(passages: Sequence[Passage], run_id: str) -> tuple[KeyedPassage, ...]:
    """Give each passage its opaque key in this run: the same passages have the same keys after a resume."""
    keys = make_keys(len(passages), run_id)
    return tuple(KeyedPassage(key, passage) for key, passage in zip(keys, passages, strict=True))


def by_key(passages: Sequence[KeyedPassage]) -> Mapping[str, Passage]:
    """Return the passages by key."""
    return {one.key: one.passage for one in passages}
