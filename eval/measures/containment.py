"""Does a gold answer stand in the answer?

As a run of whole tokens, so that 24 is not found in 2024, 3.24 or 24:30, nor 三天 in 十三天. Both texts are folded
first: NFKC, lower case, thousands separators taken out (80,000 is 80000), the dots of U.S. too; articles and
punctuation do not count, unless the gold answer is nothing else. A CJK character is a token, and so is a word or a
number with its decimals. Weakness: a gold answer `no` or `one` stands in many a text that does not answer.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from eval.measures.definition import Measure, has_gold_answer
from eval.measures.words import ARTICLES, WIDE, said
from eval.types import Outcome, Question

_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?!\d)")
_INITIALS = re.compile(r"(?<!\w)[^\W\d_](?:\.[^\W\d_])+(?!\w)\.?")
_PLAIN = rf"[^\W_{WIDE}]"
_TOKEN = re.compile(rf"[{WIDE}]|{_PLAIN}+(?:(?<=\d)[.:](?=\d){_PLAIN}+)*")
_CJK_NUMERALS = frozenset("零〇一二两三四五六七八九十百千万亿")


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    start: int
    end: int


def contains(answer: str, gold: str) -> bool:
    """Say whether the gold answer stands in the answer as a run of whole tokens; one without tokens stands nowhere."""
    given, wanted = _tokens(answer), _tokens(gold)
    if bare := _without_articles(wanted):
        given, wanted = _without_articles(given), bare
    texts, run = [one.text for one in given], [one.text for one in wanted]
    starts = (start for start in range(len(given) - len(run) + 1) if texts[start : start + len(run)] == run)
    return bool(run) and any(_is_whole(given, start, start + len(run)) for start in starts)


def _tokens(text: str) -> list[_Token]:
    folded = unicodedata.normalize("NFKC", text).lower()
    folded = _THOUSANDS.sub(lambda match: match.group().replace(",", ""), folded)
    folded = _INITIALS.sub(lambda match: match.group().replace(".", ""), folded)
    return [_Token(match.group(), *match.span()) for match in _TOKEN.finditer(folded)]


def _without_articles(found: list[_Token]) -> list[_Token]:
    return [one for one in found if one.text not in ARTICLES]


def _is_whole(given: list[_Token], start: int, end: int) -> bool:
    """Say whether no number goes on over an edge of the run, as 三 in 十三 and 3 in 3万 do."""
    before = start > 0 and _one_number(given[start - 1], given[start])
    after = end < len(given) and _one_number(given[end - 1], given[end])
    return not before and not after


def _one_number(left: _Token, right: _Token) -> bool:
    return left.end == right.start and _is_numeral(left.text[-1]) and _is_numeral(right.text[0])


def _is_numeral(character: str) -> bool:
    return character.isdigit() or character in _CJK_NUMERALS


def answer_contains(question: Question, outcome: Outcome) -> float:
    """Return 1 if a gold answer stands in the answer, or of each part one; else 0."""
    answer = said(outcome)
    wanted = question.parts or (question.answers,)
    return float(all(any(contains(answer, gold) for gold in part) for part in wanted))


ANSWER_CONTAINS = Measure(
    "answer_contains", "high", "answer",
    "1 if a gold answer, or one wording of each of its parts, stands in the answer; refused: 0.",
    has_gold_answer, answer_contains,
)  # fmt: skip
