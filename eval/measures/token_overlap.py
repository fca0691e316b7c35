"""How far is the answer, token for token, a gold answer?

F1 is the harmonic mean of precision and recall of the tokens, as often as each stands there; exact match is equality of
the token lists; both take the best gold answer (Rajpurkar et al. 2016, 2018). Two texts without tokens are equal, one
without has F1 0. Tokens: `eval.measures.words`. A sentence around a short gold answer costs precision: F1 compares
runs with each other, it is no share of right answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from eval.measures.definition import Measure, has_gold_answer
from eval.measures.words import is_wide, said, tokens
from eval.types import Outcome, Question


def f1(answer: str, gold: str, *, wide: bool = False) -> float:
    """Return the token F1 of two texts in [0, 1]."""
    given, wanted = tokens(answer, wide=wide), tokens(gold, wide=wide)
    if not given or not wanted:
        return float(given == wanted)
    # 2 P R / (P + R) with P = shared / given and R = shared / wanted
    return 2 * _shared(given, wanted) / (len(given) + len(wanted))


def exact(answer: str, gold: str, *, wide: bool = False) -> float:
    """Return 1 if two texts have the same tokens in the same order, else 0."""
    return float(tokens(answer, wide=wide) == tokens(gold, wide=wide))


def token_recall(answer: str, gold: str, *, wide: bool = False) -> float:
    """Return the share of the gold tokens that the answer holds, in [0, 1]; 0 of a gold answer without tokens."""
    wanted = tokens(gold, wide=wide)
    return _shared(tokens(answer, wide=wide), wanted) / len(wanted) if wanted else 0.0


def _shared(given: Sequence[str], wanted: Sequence[str]) -> int:
    return (Counter(given) & Counter(wanted)).total()


def whole_answers(question: Question) -> tuple[str, ...]:
    """Return the gold answers; of a question with parts alone, the first wording of each, joined."""
    return question.answers or (" ".join(part[0] for part in question.parts if part),)


def _token_f1(question: Question, outcome: Outcome) -> float:
    answer = said(outcome)
    return max(f1(answer, gold, wide=is_wide(question.language, gold)) for gold in whole_answers(question))


def _exact_match(question: Question, outcome: Outcome) -> float:
    answer = said(outcome)
    return max(exact(answer, gold, wide=is_wide(question.language, gold)) for gold in whole_answers(question))


TOKEN_OVERLAP = (
    Measure(
        "token_f1", "high", "answer", "Token F1 with the nearest gold answer (SQuAD; Chinese: characters); refused: 0.",
        has_gold_answer, _token_f1,
    ),
    Measure(
        "exact_match", "high", "answer", "1 if the answer is a gold answer (SQuAD; Chinese: characters); refused: 0.",
        has_gold_answer, _exact_match,
    ),
)  # fmt: skip
