"""How many of the gold documents are among the first k?

Recall@k = |gold documents among the first k| / |gold documents|, gold being what has a grade of 1 or more: `recall.k`
of trec_eval, `R@k` of ir-measures.
"""

from __future__ import annotations

from functools import partial

from eval.measures.definition import Measure
from eval.types import Outcome, Question


def gold_documents(question: Question) -> frozenset[str]:
    """Return the documents with a grade of 1 or more."""
    return frozenset(name for name, grade in question.grades().items() if grade >= 1)


def has_gold_documents(question: Question) -> bool:
    """Say whether there is a gold document."""
    return bool(gold_documents(question))


def recall(question: Question, outcome: Outcome, depth: int) -> float:
    """Return recall@`depth` in [0, 1]."""
    gold = gold_documents(question)
    return len(gold.intersection(outcome.ranked[:depth])) / len(gold)


def _measure(depth: int) -> Measure:
    says = f"The share of the gold documents among the first {depth} documents."
    return Measure(f"recall@{depth}", "high", "retrieval", says, has_gold_documents, partial(recall, depth=depth))


RECALL = tuple(map(_measure, (5, 10, 20)))
