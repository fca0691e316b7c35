"""Which number does Word show before a paragraph? It is not in the text: word processors count when they open a file.

Rules of ISO/IEC 29500-1, 17.9: a level counts on until a higher one does; a level passed over takes its first
number; numberings that share an abstract one share its counters, unless one of them says where it begins.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from docx.document import Document as WordFile
from docx.opc.constants import RELATIONSHIP_TYPE
from lxml import etree

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LEVELS = 9
_CHAIN = 20
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_CHINESE = "零一二三四五六七八九"


@dataclass(slots=True)
class _Level:
    start: int = 1
    format: str = "decimal"
    text: str = ""
    restart: int | None = None
    legal: bool = False
    style: str | None = None


@dataclass(slots=True)
class _List:
    """A numbering that paragraphs name: its levels, and the counters that it may share with others."""

    levels: dict[int, _Level]
    counters: dict[int, int]
    overrides: dict[int, int]


@dataclass(slots=True)
class Numbering:
    """The numberings of one file and how far they have counted. Ask once for each paragraph, in order."""

    _lists: dict[str, _List] = field(default_factory=dict)
    _styles: dict[str, tuple[str | None, int | None, str | None]] = field(default_factory=dict)
    _default_style: str | None = None

    def label(self, paragraph: etree._Element) -> str:
        """Return what is shown before the text, like "1.2." or "(a)"; empty for bullets and where there is nothing."""
        number, level = self._place(paragraph)
        listed = self._lists.get(number or "")
        if listed is None or level not in listed.levels:
            return ""
        _count(listed, level)
        return _shown(listed, level)

    def _place(self, paragraph: etree._Element) -> tuple[str | None, int]:
        """Return the numbering that a paragraph or its style names, and the level there."""
        properties = paragraph.find(f"{_W}pPr")
        number, level = _named(properties)
        style: str | None = _value(properties, "pStyle") or self._default_style
        for _ in range(_CHAIN):
            if style is None or (number is not None and level is not None):
                break
            styled, styled_level, parent = self._styles.get(style, (None, None, None))
            if number is None and styled is not None:
                number = styled
                level = self._level_of_style(styled, style) if level is None and styled_level is None else level
            level = styled_level if level is None else level
            style = parent
        return number, level or 0

    def _level_of_style(self, number: str, style: str) -> int | None:
        listed = self._lists.get(number)
        levels = listed.levels.items() if listed else ()
        return next((index for index, level in levels if level.style == style), None)


def numbering(document: WordFile) -> Numbering:
    """Read the numberings of a Word file; one without any, or with a damaged part, gives no labels."""
    result = Numbering()
    for style in document.styles.element.iterfind(f"{_W}style"):
        number, level = _named(style.find(f"{_W}pPr"))
        identity = style.get(f"{_W}styleId") or ""
        result._styles[identity] = (number, level, _value(style, "basedOn"))
        if style.get(f"{_W}type") == "paragraph" and style.get(f"{_W}default") in ("1", "true", "on"):
            result._default_style = identity
    root = _part(document)
    if root is not None:
        result._lists.update(_lists(root, {key: value[0] for key, value in result._styles.items()}))
    return result


def _part(document: WordFile) -> etree._Element | None:
    for relation in document.part.rels.values():
        if relation.reltype == RELATIONSHIP_TYPE.NUMBERING and not relation.is_external:
            parser = etree.XMLParser(resolve_entities=False, recover=True)
            return etree.fromstring(relation.target_part.blob, parser)
    return None


def _lists(root: etree._Element, number_of_style: dict[str, str | None]) -> dict[str, _List]:
    abstract = {one.get(f"{_W}abstractNumId"): one for one in root.iterfind(f"{_W}abstractNum")}
    named = {one.get(f"{_W}numId") or "": _value(one, "abstractNumId") for one in root.iterfind(f"{_W}num")}
    counters: dict[str | None, dict[int, int]] = {}
    found: dict[str, _List] = {}
    for number in root.iterfind(f"{_W}num"):
        identity = number.get(f"{_W}numId") or ""
        key = named[identity]
        linked = _value(abstract.get(key), "numStyleLink")  # a list style: its levels stand at the style's numbering
        if linked is not None:
            key = named.get(number_of_style.get(linked) or "", key)
        if key not in abstract or identity == "0":
            continue
        levels = _levels(abstract[key])
        overrides: dict[int, int] = {}
        for override in number.iterfind(f"{_W}lvlOverride"):
            levels.update(_levels(override))
            if (start := _integer(_value(override, "startOverride"))) is not None:
                overrides[_integer(override.get(f"{_W}ilvl")) or 0] = start
        found[identity] = _List(levels, counters.setdefault(key, {}), overrides)
    return found


def _levels(parent: etree._Element) -> dict[int, _Level]:
    levels = {}
    for element in parent.iterfind(f"{_W}lvl"):
        start = _integer(_value(element, "start"))
        levels[_integer(element.get(f"{_W}ilvl")) or 0] = _Level(
            start=0 if start is None else start,
            format=_value(element, "numFmt") or "decimal",
            text=_value(element, "lvlText") or "",
            restart=_integer(_value(element, "lvlRestart")),
            legal=element.find(f"{_W}isLgl") is not None,
            style=_value(element, "pStyle"),
        )
    return levels


def _count(listed: _List, level: int) -> None:
    """Count on at `level`, begin anew below it, and let levels above that were passed over take their first number."""
    counters = listed.counters
    for above in range(level):
        counters.setdefault(above, listed.overrides.get(above, _start(listed, above)))
    if level in listed.overrides:
        counters[level] = listed.overrides.pop(level)
    else:
        counters[level] = counters[level] + 1 if level in counters else _start(listed, level)
    for below in range(level + 1, _LEVELS):
        restart = listed.levels[below].restart if below in listed.levels else None
        if restart is None or (0 < restart <= below and level < restart):
            counters.pop(below, None)


def _start(listed: _List, level: int) -> int:
    return listed.levels[level].start if level in listed.levels else 1


def _shown(listed: _List, level: int) -> str:
    here = listed.levels[level]
    if here.format in ("bullet", "none"):
        return ""

    def number(match: re.Match[str]) -> str:
        index = int(match[1]) - 1
        form = "decimal" if here.legal or index not in listed.levels else listed.levels[index].format
        return _written(listed.counters.get(index, 1), form)

    return re.sub(r"%([1-9])", number, here.text).strip()


def _written(number: int, form: str) -> str:
    if form in ("bullet", "none"):
        return ""
    if form == "decimalZero":
        return f"{number:02}"
    writer = _WRITERS.get(form)
    return writer(number) if writer is not None and number > 0 else str(number)


def _letters(number: int) -> str:
    """After z come aa, bb, and so on."""
    return "abcdefghijklmnopqrstuvwxyz"[(number - 1) % 26] * min((number - 1) // 26 + 1, 30)


def _roman(number: int) -> str:
    written = ""
    rest = min(number, 9999)
    for value, letters in _ROMAN:
        written += letters * (rest // value)
        rest %= value
    return written


def _ordinal(number: int) -> str:
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _chinese(number: int) -> str:
    if number >= 100:
        return "".join(_CHINESE[int(digit)] for digit in str(number))
    tens, ones = divmod(number, 10)
    return ("" if tens < 2 else _CHINESE[tens]) + ("十" if tens else "") + (_CHINESE[ones] if ones or not tens else "")


_WRITERS: dict[str, Callable[[int], str]] = {
    "lowerLetter": _letters,
    "upperLetter": lambda number: _letters(number).upper(),
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "ordinal": _ordinal,
    "chineseCounting": _chinese,
    "chineseCountingThousand": _chinese,
    "ideographDigital": _chinese,
    "japaneseCounting": _chinese,
    "taiwaneseCounting": _chinese,
    "taiwaneseCountingThousand": _chinese,
    "decimalEnclosedCircle": lambda number: chr(0x2460 + number - 1) if number <= 20 else str(number),
    "decimalEnclosedCircleChinese": lambda number: chr(0x2460 + number - 1) if number <= 20 else str(number),
}


def _named(properties: etree._Element | None) -> tuple[str | None, int | None]:
    place = properties.find(f"{_W}numPr") if properties is not None else None
    return _value(place, "numId"), _integer(_value(place, "ilvl"))


def _value(parent: etree._Element | None, name: str) -> str | None:
    child = parent.find(f"{_W}{name}") if parent is not None else None
    return child.get(f"{_W}val") if child is not None else None


def _integer(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"\d{1,9}", text) else None
