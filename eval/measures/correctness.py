"""Is the answer right?

A rule without a model, and a rough one. Its words:

- A gold answer is short if it has at most 12 tokens (SQuAD's, articles and punctuation out), or, compared by
  character, at most 20 characters. A short one is given if it stands in the answer (`eval.measures.containment`).
- A long one is given if the answer holds at least half of its tokens (token recall >= 0.5).
- An answer is right if one gold answer is given; of a question with parts, one wording of every part.
- Where all gold answers are long, or there is none, an answer is right too if it quotes a gold sentence
  (`right_sentence`).

So an answer that names the right thing among wrong ones is right, and a long answer that shares many common words with
a long gold answer may be. It is the same rule for every run that is compared.
"""

from __future__ import annotations

from eval.measures.containment import contains
from eval.measures.definition import Measure, has_gold_answer, was_answered
from eval.measures.gold_sentences import has_gold_sentences, right_sentence
from eval.measures.token_overlap import token_recall
from eval.measures.words import is_wide, said, tokens
from eval.types import Outcome, Question

SHORT_TOKENS = 12
SHORT_CHARACTERS = 20
LONG_RECALL = 0.5


def can_be_judged(question: Question) -> bool:
    """Say whether the documents answer the question and the set holds the answer, or sentences that give it."""
    return has_gold_answer(question) or has_gold_sentences(question)


def is_short(gold: str, *, wide: bool) -> bool:
    """Say whether a gold answer is short enough to stand in an answer word for word."""
    found = tokens(gold, wide=wide)
    return len("".join(found)) <= SHORT_CHARACTERS if wide else len(found) <= SHORT_TOKENS


def is_correct(question: Question, outcome: Outcome) -> bool:
    """Say whether the answer is right; a refusal is not."""
    if not outcome.answered:
        return False
    answer = said(outcome)
    wanted = question.parts or ((question.answers,) if question.answers else ())
    if wanted and all(any(_is_given(answer, gold, question.language) for gold in part) for part in wanted):
        return True
    golds = (gold for part in wanted for gold in part)
    if any(is_short(gold, wide=is_wide(question.language, gold)) for gold in golds):
        return False
    return bool(question.snippets) and right_sentence(question, outcome) == 1.0


def _is_given(answer: str, gold: str, language: str) -> bool:
    wide = is_wide(language, gold)
    if is_short(gold, wide=wide):
        return contains(answer, gold)
    return token_recall(answer, gold, wide=wide) >= LONG_RECALL


def _correct(question: Question, outcome: Outcome) -> float:
    return float(is_correct(question, outcome))


CORRECT = Measure(
    "correct", "high", "answer", "Of the answers to answerable questions, those that are right; see false_refusal too.",
    can_be_judged, _correct, given=was_answered, failed=None,
)  # fmt: skip
