"""How high do the gold documents stand, the more relevant ones first?

nDCG@k = DCG@k / the DCG@k of the best order; DCG@k = the sum over the first k ranks r of grade / log2(r + 1). The gain
is the grade itself, not 2^grade - 1: Järvelin and Kekäläinen 2002 in the form of trec_eval's `ndcg_cut`, which
ir-measures gives as `nDCG@k`.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import log2

from eval.measures.definition import Measure
from eval.measures.recall import has_gold_documents
from eval.types import Outcome, Question

DEPTH = 10


def ndcg(question: Question, outcome: Outcome) -> float:
    """Return nDCG@10 in [0, 1]."""
    grades = {name: max(grade, 0) for name, grade in question.grades().items()}
    best = sorted(grades.values(), reverse=True)[:DEPTH]
    return _discounted(grades.get(name, 0) for name in outcome.ranked[:DEPTH]) / _discounted(best)


def _discounted(gains: Iterable[int]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


NDCG = Measure(
    "ndcg@10", "high", "retrieval", "Graded relevance of the first 10 documents, discounted by rank (trec_eval form).",
    has_gold_documents, ndcg,
)  # fmt: skip
