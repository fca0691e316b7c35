"""Which characters do the bytes of a text file stand for?"""

from __future__ import annotations

import codecs
from typing import NamedTuple

from charset_normalizer import from_bytes

from ingest.errors import ReadError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16: its mark begins with the same two bytes
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 200_000
_RARE = {"cp1257", "cp775", "hp_roman8", "iso8859_10", "iso8859_13", "iso8859_14", "iso8859_16", "mac_latin2"}
_HIRAGANA = frozenset(map(chr, range(0x3041, 0x3094)))
_HANGUL = frozenset(map(chr, range(0xAC00, 0xD7A4)))
_KOREAN = {"cp949", "euc_kr", "johab"}
_COMMON_CHINESE = frozenset(
    "的一是不了在人有我他这個个们中来來上大为為和国國地到以说說时時要就出会會可也你对對生能而子那得于於着下自之年过過发發后後作里裡用道行所然家种種事成方多"
    "经經么去法学學如都同现現当當没动動面起看定天分还進进好小部其些主样樣理心她本前开開但因只从從想实實，。、；：？！（）《》“”「」"
)


class Decoded(NamedTuple):
    """A decoded file: its text, a Python encoding name that adds no mark, the length of its mark."""

    text: str
    encoding: str
    bom: int


def decode(data: bytes) -> Decoded:
    """Decode by mark, then as UTF-8, as UTF-16 without a mark, as GB18030, and at last by statistics."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            text = attempt(data[len(mark) :], encoding)
            if text is None:
                raise ReadError(f"The file begins with the mark of {encoding} but does not go on in it.")
            return Decoded(text, encoding, len(mark))
    text = attempt(data, "utf-8")
    if text is not None and "\0" not in text:
        return Decoded(text, "utf-8", 0)
    wide = _utf16(data)
    if wide is not None:
        return wide
    if text is not None:
        return Decoded(text, "utf-8", 0)
    return _legacy(data)


def attempt(data: bytes, encoding: str) -> str | None:
    """Return `data` decoded strictly, or None where it is not in `encoding` or there is none of that name."""
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _utf16(data: bytes) -> Decoded | None:
    """Recognise UTF-16 by its zero bytes: most Latin characters have one, all on one side."""
    sample = data[:_SAMPLE]
    pairs = len(sample) // 2
    if len(data) % 2 or not pairs:
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    rare, often = min(even, odd), max(even, odd)
    if often < max(1, pairs // 50) or rare * 20 > often:
        return None
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    text = attempt(data, encoding)
    return None if text is None else Decoded(text, encoding, 0)


def _legacy(data: bytes) -> Decoded:
    for encoding in ("euc_jp", "cp932"):  # first: their syllables and full stops look Chinese in GB18030
        text = attempt(data, encoding)
        if text is not None and _share(text, _HIRAGANA) >= 0.25:
            return Decoded(text, encoding, 0)
    chinese = attempt(data, "gb18030")
    if chinese is not None and _share(chinese, _COMMON_CHINESE) >= 0.1:
        return Decoded(chinese, "gb18030", 0)
    # The detector is slow: a sample decides, and the whole file is decoded strictly afterwards.
    name = _detected(data[:_SAMPLE])
    doubtful = not name or _single_byte(name) or (name in _KOREAN and _share(attempt(data, name) or "", _HANGUL) < 0.9)
    if chinese is not None and doubtful and (not name or _simplified_share(chinese) >= 0.95):
        return Decoded(chinese, "gb18030", 0)
    text = attempt(data, name) if name else None
    if text is not None:
        return Decoded(text, name.replace("_", "-"), 0)
    for encoding in ("big5hkscs", "euc_kr", "cp1252"):
        text = attempt(data, encoding)
        if text is not None:
            return Decoded(text, encoding, 0)
    raise ReadError("The character encoding of the text could not be determined: save it as UTF-8.")


def _detected(sample: bytes) -> str:
    """Return the likeliest encoding by statistics, or ""; Western wins over rare ones if it fits as well."""
    matches = from_bytes(sample[: sample.rfind(b"\n")] if len(sample) == _SAMPLE else sample)
    best = matches.best()
    if best is None:
        return ""
    western = next((match for match in matches if match.encoding == "cp1252"), None)
    if best.encoding in _RARE and western is not None and western.chaos - best.chaos <= 0.1:
        return western.encoding
    return best.encoding


def _share(text: str, characters: frozenset[str]) -> float:
    """Return which part of the characters beyond ASCII is among `characters`."""
    wide = [character for character in text[:_SAMPLE] if character > "\x7f"]
    return sum(character in characters for character in wide) / max(1, len(wide))


def _simplified_share(text: str) -> float:
    """Return which part of the characters beyond ASCII is in GB2312, the common simplified ones."""
    wide = [character for character in text[:_SAMPLE] if character > "\x7f"]
    return sum(len(character.encode("gb2312", "ignore")) == 2 for character in wide) / max(1, len(wide))


def _single_byte(encoding: str) -> bool:
    return encoding.startswith(("cp12", "iso8859", "latin", "mac", "koi8", "cp8", "cp4", "cp7", "tis", "cp10"))
