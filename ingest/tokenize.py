"""Which terms does a text have? The same for what is indexed and what is asked.

NFKC, case and accents folded; Latin words lightly stemmed; identifiers whole and in parts (`cve-2024-1234`, `cve`,
`2024`, `1234`); CJK runs as bigrams, a run of one character as itself.
"""

from __future__ import annotations

import re
import unicodedata

_HAN_RANGES = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_KANA_RANGES = "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff"
"""Without the middle dot, which stands between words."""
_HANGUL_RANGES = "\uac00-\ud7af"
_CJK = _HAN_RANGES + _KANA_RANGES + _HANGUL_RANGES
_TOKEN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:[-_./:+#'][^\W_{_CJK}]+)*[+#]*", re.UNICODE)
_PART = re.compile(r"[-_./:+#']+")
_WIDE = re.compile(rf"[{_CJK}]")
_HAN = re.compile(f"[{_HAN_RANGES}]")
_KANA = re.compile(f"[{_KANA_RANGES}]")
_VOWEL = re.compile(r"[aeiouy]")
_HANGUL = re.compile(f"[{_HANGUL_RANGES}]")
_ACCENT = re.compile("[\u0300-\u036f]")
"""Marks of Latin, Greek and Cyrillic letters; those of kana and of Indic scripts make other letters and stay."""

_ENGLISH_WORDS = """a an the and or but if of in on at to for from by with about as into than then so that this these
those is are was were be been being am do does did done doing have has had having can could may might must shall should
will would what which who whom whose when where why how it its he she they them his her their our your my i you we us
me there here not no any some all each much many more most very also just only please tell explain describe give list
find say says said use used using per"""
_ENGLISH_STOP = frozenset(_ENGLISH_WORDS.split())
_CHINESE_WORDS = """的 了 是 在 有 和 与 及 或 吗 呢 吧 啊 么 什么 怎么 如何 多少 哪些 哪个 哪里 哪种 哪一
哪几 几个 几种 为什 为何 是否 可以 能否 请问 问一 一下 一个 的是 是什 是多 有什 有哪 有多 要多 么样
怎样 样的 这个 那个 什麼 怎麼 哪裡 甚麼 为多 需要 应当 应该 的时
谁的 是谁 由谁 何时 何地 各是 分别 别是 的什 少天 少元 么时 么是"""
_CHINESE_STOP = frozenset(_CHINESE_WORDS.split())


def tokens(text: str) -> list[str]:
    """Return the terms of a text in order, repeats included."""
    folded = _fold(text)
    found: list[str] = []
    for match in _TOKEN.finditer(folded):
        word = match.group()
        if _WIDE.match(word):
            found += [word] if len(word) == 1 else [word[i : i + 2] for i in range(len(word) - 1)]
            continue
        parts = [part for part in _PART.split(word) if part]
        if len(parts) > 1:
            found.append(word)
            found += [stem(part) for part in parts]
        else:
            found.append(stem(word))
    return found


def query_terms(text: str) -> list[str]:
    """Return the distinct terms that a question asks with, stop words left out unless nothing else is there."""
    distinct = list(dict.fromkeys(tokens(text)))
    kept = [term for term in distinct if term not in _STOP]
    return kept or distinct


def stem(word: str) -> str:
    """Take off an English plural, then -ing or -ed, then a final e, where three letters stay (cf. Harman 1991).

    The order makes the forms of a word meet: change, changes, changed and changing are all `chang`.
    """
    if not word.isascii() or not word.isalpha() or len(word) < 4:
        return word
    return _without_final_e(_without_ending(_singular(word)))


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


def _without_ending(word: str) -> str:
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base == word or len(base) < (4 if word.endswith("eed") else 3) or not _VOWEL.search(base):
            continue
        doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz"
        return base[:-1] if doubled else base
    return word


def _without_final_e(word: str) -> str:
    base = word.rstrip("e")
    return base if len(base) >= 3 else word


def is_cjk(character: str) -> bool:
    """Say whether a character is Han, kana or Hangul."""
    return _WIDE.match(character) is not None


def language(text: str) -> str:
    """Return `zh`, `ja`, `ko` or `en` by script: a Han character weighs as much as a short Latin word."""
    han, kana, hangul = len(_HAN.findall(text)), len(_KANA.findall(text)), len(_HANGUL.findall(text))
    latin = len(re.findall(r"[A-Za-z]+", text))
    if kana and kana * 4 > han:
        return "ja"
    if hangul > han and hangul > latin:
        return "ko"
    return "zh" if han > latin * 1.0 and han else "en"


def _fold(text: str) -> str:
    """Fold before words are looked for: a mark that case folding sets free (of `İ`) would cut its word in two."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    decomposed = unicodedata.normalize("NFD", plain)
    return unicodedata.normalize("NFC", _ACCENT.sub("", decomposed))


_STOP = frozenset(stem(word) for word in _ENGLISH_STOP) | _CHINESE_STOP
