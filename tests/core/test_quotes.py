from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.core.quotes import best_quote, candidates, verify
from app.core.support import lexical_support
from app.core.types import DocumentRef, Passage, Quote

DOCUMENT = DocumentRef("d", "Rules", "rules.md", "0", 1)
BEFORE = "Preface. "


def passage(text: str) -> Passage:
    return Passage("c", DOCUMENT, text, len(BEFORE), len(BEFORE) + len(text))


def best(claim: str, text: str) -> Quote | None:
    one = passage(text)
    return best_quote(claim, one, [lexical_support(claim, span.text) for span in candidates(one)])


@given(st.text(alphabet="ab .。\n|1", max_size=60), st.text(alphabet="ab 1", max_size=20))
def test_a_quotation_stands_in_the_document(text: str, claim: str) -> None:
    document = BEFORE + text
    assert all(verify(span.text, span.start, span.end, document) for span in candidates(passage(text)))
    quote = best(claim, text)
    assert (quote is None) == (not text.strip())
    assert quote is None or verify(quote.text, quote.start, quote.end, document)


def test_the_shortest_that_carries_the_claim() -> None:
    text = "Leave is 24 days. Sick leave is unlimited. Lunch is free."
    quote = best("Lunch is free.", text)
    assert quote is not None
    assert quote.text == "Lunch is free."


def test_two_sentences_where_one_is_not_enough() -> None:
    text = "The Orion was launched in 1998. It carried seven scientists. Lunch is free."
    quote = best("The Orion, launched in 1998, carried seven scientists.", text)
    assert quote is not None
    assert quote.text == "The Orion was launched in 1998. It carried seven scientists."


def test_a_row_comes_with_its_header() -> None:
    quote = best("The fee of the gold plan is 30.", "plan | fee\nsilver | 20\ngold | 30")
    assert quote is not None
    assert quote.text == "plan | fee\nsilver | 20\ngold | 30"


def test_a_quotation_elsewhere_or_altered_is_not_true() -> None:
    text = "Leave is 24 days."
    assert verify("24 days", 9, 16, text)
    assert not verify("24 days", 8, 15, text)
    assert not verify("25 days", 9, 16, text)
    assert not verify("", 3, 3, text)
    assert not verify("days.", 12, 99, text)
    assert not verify(".", -1, 17, text)
