"""How far down is the first gold document?

RR = 1 / rank of the first gold document, 0 if none is retrieved (`recip_rank` of trec_eval); RR@10 looks at the first
10 alone. The mean over the questions is MRR (Voorhees 1999).
"""

from __future__ import annotations

from functools import partial

from eval.measures.definition import Measure
from eval.measures.recall import gold_documents, has_gold_documents
from eval.types import Outcome, Question


def reciprocal_rank(question: Question, outcome: Outcome, depth: int | None = None) -> float:
    """Return the reciprocal rank in [0, 1] within the first `depth` documents (None: all)."""
    gold = gold_documents(question)
    ranks = (rank for rank, name in enumerate(outcome.ranked[:depth], 1) if name in gold)
    return 1 / next(ranks, float("inf"))


RECIPROCAL_RANK = (
    Measure(
        "mrr", "high", "retrieval", "1 / rank of the first gold document.", has_gold_documents, reciprocal_rank
    ),
    Measure(
        "mrr@10", "high", "retrieval", "1 / rank of the first gold document, 0 if it is not among the first 10.",
        has_gold_documents, partial(reciprocal_rank, depth=10),
    ),
)  # fmt: skip
