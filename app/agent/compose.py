"""How does a drafted sentence become a checked one? Quote it, judge it, number it, release it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.agent.context import Deps
from app.core.citations import Ledger, joined
from app.core.quotes import best_quote, candidates, verify
from app.core.refusal import is_refusal
from app.core.support import judge, lexical_support
from app.core.types import Draft, Passage, Quote, Verdict

Json = dict[str, Any]

REGROUND_POOL = 6
"""Passages tried for a sentence whose own citations do not carry it: the best by shared words."""
LEXICALLY_CERTAIN = 0.95
"""From here the words alone carry the claim and no embedding is asked."""
CITATIONS_PER_CLAIM = 3


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence with its verdict; `quotes` go with the passage they stand in. Removed if `reason` is set."""

    text: str
    verdict: Verdict
    quotes: tuple[tuple[Passage, Quote], ...] = ()
    reason: str | None = None

    def to_json(self) -> Json:
        """Return it for the run store; passages by chunk id."""
        return {
            "text": self.text, "verdict": self.verdict.value, "reason": self.reason,
            "quotes": [
                {"chunk_id": passage.chunk_id, "text": quote.text, "start": quote.start, "end": quote.end,
                 "support": quote.support}
                for passage, quote in self.quotes
            ],
        }  # fmt: skip

    @staticmethod
    def from_json(data: Json, passages: Mapping[str, Passage]) -> Judged:
        """Return what `to_json` wrote."""
        quotes = tuple(
            (passages[one["chunk_id"]], Quote(one["text"], one["start"], one["end"], one["support"]))
            for one in data["quotes"]
        )
        return Judged(data["text"], Verdict(data["verdict"]), quotes, data["reason"])


async def judge_sentence(draft: Draft, keyed: Mapping[str, Passage], deps: Deps) -> Judged:
    """Judge one drafted sentence against the passages that it cites, else against the others."""
    return await asyncio.to_thread(_judge, draft, keyed, deps)


def _judge(draft: Draft, keyed: Mapping[str, Passage], deps: Deps) -> Judged:
    text = draft.text.strip()
    if is_refusal(text):
        return Judged(text, Verdict.GAP)
    if not draft.keys and _connects(text):
        return Judged(text, Verdict.CONNECTIVE)
    cited = [keyed[key] for key in draft.keys if key in keyed]
    quotes = _quotes(text, cited, deps)
    if not quotes:
        others = [passage for passage in keyed.values() if passage not in cited]
        others.sort(key=lambda passage: -lexical_support(text, passage.text))
        quotes = _quotes(text, others[:REGROUND_POOL], deps)[:1]
    if not quotes:
        reason = "no passage carries it" if cited else "it cites nothing and no passage carries it"
        return Judged(text, Verdict.UNSUPPORTED, (), reason)
    verdict = max((one[2] for one in quotes), key=lambda one: one == Verdict.SUPPORTED)
    return Judged(text, verdict, tuple((passage, quote) for passage, quote, _ in quotes[:CITATIONS_PER_CLAIM]))


def _connects(text: str) -> bool:
    """Say whether a sentence only leads over to the next and states nothing itself."""
    return text.endswith((":", "：")) and len(text) <= 80 and not any(ch.isdigit() for ch in text)


def _quotes(claim: str, passages: Sequence[Passage], deps: Deps) -> list[tuple[Passage, Quote, Verdict]]:
    found = []
    for passage in passages:
        spans = candidates(passage)
        if not spans:
            continue
        lexical = [lexical_support(claim, span.text) for span in spans]
        certain = max(lexical) >= LEXICALLY_CERTAIN
        scores = lexical if certain else deps.scorer.scores(claim, [span.text for span in spans])
        quote = best_quote(claim, passage, scores)
        if quote is None or not _stands(quote, passage, deps):
            continue
        semantic = None if certain else deps.scorer.scores(claim, [quote.text])[0]
        verdict, support = judge(claim, quote.text, semantic)
        if verdict in (Verdict.SUPPORTED, Verdict.PARTLY):
            found.append((passage, Quote(quote.text, quote.start, quote.end, support), verdict))
    return sorted(found, key=lambda one: -one[1].support)


def _stands(quote: Quote, passage: Passage, deps: Deps) -> bool:
    """Check a quotation against the passage kept with the run, and against the document if it is still the same."""
    inside = passage.text[quote.start - passage.start : quote.end - passage.start] == quote.text
    text = deps.source.text(passage.document.id, passage.document.version)
    return inside and (text is None or verify(quote.text, quote.start, quote.end, text))


class Releaser:
    """Commits judged sentences in order, each with the evidence that it appends and the events that tell of it."""

    def __init__(self, deps: Deps, order: Sequence[str]) -> None:
        self._deps = deps
        self._order = list(order)
        self._claims = deps.recorder.claims()
        self._ledger = Ledger(tuple(deps.recorder.evidence()))

    @property
    def claims(self) -> list[Json]:
        """Return what was committed so far, in an earlier life of the run too."""
        return self._claims

    def release(self, judged: Judged) -> bool:
        """Commit a sentence; a removed one, and one that was committed already, changes nothing."""
        if judged.reason is not None or any(claim["text"] == judged.text for claim in self._claims):
            return False
        chunk_ids = [passage.chunk_id for passage, _ in judged.quotes]
        self._ledger, numbers, appended = self._ledger.commit(chunk_ids, self._order)
        text = joined(judged.text, numbers, first=not self._claims)
        claim = {
            "index": len(self._claims),
            "text": judged.text,
            "rendered": text,
            "verdict": judged.verdict.value,
            "citations": list(numbers),
            "quotes": [self._quote(passage, quote, len(self._claims)) for passage, quote in judged.quotes],
        }
        passages = {passage.chunk_id: passage for passage, _ in judged.quotes}
        first = len(self._ledger.chunk_ids) - len(appended) + 1
        added = {first + offset: chunk_id for offset, chunk_id in enumerate(appended)}
        self._deps.recorder.commit_claim(claim, added, passages)
        self._claims.append(claim)
        return True

    def _quote(self, passage: Passage, quote: Quote, index: int) -> Json:
        return {
            "chunk_id": passage.chunk_id,
            "claim": index,
            "text": quote.text,
            "span": {"start": quote.start, "end": quote.end},
            **self._deps.source.locate(passage.document.id, passage.document.version, quote.start, quote.end),
            "support": quote.support,
        }
