"""Of which tokens does an answer consist, when it is compared with a gold answer?

Texts in words go by SQuAD's official `evaluate-v2.0.py` (Rajpurkar et al. 2018): lower case, ASCII punctuation taken
out, the articles a, an and the taken out, split at white space. Chinese and Japanese go by MLQA's mixed segmentation
(Lewis et al. 2020, after CMRC 2018), here after NFKC: lower case, all Unicode punctuation taken out, every CJK
character a token, what is between them split at white space.
"""

from __future__ import annotations

import re
import string
import unicodedata

from eval.types import Outcome

WIDE = "\u3005\u3007\u3040-\u30fa\u30fc-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
"""For a class of a regular expression: Han, kana, Hangul; without the middle dot, which stands between words."""
ARTICLES = frozenset({"a", "an", "the"})
_WIDE = re.compile(f"[{WIDE}]")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_MARKER = re.compile(r"\[\d+\]")
_ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)


def said(outcome: Outcome) -> str:
    """Return the answer without its citation markers, `[1]`, which are no part of what it says; nothing if refused."""
    return _MARKER.sub("", outcome.answer) if outcome.answered else ""


def is_wide(language: str, gold: str) -> bool:
    """Say whether an answer is compared by characters: by the question's language, or the script of the gold."""
    return language.split("-")[0] in {"zh", "ja"} or _WIDE.search(gold) is not None


def tokens(text: str, *, wide: bool) -> list[str]:
    """Return the tokens of a text, by characters if `wide`, else by SQuAD's words."""
    if wide:
        lowered = unicodedata.normalize("NFKC", text).lower()
        return _WIDE.sub(lambda match: f" {match.group()} ", "".join(filter(_stays, lowered))).split()
    return _ARTICLE.sub(" ", text.lower().translate(_ASCII_PUNCTUATION)).split()


def _stays(character: str) -> bool:
    return character not in string.punctuation and not unicodedata.category(character).startswith("P")
