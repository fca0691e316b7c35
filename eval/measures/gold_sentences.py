"""Does the answer quote the sentences that hold the answer?

A quotation hits a gold sentence if, white space, case and width (NFKC) aside, one contains the other, or their longest
common run has at least half of the shorter one and 20 characters (10 of Chinese, Japanese or Korean). Two things are
stricter than these words. What is shorter than that many characters, such as the cell of a table, must stand in the
other as a run of whole tokens: 45 is not in 1450. And where gold documents are named, only quotations from these count:
a sentence that is alike elsewhere is not the evidence.
"""

from __future__ import annotations

import unicodedata
from difflib import SequenceMatcher

from eval.measures.containment import contains
from eval.measures.definition import Measure
from eval.measures.recall import gold_documents
from eval.types import Outcome, Question
from ingest.tokenize import language

LEAST = 20
LEAST_WIDE = 10
LEAST_SHARE = 0.5


def has_gold_sentences(question: Question) -> bool:
    """Say whether the documents answer the question and the set holds the sentences."""
    return question.answerable and bool(question.snippets)


def hits(quote: str, snippet: str) -> bool:
    """Say whether a quotation is, holds or mostly shares a gold sentence."""
    shorter, longer = sorted((_squeezed(quote), _squeezed(snippet)), key=len)
    least = LEAST if language(shorter) == "en" else LEAST_WIDE
    if len(shorter) < least:
        return contains(quote, snippet) or contains(snippet, quote)
    if shorter in longer:
        return True
    run = SequenceMatcher(None, shorter, longer, autojunk=False).find_longest_match()
    return run.size >= max(least, LEAST_SHARE * len(shorter))


def _squeezed(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def _hit(question: Question, outcome: Outcome) -> list[bool]:
    """Say of each gold sentence whether the answer quotes it; a refusal quotes none."""
    gold = gold_documents(question)
    cited = outcome.cited if outcome.answered else ()
    quotes = [one.quote for one in cited if not gold or one.document in gold]
    return [any(hits(quote, snippet) for quote in quotes) for snippet in question.snippets]


def right_sentence(question: Question, outcome: Outcome) -> float:
    """Return 1 if a gold sentence is quoted, else 0."""
    return float(any(_hit(question, outcome)))


def gold_sentence_recall(question: Question, outcome: Outcome) -> float:
    """Return the share of the gold sentences that are quoted, in [0, 1]."""
    return sum(_hit(question, outcome)) / len(question.snippets)


GOLD_SENTENCES = (
    Measure(
        "right_sentence", "high", "answer", "1 if a quotation is, holds or mostly shares a gold sentence; refused: 0.",
        has_gold_sentences, right_sentence,
    ),
    Measure(
        "gold_sentence_recall", "high", "answer", "The share of the gold sentences that are quoted; refused: 0.",
        has_gold_sentences, gold_sentence_recall,
    ),
)  # fmt: skip
