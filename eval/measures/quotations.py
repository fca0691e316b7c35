"""Do the quotations of an answer stand where they are said to stand, and in the right documents and pages?

Shares of the quotations of one answer; a refusal has none, so it has no value here, and `right_sentence`, which counts
it as 0, says what refusing costs. An answer to an answerable question that quotes nothing has 0 from gold documents
and pages, and no value for `quotation_verified`: nothing was claimed to stand anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.measures.definition import Measure, every_question, was_answered
from eval.measures.recall import gold_documents
from eval.types import Outcome, Question


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


def _quotes(outcome: Outcome) -> bool:
    return was_answered(outcome) and bool(outcome.cited)


def _answer_has_documents(question: Question) -> bool:
    return question.answerable and bool(gold_documents(question))


def _answer_has_pages(question: Question) -> bool:
    return question.answerable and bool(question.pages)


def verified(question: Question, outcome: Outcome) -> float:
    """Return the share of the quotations that stand in the stored text, in [0, 1]."""
    return _share([one.verified for one in outcome.cited])


def right_document(question: Question, outcome: Outcome) -> float:
    """Return the share of the quotations that come from gold documents, in [0, 1]; 0 without quotations."""
    gold = gold_documents(question)
    return _share([one.document in gold for one in outcome.cited])


def any_right_document(question: Question, outcome: Outcome) -> float:
    """Return 1 if a quotation of the answer comes from a gold document, else 0."""
    return float(was_answered(outcome) and right_document(question, outcome) > 0)


def right_page(question: Question, outcome: Outcome) -> float:
    """Return the share on a gold page of the quotations from documents with gold pages; 0 if there is none."""
    paged = {document for document, _ in question.pages}
    found = [(one.document, one.page) in question.pages for one in outcome.cited if one.document in paged]
    return _share(found)


QUOTATIONS = (
    Measure(
        "quotation_verified", "high", "answer", "Of an answer's quotations, those that stand in the stored text.",
        every_question, verified, given=_quotes, failed=None,
    ),
    Measure(
        "right_document", "high", "answer", "Of an answer's quotations, those from gold documents.",
        _answer_has_documents, right_document, given=was_answered, failed=None,
    ),
    Measure(
        "any_right_document", "high", "answer", "1 if a quotation comes from a gold document; refused: 0.",
        _answer_has_documents, any_right_document,
    ),
    Measure(
        "right_page", "high", "answer", "Of an answer's quotations from documents with gold pages, those on one.",
        _answer_has_pages, right_page, given=was_answered, failed=None,
    ),
)  # fmt: skip
