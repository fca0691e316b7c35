"""How likely does a passage answer a query? Late interaction and term coverage, through a small logistic model.

Late interaction (ColBERT, Khattab and Zaharia 2020): the mean over the query's tokens of the largest cosine with any
token of the passage. Coverage: the share of the query's terms that stand in the passage, 0 where the two are in
different scripts (`same` is then 0 too). The coefficients are committed in `rerank_coefficients.json`, made by
`python -m eval fit-rerank`; they are provisional until the calibration on held-out sets.
"""

from __future__ import annotations

import json
import math
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Protocol

import numpy as np

from app.core.types import Passage
from ingest.embed.port import Embedder, Vectors
from ingest.tokenize import language, query_terms, tokens

TOKEN_CACHE = 600
"""Passages whose token vectors are kept: about 0.15 MB each in 16 bit, so at most some 90 MB."""


@dataclass(frozen=True, slots=True)
class Features:
    """What the model looks at. `late` and `dense` are cosines, `coverage` is in [0, 1], `same` is 0 or 1."""

    late: float
    dense: float
    coverage: float
    same: float


class Reranker(Protocol):
    """Gives passages a probability of answering the query."""

    @property
    def name(self) -> str:
        """The reranker's name, part of a run's fingerprint."""

    def rerank(self, query: str, passages: Sequence[Passage]) -> list[Passage]:
        """Return the passages with `scores.rerank` in [0, 1], best first, ties in the order given."""


class LateInteractionReranker:
    """The built-in reranker, on the embedding model's own token vectors."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._cache: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()
        self._weights = load_coefficients()

    @property
    def name(self) -> str:
        """Return the name with the model it stands on."""
        return f"late-interaction/{self._embedder.name}"

    def rerank(self, query: str, passages: Sequence[Passage]) -> list[Passage]:
        """Score and sort; see `Reranker`."""
        if not passages:
            return []
        scored = [
            replace(passage, scores=replace(passage.scores, rerank=probability(features, self._weights)))
            for passage, features in zip(passages, self.features(query, passages), strict=True)
        ]
        return sorted(scored, key=lambda passage: -(passage.scores.rerank or 0.0))

    def features(self, query: str, passages: Sequence[Passage]) -> list[Features]:
        """Return what the model looks at for each passage."""
        wanted = self._embedder.query_tokens(query)
        dense = self._embedder.embed_query(query)
        vectors = self._tokens(passages)
        return [
            Features(
                late=late_interaction(wanted, vectors[passage.chunk_id]),
                dense=self._dense(dense, passage),
                **coverage(query, passage),
            )
            for passage in passages
        ]

    def _dense(self, query: Vectors, passage: Passage) -> float:
        if passage.scores.dense is not None:
            return passage.scores.dense
        return float(self._embedder.embed_passages([passage_text(passage)])[0] @ query)

    def _tokens(self, passages: Sequence[Passage]) -> dict[str, Vectors]:
        with self._lock:
            held = {p.chunk_id: self._cache[p.chunk_id] for p in passages if p.chunk_id in self._cache}
        fresh = [passage for passage in passages if passage.chunk_id not in held]
        made = self._embedder.passage_tokens([passage_text(passage) for passage in fresh]) if fresh else []
        new = {passage.chunk_id: vectors for passage, vectors in zip(fresh, made, strict=True)}
        with self._lock:
            self._cache.update((key, vectors.astype(np.float16)) for key, vectors in new.items())
            while len(self._cache) > TOKEN_CACHE:
                self._cache.popitem(last=False)
        return held | new


def passage_text(passage: Passage) -> str:
    """Return what is scored of a passage: its headings, the header of its table, then its text."""
    heads = [passage.document.title, *passage.headings]
    context = " > ".join(dict.fromkeys(head for head in heads if head))
    return "\n".join(part for part in (context, passage.table_header, passage.text) if part)


def late_interaction(query: Vectors, passage: Vectors) -> float:
    """Return the mean over query tokens of the largest cosine with a passage token; 0 if either has none."""
    if not len(query) or not len(passage):
        return 0.0
    return float((query @ passage.astype(np.float32).T).max(axis=1).mean())


def coverage(query: str, passage: Passage) -> dict[str, float]:
    """Return the share of the query's terms that the passage holds, and whether the two share a language."""
    text = passage_text(passage)
    if language(query) != (passage.language or language(passage.text)):
        return {"coverage": 0.0, "same": 0.0}
    terms = query_terms(query)
    held = set(tokens(text))
    return {"coverage": sum(term in held for term in terms) / max(1, len(terms)), "same": 1.0}


def probability(features: Features, weights: Mapping[str, float]) -> float:
    """Return the logistic function of the weighted features, in float64 so that it does not saturate early."""
    logit = weights["intercept"] + sum(
        weights[name] * value
        for name, value in (
            ("late", features.late),
            ("dense", features.dense),
            ("coverage", features.coverage),
            ("same", features.same),
        )
    )
    return 1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, logit))))


def load_coefficients() -> dict[str, float]:
    """Return the committed coefficients."""
    data = json.loads(files("app.retrieval").joinpath("rerank_coefficients.json").read_text(encoding="utf-8"))
    return {name: float(value) for name, value in data["coefficients"].items()}
