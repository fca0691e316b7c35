"""How does a model cite, and how is its text read as it comes?

It cites opaque keys, `[e7f]`: a number that it made up, or copied from a passage or an example, can then mean nothing.

Why markers are masked by blanks before a text is split: a model writes its marker before the full stop, behind it, or
with no blank between. Without the markers these are the same text, and a sentence then owns the markers behind it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from app.core.escape import unescape
from app.core.sentences import sentences
from app.core.types import Draft

_KEY = r"e[a-z0-9]{3,8}"
_NUMBER = r"\^?\d{1,3}"
_BRACKETS = re.compile(r"[\[【［]([^\[\]【】［］\n]{1,80})[\]】］]")
_IN_PARENTHESES = re.compile(r"[(（]([^()（）\n]{1,80})[)）]")
_BETWEEN = r"(?:\s*(?:[,;，、；&]|\band\b|和)\s*|\s+)"
_KEYS_ONLY = re.compile(rf"\s*{_KEY}(?:{_BETWEEN}{_KEY})*\s*", re.IGNORECASE)
_NUMBERS_ONLY = re.compile(rf"\s*{_NUMBER}(?:\s*[,;，、–-]\s*{_NUMBER})*\s*")
_WORD = re.compile(r"\w+")
_UNCLOSED = re.compile(r"[\[【［(（][^\[\]【】［］()（）\n]{0,80}\Z")
"""What may still become a marker: a longer one is none."""
_WINDOW = 2000
"""A sentence is looked for in so many characters first: a reply may come in one piece."""
_THOUGHT = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_LONGEST_TAG = len("</thinking>")
_STOPPED = re.compile(r"[.!?][ \t]*\Z")
_STOP = "\x01"
"""Stands for a marker behind a full stop, which ends a sentence even if the next begins with a small letter."""
_CAN_END = re.compile(r"[.!?。！？；…\n]")


def make_keys(count: int, seed: str) -> list[str]:
    """Return `count` keys that differ from each other; the same seed (a run's id) gives the same keys."""
    keys: dict[str, None] = {}
    number = 0
    while len(keys) < count:
        digest = hashlib.blake2b(f"{seed}/{number}".encode(), digest_size=8).hexdigest()
        keys[f"e{digest[:4]}"] = None
        number += 1
    return list(keys)


def parse_sentence(text: str, known: frozenset[str]) -> Draft:
    """Take the markers off a sentence: known keys are its citations; unknown ones and bare numbers are dropped."""
    keys: dict[str, None] = {}
    dropped: dict[str, None] = {}
    plain, position = [], 0
    for start, end, words in _markers(text, known):
        plain.append(text[position:start].rstrip() if text[position:start].strip() else text[position:start])
        position = end
        for word in words:
            (keys if word.lower() in known else dropped)[word.lower()] = None
    plain.append(text[position:])
    clean = re.sub(r"\s+([.。!?！？,，;；])", r"\1", "".join(plain)) if position else text
    # A second full stop stays where a model put one before its marker and one behind.
    clean = re.sub(r"(?<![.。])([.。])[.。]\s*$", r"\1", clean) if position else clean
    return Draft(unescape(clean).strip(), tuple(keys), tuple(dropped))


class SentenceStream:
    """Feeds on pieces of text and gives whole sentences; think text is swallowed, closed or not.

    However a text is cut into pieces, the sentences are the same: one is given when no more text can change it.
    """

    def __init__(self, known: frozenset[str]) -> None:
        self._known = known
        self._raw = ""
        self._held = ""
        self._thinking = False

    def feed(self, piece: str) -> Iterator[Draft]:
        """Take a piece, and yield the sentences that are certainly whole: the next one has begun."""
        self._raw += piece
        self._take_visible(closed=False)
        yield from self._whole(closed=False)

    def close(self) -> Iterator[Draft]:
        """Yield what is left."""
        self._take_visible(closed=True)
        yield from self._whole(closed=True)
        self._raw = self._held = ""

    def _whole(self, *, closed: bool) -> Iterator[Draft]:
        while self._held and (closed or _CAN_END.search(self._held)):
            end = None
            if len(self._held) > _WINDOW:
                end = _first_end(self._held[:_WINDOW], self._known, closed=False)
            if end is None:
                end = _first_end(self._held, self._known, closed=closed)
            if end is None:
                return
            draft = parse_sentence(self._held[:end], self._known)
            self._held = self._held[end:]
            if any(ch.isalnum() for ch in draft.text):
                yield draft

    def _take_visible(self, *, closed: bool) -> None:
        """Move what is not thought to `_held`; a tag that may still be coming waits."""
        while match := _THOUGHT.search(self._raw):
            before, self._raw = self._raw[: match.start()], self._raw[match.end() :]
            if match.group(1):
                # A chat template may write the opening tag itself: then all before the closing one is thought.
                self._held = self._held if self._thinking else ""
            elif not self._thinking:
                self._held += before
            self._thinking = not match.group(1)
        open_tag = -1 if closed else self._raw.rfind("<", -_LONGEST_TAG)
        ready = self._raw if open_tag < 0 else self._raw[:open_tag]
        self._raw = self._raw[len(ready) :]
        if not self._thinking:
            self._held += ready


def _markers(text: str, known: frozenset[str]) -> list[tuple[int, int, list[str]]]:
    """Return the markers of a text: their spans, and the keys or numbers that each holds."""
    found = []
    for match in _BRACKETS.finditer(text):
        inner = match.group(1)
        words = _WORD.findall(inner)
        ours = [word for word in words if word.lower() in known]
        if ours and not _KEYS_ONLY.fullmatch(inner) and not _CAN_END.search(inner):
            found.append((*match.span(), ours))
        elif _KEYS_ONLY.fullmatch(inner):
            found.append((*match.span(), [word for word in words if re.fullmatch(_KEY, word, re.IGNORECASE)]))
        elif _NUMBERS_ONLY.fullmatch(inner):
            found.append((*match.span(), words))
    for match in _IN_PARENTHESES.finditer(text):
        words = _WORD.findall(match.group(1))
        if words and all(word.lower() in known for word in words):
            found.append((*match.span(), words))
    return sorted(found)


def _masked(text: str, known: frozenset[str]) -> tuple[str, list[tuple[int, int]]]:
    """Return the text with blanks for its markers, and where they stand."""
    spans = [(start, end) for start, end, _ in _markers(text, known)]
    for start, end in spans:
        stop = _STOP if _STOPPED.search(text, 0, start) else " "
        text = f"{text[:start]} {stop}{' ' * (end - start - 2)}{text[end:]}"
    return text, spans


def _first_end(text: str, known: frozenset[str], *, closed: bool) -> int | None:
    """Return where the first sentence ends, the markers behind it included; None if more text could move it."""
    masked, spans = _masked(text, known)
    line_end = _line_end(masked)
    line = masked if line_end is None else masked[:line_end]
    ends = _unit_ends(line, spans)
    if len(ends) > 1 and (closed or line_end is not None or _has_begun(line[ends[0] :])):
        return ends[0]
    if line_end is not None:
        return line_end
    return len(text) if closed else None


def _line_end(masked: str) -> int | None:
    """Return the end of the first line that is not merely broken; None if that cannot be said yet."""
    for match in re.finditer(r"\n\s*", masked):
        if not masked[: match.start()].strip():
            continue
        following = masked[match.end() : match.end() + 1]
        if not following or _UNCLOSED.match(masked, match.end()):
            return None
        if "\n" in match.group()[1:] or not following.islower():
            return match.end()
    return None


def _unit_ends(line: str, markers: list[tuple[int, int]]) -> list[int]:
    """Return the ends of the sentences of a line; what holds no letter or digit goes with the sentence before."""
    ends: list[int] = []
    for start, end in sentences(line):
        while marker := next((stop for begin, stop in markers if begin >= end and not line[end:begin].strip()), None):
            end = marker
        if ends and not any(ch.isalnum() for ch in line[start:end]):
            ends[-1] = end
        else:
            ends.append(end)
    return ends


def _has_begun(rest: str) -> bool:
    """Say whether the rest of an unfinished line is surely a sentence of its own, and not a marker still to come."""
    begun = _UNCLOSED.sub("", rest).lstrip()
    return begun[:1] != "|" and any(ch.isalnum() for ch in begun)
