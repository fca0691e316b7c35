"""What is a measure?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from eval.types import Outcome, Question


def every_question(question: Question) -> bool:
    """Say of any question that the measure applies to it."""
    return True


def always(outcome: Outcome) -> bool:
    """Say of any outcome that the measure has a value for it."""
    return True


def was_answered(outcome: Outcome) -> bool:
    """Say whether there is an answer."""
    return outcome.answered is True


def has_gold_answer(question: Question) -> bool:
    """Say whether the documents answer the question and the set holds the answer."""
    return question.answerable and bool(question.answers or question.parts)


@dataclass(frozen=True, slots=True)
class Measure:
    """A number for a question and what came of it.

    `says` is one sentence for the reader. `applies` asks about the question alone, `given` about an outcome without
    error: a measure of quotations, say, has no value for a refusal. `failed` is what counts for a question with no
    result, None where such a question is left out. `value` is in [0, 1], save for costs (calls, tokens, seconds); None
    where it cannot be told.
    """

    name: str
    better: Literal["high", "low"]
    needs: Literal["retrieval", "answer"]
    says: str
    applies: Callable[[Question], bool]
    value: Callable[[Question, Outcome], float | None]
    given: Callable[[Outcome], bool] = always
    failed: float | None = 0.0
