"""Are all gold documents among the first k?

1 if recall@k is 1, else 0: what a question over several documents needs. A question with more than k gold documents
cannot reach it.
"""

from __future__ import annotations

from functools import partial

from eval.measures.definition import Measure
from eval.measures.recall import gold_documents, has_gold_documents
from eval.types import Outcome, Question


def all_gold(question: Question, outcome: Outcome, depth: int) -> float:
    """Return 1 if every gold document is among the first `depth`, else 0."""
    return float(gold_documents(question) <= set(outcome.ranked[:depth]))


def _measure(depth: int) -> Measure:
    says = f"1 if every gold document is among the first {depth} documents."
    return Measure(f"all_gold@{depth}", "high", "retrieval", says, has_gold_documents, partial(all_gold, depth=depth))


ALL_GOLD = tuple(map(_measure, (10, 20)))
