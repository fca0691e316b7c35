"""How does a model cite, and how is its text read as it comes?

It cites opaque keys, `[e7f]`: a number that it made up, or copied from a passage or an example, can then mean nothing.

Why markers are masked by blanks before a text is split: a model writes its marker before the full stop, behind it, or
with no blank between. Without the markers these are the same text, and a sentence then owns the markers behind it.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
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
_OPENING = frozenset("[【［(（")
_CLOSING = frozenset("]】］)）")
_LONGEST_MARKER = 81
"""The characters from an opening bracket on that may still become a marker: a longer one is none."""
_LONGEST_SENTENCE = 3000
"""What is longer is cut: no text makes the work for a character grow with all that came before it."""
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

    However a text is cut into pieces, the sentences are the same: an end is judged once, by the text up to the first
    letter or digit behind it that belongs to no marker. (A closing think tag alone drops what is still held.)
    """

    def __init__(self, known: frozenset[str]) -> None:
        self._known = known
        self._raw = ""
        self._thinking = False
        self._restart()

    def feed(self, piece: str) -> Iterator[Draft]:
        """Take a piece, and yield the sentences that are certainly whole: the next one has begun."""
        self._raw += piece
        self._take_visible(closed=False)
        yield from self._scan()

    def close(self) -> Iterator[Draft]:
        """Yield what is left."""
        self._take_visible(closed=True)
        yield from self._scan()
        yield from self._whole(len(self._held), closed=True)
        self._raw = ""
        self._restart()

    def _restart(self) -> None:
        """Hold nothing."""
        self._held = ""
        self._start = self._position = 0
        self._stop: int | None = None
        self._open: int | None = None

    def _scan(self) -> Iterator[Draft]:
        """Look at each new character once, and judge the ends before it where it begins something."""
        while self._position < len(self._held):
            begins = self._begins(self._held[self._position])
            self._position += 1
            if begins:
                yield from self._whole(self._position, closed=False)
                self._stop = None
        # What was given is let go once for each piece: within one, places in the text stay the same.
        self._held = self._held[self._start :]
        self._position -= self._start
        self._stop = None if self._stop is None else self._stop - self._start
        self._open = None if self._open is None else self._open - self._start
        self._start = 0

    def _begins(self, ch: str) -> bool:
        """Say whether a character, the next to look at, is text behind something that may end a sentence."""
        at = self._position
        if self._open is not None and at - self._open > _LONGEST_MARKER:
            self._open = None
        if ch in _OPENING:
            self._open = at
        elif ch in _CLOSING and self._open is not None:
            marker = _markers(self._held[self._open : at + 1], self._known)
            self._open = None
            return not marker and self._stop is not None
        elif _CAN_END.match(ch):
            self._open = None if ch == "\n" else self._open
            self._stop = at if self._stop is None else self._stop
        elif self._open is None and ch.isalnum():
            if self._stop == at - 1 and self._held[at - 1] == ".":
                self._stop = None
            return self._stop is not None
        return self._open is None and at - self._start >= _LONGEST_SENTENCE and not (ch.isascii() and ch.isalnum())

    def _whole(self, until: int, *, closed: bool) -> Iterator[Draft]:
        while self._start < until:
            text = self._held[self._start : until]
            end = _first_end(text, self._known, closed=closed)
            if end is None and len(text) > _LONGEST_SENTENCE:
                end = len(text) - 1
            if end is None:
                return
            self._start += end
            draft = parse_sentence(text[:end], self._known)
            if any(ch.isalnum() for ch in draft.text):
                yield draft

    def _take_visible(self, *, closed: bool) -> None:
        """Move what is not thought to `_held`; a tag that may still be coming waits."""
        visible, position = [], 0
        for match in _THOUGHT.finditer(self._raw):
            if not self._thinking:
                visible.append(self._raw[position : match.start()])
            if match.group(1) and not self._thinking:
                # A chat template may write the opening tag itself: then all before the closing one is thought.
                visible.clear()
                self._restart()
            self._thinking = not match.group(1)
            position = match.end()
        open_tag = -1 if closed else self._raw.rfind("<", max(position, len(self._raw) - _LONGEST_TAG))
        ready = len(self._raw) if open_tag < 0 else open_tag
        if not self._thinking:
            visible.append(self._raw[position:ready])
        self._held += "".join(visible)
        self._raw = self._raw[ready:]


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
    apart: list[tuple[int, int, list[str]]] = []
    for one in sorted(found):
        # Of two that overlap, `[(e7f1)]`, the outer one stands for both.
        if not apart or one[0] >= apart[-1][1]:
            apart.append(one)
    return apart


def _masked(text: str, known: frozenset[str]) -> tuple[str, list[tuple[int, int]]]:
    """Return the text with blanks for its markers, and where they stand."""
    spans = [(start, end) for start, end, _ in _markers(text, known)]
    pieces, position = [], 0
    for start, end in spans:
        plain = text[position:start]
        pieces += [plain, f" {_STOP if _STOPPED.search(plain) else ' '}{' ' * (end - start - 2)}"]
        position = end
    return "".join([*pieces, text[position:]]), spans


def _first_end(text: str, known: frozenset[str], *, closed: bool) -> int | None:
    """Return where the first sentence ends, the markers behind it included; None if there is no end yet."""
    masked, spans = _masked(text, known)
    line_end = _line_end(masked)
    line = masked[:line_end]
    ends = _unit_ends(line, spans)
    if len(ends) > 1 and (closed or line_end is not None or line[ends[0] :].lstrip()[:1] != "|"):
        return ends[0]
    if line_end is not None:
        return line_end
    return len(text) if closed else None


def _line_end(masked: str) -> int | None:
    """Return the end of the first line that is not merely broken; None if there is none."""
    first = len(masked) - len(masked.lstrip())
    for match in re.compile(r"\n\s*").finditer(masked, first):
        following = masked[match.end() : match.end() + 1]
        if following and ("\n" in match.group()[1:] or not following.islower()):
            return match.end()
    return None


def _unit_ends(line: str, markers: list[tuple[int, int]]) -> list[int]:
    """Return the ends of the sentences of a line; what holds no letter or digit goes with the sentence before."""
    ends: list[int] = []
    following = deque(marker for marker in markers if marker[0] < len(line))
    for start, end in sentences(line):
        while following and not line[end : following[0][0]].strip():
            end = max(end, following.popleft()[1])
        if ends and not any(ch.isalnum() for ch in line[start:end]):
            ends[-1] = end
        else:
            ends.append(end)
    return ends
