"""Which parts of a Markdown text does nobody see? Its HTML comments and tags; what stands between the tags stays."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

_NAMES = (
    "a|abbr|address|article|aside|audio|b|big|blockquote|body|br|button|caption|center|cite|code|col|colgroup|dd|del|"
    "details|dfn|div|dl|dt|em|embed|figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i|iframe|img|input|"
    "ins|kbd|label|li|link|main|mark|meta|nav|object|ol|optgroup|option|p|param|picture|pre|q|rp|rt|ruby|s|samp|"
    "section|select|small|source|span|strike|strong|sub|summary|sup|svg|table|tbody|td|textarea|tfoot|th|thead|time|"
    "title|tr|track|tt|u|ul|var|video|wbr"
)
_ATTRIBUTES = r"(?:[^<>\"']|\"[^\"<]*+\"|'[^'<]*+')*+"
_PIECE = (
    r"<!--(?:(?!-->).)*+(?:-->|\Z)|<(?:script|style)\b(?:(?!<script|<style|</script|</style).)*+</(?:script|style)\s*+>"
    rf"|</?(?:{_NAMES})(?=[\s/>]){_ATTRIBUTES}>"
)
_HTML = re.compile(_PIECE, re.DOTALL | re.IGNORECASE)
_HTML_OR_LINE = re.compile(rf"^[ \t]*+(?:(?:{_PIECE})[ \t]*+)++\n|{_PIECE}", re.DOTALL | re.IGNORECASE | re.MULTILINE)
"""A line with nothing but tags goes as a whole."""
_PARTS_WORDS = re.compile(r"</?(?:br|dd|div|dt|h\d|hr|img|li|option|p|td|th|tr)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Removals:
    """Pieces `(start, end, replacement)` of a text to leave out, in order; `moved` says where a position is then."""

    edits: tuple[tuple[int, int, str], ...] = ()
    _starts: list[int] = field(default_factory=list)
    _shifts: list[int] = field(default_factory=list)

    def moved(self, position: int) -> int:
        """Return where what stands at `position` is without the pieces; inside one of them, where it was."""
        index = bisect_right(self._starts, position) - 1
        if index < 0:
            return position
        start, end, replacement = self.edits[index]
        before = self._shifts[index]
        if position < end:
            return start - before + min(position - start, len(replacement))
        return position - before - (end - start) + len(replacement)


def removals(text: str, tokens: Sequence[Token], lines: Sequence[int]) -> Removals:
    """Find the HTML in a parsed Markdown text; `lines` are the starts of its lines. Code keeps all it shows."""
    found = sorted(_all(text, tokens, lines))
    edits: list[tuple[int, int, str]] = []
    starts: list[int] = []
    shifts: list[int] = []
    shift = 0
    for start, end, replacement in found:
        if edits and start < edits[-1][1]:
            continue
        edits.append((start, end, replacement))
        starts.append(start)
        shifts.append(shift)
        shift += end - start - len(replacement)
    return Removals(tuple(edits), starts, shifts)


def _all(text: str, tokens: Sequence[Token], lines: Sequence[int]) -> Iterator[tuple[int, int, str]]:
    for token in tokens:
        if not token.map:
            continue
        start, end = lines[token.map[0]], lines[min(token.map[1], len(lines) - 1)]
        if token.type == "html_block":
            for match in _HTML_OR_LINE.finditer(text, start, end):
                yield _edit(text, match.start(), match.end())
        elif token.type == "inline":
            yield from _inline(text, token.children or (), start, end)


def _inline(text: str, children: Sequence[Token], start: int, end: int) -> Iterator[tuple[int, int, str]]:
    """Yield the tags of a paragraph; what is code before them is passed over, for it may quote the same tags."""
    at = start
    for child in children:
        if child.type not in ("html_inline", "code_inline"):
            continue
        found = text.find(child.content, at, end)
        if found < 0:
            continue
        at = found + len(child.content)
        if is_tag(child):
            yield _edit(text, found, at)


def is_tag(token: Token) -> bool:
    """Say whether a token is HTML that is left out."""
    return token.type == "html_inline" and _HTML.fullmatch(token.content) is not None


def _edit(text: str, start: int, end: int) -> tuple[int, int, str]:
    """Leave a tag out, with a space for it where it parts two words."""
    parts = _PARTS_WORDS.match(text, start) is not None
    beside_space = not text[start - 1 : start].strip() or not text[end : end + 1].strip() or text[end - 1] == "\n"
    return start, end, " " if parts and not beside_space else ""
