"""Did it answer where there is an answer, and refuse where there is none?

`false_answer` and `false_refusal` are each won by a program that always does the same; beside each other, and in
`useful`, it loses: refusing everything is of use on no answerable question, answering everything on no unanswerable
one. `useful` = answered and right (`eval.measures.correctness`) where there is an answer, refused where there is none.
"""

from __future__ import annotations

from eval.measures.correctness import can_be_judged, is_correct
from eval.measures.definition import Measure, every_question
from eval.types import Outcome, Question


def _is_answerable(question: Question) -> bool:
    return question.answerable


def _is_unanswerable(question: Question) -> bool:
    return not question.answerable


def _answers(question: Question, outcome: Outcome) -> float:
    return float(outcome.answered is True)


def _refuses(question: Question, outcome: Outcome) -> float:
    return float(outcome.answered is False)


def _answered_correct(question: Question, outcome: Outcome) -> float | None:
    """Return 0 for a refusal, whether or not the set holds the answer; None for an answer that cannot be judged."""
    if outcome.answered and not can_be_judged(question):
        return None
    return float(is_correct(question, outcome))


def useful(question: Question, outcome: Outcome) -> float | None:
    """Return 1 for a right answer to an answerable question and for the refusal of another, else 0.

    None for an answer to an answerable question whose gold the set does not hold.
    """
    return _answered_correct(question, outcome) if question.answerable else _refuses(question, outcome)


DECISIONS = (
    Measure(
        "answered_correct", "high", "answer", "Of the answerable questions, those answered and answered right.",
        _is_answerable, _answered_correct,
    ),
    Measure(
        "false_refusal", "low", "answer", "Of the answerable questions, those refused, or left without a result.",
        _is_answerable, _refuses, failed=1.0,
    ),
    Measure(
        "false_answer", "low", "answer", "Of the unanswerable questions, those answered.",
        _is_unanswerable, _answers, failed=None,
    ),
    Measure(
        "useful", "high", "answer", "Of all questions, those answered right where there is an answer, else refused.",
        every_question, useful,
    ),
)  # fmt: skip
