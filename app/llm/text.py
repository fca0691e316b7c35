"""What of a model's raw text may go on, and how much does a text cost?"""

from __future__ import annotations

import re

__all__ = ["ThinkFilter", "clean_output", "clean_prompt", "estimate_tokens", "redact", "strip_think"]

LATIN_CHARS_PER_TOKEN = 4.0
"""Rule of thumb of OpenAI's tokenizer notes for English."""

CJK_CHARS_PER_TOKEN = 1.5
"""Rule of thumb for Chinese in the tokenizers of DeepSeek and Qwen (0.6 token a character)."""

TAG_NAMES = r"(?:think|thinking|thought|reasoning)"
OPEN_TAG = re.compile(rf"<{TAG_NAMES}\s*>", re.IGNORECASE)
CLOSE_TAG = re.compile(rf"</{TAG_NAMES}\s*>", re.IGNORECASE)
ANY_TAG = re.compile(rf"</?{TAG_NAMES}\s*>", re.IGNORECASE)
TAG_BEGUN = re.compile(r"</?[a-z]{0,10}\s{0,4}$", re.IGNORECASE)
CJK = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")

UNWANTED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\u202a-\u202e\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
"""Controls, surrogates, direction overrides and tag characters: invisible, and used to smuggle text."""

SECRETS = re.compile(r"(?i)\b(?:sk|pk|key|rk)-[\w*.\-]{6,}|bearer\s+\S+")
"""What keys look like in the error texts of the usual providers, whole or half masked."""


class ThinkFilter:
    """Takes thoughts out of a text that comes in pieces; a tag may be split over pieces."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False

    def feed(self, piece: str) -> str:
        """Return what of the text so far is certainly no thought and was not returned before."""
        self._held += piece
        shown: list[str] = []
        while tag := (CLOSE_TAG if self._inside else ANY_TAG).search(self._held):
            if not self._inside:
                shown.append(self._held[: tag.start()])
            self._inside = OPEN_TAG.fullmatch(tag.group()) is not None
            self._held = self._held[tag.end() :]
        begun = TAG_BEGUN.search(self._held)
        cut = begun.start() if begun else len(self._held)
        if not self._inside:
            shown.append(self._held[:cut])
        self._held = self._held[cut:]
        return "".join(shown)

    def finish(self) -> str:
        """Return what was held back; a thought that never ended stays out."""
        rest, self._held = ("" if self._inside else self._held), ""
        return rest


def strip_think(text: str) -> str:
    """Return a whole reply without thoughts; text before a lone closing tag is one, too."""
    first = ANY_TAG.search(text)
    if first and CLOSE_TAG.fullmatch(first.group()):
        text = text[first.end() :]
    thoughts = ThinkFilter()
    return (thoughts.feed(text) + thoughts.finish()).strip()


def clean_output(text: str) -> str:
    """Return a model's text without characters that nobody sees."""
    return UNWANTED.sub("", text)


def clean_prompt(text: str) -> str:
    """Return a text that UTF-8 can hold: surrogate pairs are joined, lone ones replaced."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").replace("\x00", "")


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has, for endpoints that report no usage."""
    wide = len(CJK.findall(text))
    return round(wide / CJK_CHARS_PER_TOKEN + (len(text) - wide) / LATIN_CHARS_PER_TOKEN) if text else 0


def redact(text: str, secret: str = "", limit: int = 300) -> str:
    """Return an error text on one line, without `secret` and without anything that looks like a key."""
    known = text.replace(secret, "***") if secret else text
    return " ".join(SECRETS.sub("***", known).split())[:limit]
