"""How does a CrossEncoder rerank? By name, from a folder or a hub; loaded on first use."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.core.types import Passage
from app.errors import NotConfigured
from app.retrieval.rerank import passage_text


class CrossEncoderReranker:
    """A sentence-transformers CrossEncoder with one output, read as a logit."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._loaded: Any = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """See `Reranker`."""
        return self._name

    def rerank(self, query: str, passages: Sequence[Passage]) -> list[Passage]:
        """See `Reranker`. Ties of the probability are broken by the logit, which does not saturate."""
        if not passages:
            return []
        with self._lock:
            logits = self._logits([(query, passage_text(passage)) for passage in passages])
        scored = [
            (logit, replace(passage, scores=replace(passage.scores, rerank=sigmoid(logit))))
            for passage, logit in zip(passages, logits, strict=True)
        ]
        return [passage for _, passage in sorted(scored, key=lambda pair: -pair[0])]

    def _logits(self, pairs: list[tuple[str, str]]) -> list[float]:
        import torch
        from sentence_transformers import CrossEncoder

        if self._loaded is None:
            try:
                self._loaded = CrossEncoder(self._name, device="cpu", trust_remote_code=False)
            except (OSError, ValueError, RuntimeError) as error:
                raise NotConfigured(
                    f"The reranker {self._name} cannot be loaded ({error}): check CITEDRAG_RERANKER, or unset it."
                ) from error
        made = self._loaded.predict(pairs, activation_fn=torch.nn.Identity(), show_progress_bar=False)
        return [float(value) for value in made]


def sigmoid(logit: float) -> float:
    """Return the logistic function of a raw logit in float64: applied once, and never in half precision."""
    return 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, logit))))
