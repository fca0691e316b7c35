"""Which terms of a question does no passage carry? That is what is missing when we refuse."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence, Set
from itertools import groupby

from app.core.support import numbers_agree
from ingest.tokenize import is_cjk, language, query_terms, stem, tokens

FLOOR = 0.5
"""Below this share of its words a question asks for something else than the texts say."""

FLOOR_CJK = 0.3
"""The same for terms that are pairs of characters: every second pair lies across two words."""

_CAPITAL = re.compile(r"(?<![.?!]\s)(?<!^)\b[A-Z][A-Za-z'’-]+\b|\b[A-Z]{2,}\b")
_IDENTIFIER = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)|(?:[A-Za-z]+[-_.]?)*\d[A-Za-z0-9_.-]*")
_NUMBER = re.compile(r"[\d.,]+")
_WORD = re.compile(r"[\u3400-\u9fff]+|[^\W_\u3400-\u9fff]+")
_LATIN = re.compile(r"[A-Za-z][A-Za-z0-9.+-]*")


def missing_terms(question: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return what of the question stands in none of the texts: names and numbers, and its words if most are missing.

    The words are looked at without the names: a passage about the ship is no answer to what its top speed is. Across
    languages only numbers and Latin names can be judged.
    """
    question, *texts = (unicodedata.normalize("NFKC", text) for text in (question, *texts))
    held = {term for text in texts for term in tokens(text)}
    same = any(language(text) == language(question) for text in texts)
    names = _strict(question, same)
    missing = [word for word in dict.fromkeys(names) if not _stands(word, held, texts)]
    named = {part for word in names for part in _parts(word)}
    words = [term for term in query_terms(question) if term not in named]
    absent = [term for term in words if term not in held]
    if same and words and len(words) - len(absent) < FLOOR * len(words):
        missing += _as_asked(question, absent)
    return tuple(dict.fromkeys(missing))


def speaks_to(question: str, text: str) -> bool:
    """Say whether a text holds enough of what a question asks with, its names aside.

    A sentence about the ship does not answer what its top speed is. True where it cannot be judged: across languages,
    or where the question has nothing but names.
    """
    if language(question) != language(text):
        return True
    named = {part for word in _strict(question, same=True) for part in _parts(word)}
    words = [term for term in query_terms(question) if term not in named]
    held = set(tokens(text))
    floor = FLOOR if language(question) == "en" else FLOOR_CJK
    return sum(term in held for term in words) >= floor * len(words)


def coverage(question: str, texts: Sequence[str]) -> float:
    """Return the share of the question's terms that stand in the texts, in [0, 1]."""
    terms = query_terms(question)
    held = {term for text in texts for term in tokens(text)}
    return sum(term in held for term in terms) / max(1, len(terms))


def _strict(question: str, same: bool) -> list[str]:
    found = [match.group().rstrip(".-_") for match in _IDENTIFIER.finditer(question)]
    if language(question) != "en":
        names = [match.group() for match in _LATIN.finditer(question) if len(match.group()) > 1]
    else:
        names = [match.group() for match in _CAPITAL.finditer(question)] if same else []
    return found + [name for name in names if not any(name in identifier for identifier in found)]


def _stands(word: str, held: Set[str], texts: Sequence[str]) -> bool:
    """Say whether a number stands in a text in either way of writing it, an identifier whole, or a part of a name."""
    if _NUMBER.fullmatch(word):
        as_written = re.compile(rf"(?<!\d){re.escape(word)}(?!\d)")
        return any(numbers_agree(word, text) or as_written.search(text) for text in texts)
    whole, *parts = _parts(word)
    if whole in held or any(word.casefold() in text.casefold() for text in texts):
        return True
    if not any(ch.isdigit() for ch in word):
        return not held.isdisjoint(parts)
    return bool(parts) and all(part in held for part in parts)


def _as_asked(question: str, absent: Sequence[str]) -> list[str]:
    """Return absent terms in the question's own words: stems as the words they came from, CJK pairs joined again."""
    words = [word for word in _WORD.findall(question) if not set(tokens(word)).isdisjoint(absent)]
    found: list[str] = []
    for word in words:
        if not is_cjk(word[0]):
            found.append(word)
            continue
        kept = [word[i : i + 2] in absent for i in range(len(word) - 1)] or [True]
        covered = [any(kept[max(0, i - 1) : i + 1]) for i in range(len(word))]
        found += [
            "".join(ch for ch, _ in run) for keep, run in groupby(zip(word, covered, strict=True), _second) if keep
        ]
    return found


def _second(pair: tuple[str, bool]) -> bool:
    return pair[1]


def _parts(word: str) -> list[str]:
    return tokens(word) or [stem(word.casefold())]
