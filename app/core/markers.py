"""How does a model cite, and how is its text read as it comes?

It cites opaque keys, `[e7f]`: a number that it made up, or copied from a passage or an example, can then mean nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from app.core.sentences import sentences
from app.core.types import Draft

_KEY = r"e[a-z0-9]{3,8}"
_BRACKETS = re.compile(r"\s*[\[【［]\s*([^\[\]【】［］]{1,80}?)\s*[\]】］]")
_KEYS_ONLY = re.compile(rf"{_KEY}(?:\s*[,;，、]\s*{_KEY})*")
_NUMBERS_ONLY = re.compile(r"\^?\d{1,3}(?:\s*[,;，、–-]\s*\d{1,3})*")
_LEADING_MARKERS = re.compile(
    rf"(?:\s*[.。]?\s*[\[【［]\s*(?:{_KEY}|[\d,\s]+)(?:\s*[,;，、]\s*{_KEY})*\s*[\]】］])+[.。]?"
)
_OPEN, _CLOSE = "<think>", "</think>"


def make_keys(count: int, seed: str) -> list[str]:
    """Return `count` keys that differ from each other; the same seed (a run's id) gives the same keys."""
    keys: list[str] = []
    number = 0
    while len(keys) < count:
        digest = hashlib.blake2b(f"{seed}/{number}".encode(), digest_size=8).hexdigest()
        key = f"e{digest[:4]}"
        if key not in keys:
            keys.append(key)
        number += 1
    return keys


def parse_sentence(text: str, known: frozenset[str]) -> Draft:
    """Take the markers off a sentence: known keys are its citations; unknown ones and bare numbers go."""
    keys: list[str] = []

    def take(match: re.Match[str]) -> str:
        inner = match.group(1)
        if _KEYS_ONLY.fullmatch(inner):
            keys.extend(key for key in re.findall(_KEY, inner) if key in known and key not in keys)
            return ""
        return "" if _NUMBERS_ONLY.fullmatch(inner) else match.group()

    plain = _BRACKETS.sub(take, text)
    return Draft(re.sub(r"\s+([.。!?！？,，;；])", r"\1", plain).strip(), tuple(keys))


class SentenceStream:
    """Feeds on pieces of text and gives whole sentences; think text is swallowed, closed or not."""

    def __init__(self, known: frozenset[str]) -> None:
        self._known = known
        self._held = ""
        self._thinking = False

    def feed(self, piece: str) -> Iterator[Draft]:
        """Take a piece, and yield the sentences that are certainly whole: the next one has begun."""
        self._held += piece
        self._drop_thought()
        if self._thinking:
            return
        safe = self._held
        if "<" in safe[-len(_OPEN) :]:
            safe = safe[: safe.rfind("<")]
        units = _units(safe)
        for _, end in units[:-1]:
            yield from self._emit(safe[:end])
            break
        else:
            return
        consumed = units[0][1]
        self._held = self._held[consumed:]
        yield from self.feed("")

    def close(self) -> Iterator[Draft]:
        """Yield what is left."""
        self._drop_thought()
        rest = "" if self._thinking else self._held
        self._held = ""
        for start, end in _units(rest):
            yield from self._emit(rest[start:end])

    def _emit(self, text: str) -> Iterator[Draft]:
        draft = parse_sentence(text, self._known)
        if any(ch.isalnum() for ch in draft.text):
            yield draft

    def _drop_thought(self) -> None:
        while True:
            if self._thinking:
                end = self._held.lower().find(_CLOSE)
                if end < 0:
                    self._held = self._held[-len(_CLOSE) :]
                    return
                self._held, self._thinking = self._held[end + len(_CLOSE) :], False
            start = self._held.lower().find(_OPEN)
            if start < 0:
                return
            before = self._held[:start]
            end = self._held.lower().find(_CLOSE, start)
            if end >= 0:
                self._held = before + self._held[end + len(_CLOSE) :]
                continue
            if before.strip():
                return
            self._held, self._thinking = self._held[start + len(_OPEN) :], True


def _units(text: str) -> list[tuple[int, int]]:
    """Return the sentences of a reply; markers after a full stop belong to the sentence before."""
    spans = sentences(text)
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined:
            first, last = joined[-1]
            lead = _LEADING_MARKERS.match(text, last, end)
            if lead is not None:
                joined[-1] = (first, lead.end())
                start = lead.end()
                if not text[start:end].strip():
                    continue
        joined.append((start, end))
    return joined
