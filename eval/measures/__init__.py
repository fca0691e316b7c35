"""Which measures are there, and what are their values for the questions of a run?

What counts for a question without a result, which is one without an outcome, with an error, or without an answer where
the others have one:

- 0 for every measure where high is better: the mean falls, the question does not vanish;
- 1 for `false_refusal`: whoever asked got nothing, though the documents hold the answer;
- nothing for `false_answer`: there is no false answer, and a 0 would reward a crash. The question is left out, so that
  the mean is over fewer questions and a paired comparison does not hold it; `useful` counts it as 0;
- nothing for costs, and for what only an answer has (`correct` and the shares of its quotations and citations), where
  a refusal has no value either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval.errors import EvalError
from eval.judge import DeterministicJudge, Judge
from eval.measures.all_gold import ALL_GOLD
from eval.measures.attribution import attribution
from eval.measures.containment import ANSWER_CONTAINS
from eval.measures.correctness import CORRECT
from eval.measures.cost import COSTS
from eval.measures.decisions import DECISIONS
from eval.measures.definition import Measure
from eval.measures.gold_sentences import GOLD_SENTENCES
from eval.measures.ndcg import NDCG
from eval.measures.quotations import QUOTATIONS
from eval.measures.recall import RECALL
from eval.measures.reciprocal_rank import RECIPROCAL_RANK
from eval.measures.token_overlap import TOKEN_OVERLAP
from eval.types import Outcome, Question

__all__ = ["MEASURES", "Measure", "known", "measure", "registry"]


def registry(judge: Judge) -> dict[str, Measure]:
    """Return every measure by name; `judge` decides whether a cited passage carries a claim."""
    every = (
        *RECALL, NDCG, *RECIPROCAL_RANK, *ALL_GOLD, *DECISIONS, CORRECT, ANSWER_CONTAINS, *TOKEN_OVERLAP, *QUOTATIONS,
        *GOLD_SENTENCES, *attribution(judge), *COSTS,
    )  # fmt: skip
    return {one.name: one for one in every}


MEASURES: Mapping[str, Measure] = registry(DeterministicJudge())


def known(names: Sequence[str]) -> list[str]:
    """Return the names of measures as given. Raises EvalError for one that is none."""
    for name in names:
        if name not in MEASURES:
            raise EvalError(f"There is no measure {name!r}: give some of {', '.join(MEASURES)}.")
    return list(names)


def measure(
    questions: Sequence[Question],
    outcomes: Mapping[str, Outcome],
    names: Sequence[str] | None = None,
    measures: Mapping[str, Measure] = MEASURES,
) -> dict[str, dict[str, float]]:
    """Return the value of each measure (all, or those named) for each question that it has one for, by question id.

    A measure that no question has a value for is there and empty: so are the measures of answers if the run asked for
    none. Raises EvalError for an unknown name.
    """
    answers = _asks_for_answers(outcomes)
    found: dict[str, dict[str, float]] = {}
    for name in known(names) if names is not None else list(measures):
        one = measures[name]
        wanted = answers or one.needs == "retrieval"
        found[name] = _values(one, questions, outcomes) if wanted else {}
    return found


def _asks_for_answers(outcomes: Mapping[str, Outcome]) -> bool:
    """Say whether answers were asked for; where nothing came of any question, take it that they were."""
    came = [one.answered for one in outcomes.values() if one.error is None]
    return not came or any(answered is not None for answered in came)


def _values(one: Measure, questions: Sequence[Question], outcomes: Mapping[str, Outcome]) -> dict[str, float]:
    values = ((question.id, _value(one, question, outcomes.get(question.id))) for question in questions)
    return {key: value for key, value in values if value is not None}


def _value(one: Measure, question: Question, outcome: Outcome | None) -> float | None:
    if not one.applies(question):
        return None
    if outcome is None or outcome.error is not None or (one.needs == "answer" and outcome.answered is None):
        return one.failed
    return one.value(question, outcome) if one.given(outcome) else None
