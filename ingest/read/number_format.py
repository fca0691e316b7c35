"""What does a number in a spreadsheet stand for: a day, a time, a share, or itself?

Days and times become ISO 8601, shares get their percent sign; all are given in full precision.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from enum import Enum, auto

_BUILT_IN_TIMES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}
"""Number formats that every spreadsheet program knows as dates or times (ECMA-376 part 1, 18.8.30)."""
_BUILT_IN_SHARES = {9, 10}
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!(?:h+|m+|s+)\])[^\]]*\]', re.IGNORECASE | re.DOTALL)
"""What a format shows as it is: quoted and escaped characters, padding, colours, conditions, locales."""
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]", re.IGNORECASE)
_TIME_LETTER = re.compile(r"[dmyhse]", re.IGNORECASE)
_EXPONENT = re.compile(r"e[+-]", re.IGNORECASE)
_GENERAL = re.compile("general", re.IGNORECASE)
_LAST_DAY = 2_958_466
"""Days from the end of 1899 to the end of the year 9999."""
_EXACT_DIGITS = 15


class NumberFormat(Enum):
    """What a number format makes of a number."""

    PLAIN = auto()
    SHARE = auto()
    TIME = auto()
    ELAPSED = auto()


def number_formats(ids: Iterable[str], own: Mapping[str, str]) -> list[NumberFormat]:
    """Return what each of `ids` is; `own` holds the codes that a file defines itself, by id."""
    return [_of_code(own[one]) if one in own else _of_built_in(one) for one in ids]


def shown(value: str, given: NumberFormat, *, from_1904: bool) -> str:
    """Return a number as text; `value` as it stands where it is none. Days count from 1904 in some workbooks."""
    try:
        number = float(value)
    except ValueError:
        return value
    if not math.isfinite(number):
        return value
    match given:
        case NumberFormat.SHARE:
            return f"{_plain(repr(number * 100), number * 100)}%"
        case NumberFormat.ELAPSED:
            return _elapsed(number)
        case NumberFormat.TIME if 0 <= number + 1462 * from_1904 < _LAST_DAY:
            return _time(number, from_1904=from_1904)
    return _plain(value, number)


def _of_built_in(number_format: str) -> NumberFormat:
    number = int(number_format) if number_format.isdecimal() else 0
    if number == 46:
        return NumberFormat.ELAPSED
    if number in _BUILT_IN_TIMES:
        return NumberFormat.TIME
    return NumberFormat.SHARE if number in _BUILT_IN_SHARES else NumberFormat.PLAIN


def _of_code(code: str) -> NumberFormat:
    bare = _LITERAL.sub("", code).partition(";")[0]
    if _ELAPSED.search(bare):
        return NumberFormat.ELAPSED
    if "%" in bare:
        return NumberFormat.SHARE
    bare = _GENERAL.sub("", _EXPONENT.sub("", bare))
    return NumberFormat.TIME if _TIME_LETTER.search(bare) else NumberFormat.PLAIN


def _plain(value: str, number: float) -> str:
    """Return a number with the 15 digits that spreadsheets compute with, so that 0.1 + 0.2 is 0.3."""
    if value.lstrip("-").isdecimal():
        return value
    if number.is_integer() and abs(number) < 10**_EXACT_DIGITS:
        return str(int(number))
    return format(number, f".{_EXACT_DIGITS}g")


def _time(number: float, *, from_1904: bool) -> str:
    """Return a day, a time, or both. Day 60 of the 1900 system is the 29 February 1900, which never was."""
    if from_1904:
        number += 1462
    seconds = round(number * 86_400)
    days, rest = divmod(seconds, 86_400)
    clock = _clock(rest)
    if days == 0 or (from_1904 and days == 1462):
        return clock
    day = (date(1899, 12, 30) + timedelta(days=days + (days < 60))).isoformat()
    return f"{day} {clock}" if rest else day


def _elapsed(number: float) -> str:
    seconds = round(abs(number) * 86_400)
    return f"{'-' if number < 0 else ''}{_clock(seconds)}"


def _clock(seconds: int) -> str:
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02}:{minute:02}" + (f":{second:02}" if second else "")
