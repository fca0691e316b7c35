"""What did a question cost?

Calls of a model, tokens in and out, searches, and seconds of wall time, which a shared machine makes noisy. A question
without a result has no cost here: a crash is not cheap.
"""

from __future__ import annotations

from eval.measures.definition import Measure, every_question
from eval.types import Outcome, Question


def _llm_calls(question: Question, outcome: Outcome) -> float:
    return float(outcome.llm_calls)


def _tokens(question: Question, outcome: Outcome) -> float:
    return float(outcome.tokens_in + outcome.tokens_out)


def _seconds(question: Question, outcome: Outcome) -> float:
    return outcome.seconds


def _searches(question: Question, outcome: Outcome) -> float:
    return float(outcome.searches)


COSTS = (
    Measure("llm_calls", "low", "answer", "Calls of a model.", every_question, _llm_calls, failed=None),
    Measure("tokens", "low", "answer", "Tokens that a model read and wrote.", every_question, _tokens, failed=None),
    Measure("searches", "low", "answer", "Searches made for an answer.", every_question, _searches, failed=None),
    Measure("seconds", "low", "retrieval", "Seconds of wall time.", every_question, _seconds, failed=None),
)
