"""Which terms of a question does no passage carry? That is what is missing when we refuse."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ingest.tokenize import language, query_terms, stem, tokens

FLOOR = 0.5
"""Below this share of its terms a question is about something else, whatever single words it shares."""

_CAPITAL = re.compile(r"(?<![.?!]\s)(?<!^)\b[A-Z][A-Za-z'’-]+\b|\b[A-Z]{2,}\b")
_IDENTIFIER = re.compile(r"[A-Za-z]*\d[\w.-]*")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9.+-]*")


def missing_terms(question: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return names and numbers of the question that stand in none of the texts; where too few of its words do, those too.

    Across languages only numbers and Latin names can be judged.
    """
    held = {term for text in texts for term in tokens(text)}
    same = any(language(text) == language(question) for text in texts)
    strict = [word for word in _strict(question, same) if not set(_parts(word)) & held]
    missing = list(dict.fromkeys(strict))
    if same and coverage(question, texts) < FLOOR:
        missing += [term for term in query_terms(question) if term not in held and term not in missing]
    return tuple(missing)


def coverage(question: str, texts: Sequence[str]) -> float:
    """Return the share of the question's terms that stand in the texts, in [0, 1]."""
    terms = query_terms(question)
    held = {term for text in texts for term in tokens(text)}
    return sum(term in held for term in terms) / max(1, len(terms))


def _strict(question: str, same: bool) -> list[str]:
    found = [match.group() for match in _IDENTIFIER.finditer(question)]
    if language(question) == "en":
        return found + ([match.group() for match in _CAPITAL.finditer(question)] if same else [])
    return found + [match.group() for match in _LATIN.finditer(question) if len(match.group()) > 1]


def _parts(word: str) -> list[str]:
    return tokens(word) or [stem(word.casefold())]
