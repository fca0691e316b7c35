"""How are JSON and JSON Lines read? As lines `path.to.key: value`, one block a record.

What is no valid JSON (cut off, with comments) is kept as it stands: its words can still be found and quoted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from ingest.read.builder import Builder
from ingest.read.encoding import decode
from ingest.read.plain import paragraphs, refuse_binary
from ingest.read.verbatim import refuse_long, source_of
from ingest.types import ReadResult

MEDIA_TYPE = "application/json"
LINES_MEDIA_TYPE = "application/x-ndjson"
_SHORT = 40
"""Characters: a list of values no longer than this each is written on one line."""
_TITLES = ("title", "name", "标题")

Value = str | bool | list["Value"] | tuple[tuple[str, "Value"], ...] | None
"""A JSON value: numbers as they are written, objects as pairs, so that no key that comes twice is lost."""


@dataclass(frozen=True, slots=True)
class _Invalid:
    """A line that is no JSON."""

    line: str


@dataclass(slots=True)
class _Place:
    """A value with the path to it and the number of the record that it belongs to."""

    path: str
    value: Value
    record: int


@dataclass(slots=True)
class _Walk:
    """What is left to write, last first, and how many records were begun."""

    stack: list[_Place] = field(default_factory=list)
    records: int = 0


def read_json(data: bytes) -> ReadResult:
    """Read a JSON file, or a file with a JSON value on every line. Raises TooLarge."""
    decoded = decode(data)
    refuse_binary(decoded.text)
    refuse_long(len(decoded.text))
    builder = Builder()
    whole = _parsed(decoded.text)
    if not isinstance(whole, _Invalid):
        _write(builder, whole)
        return _result(builder, MEDIA_TYPE, decoded.encoding, _title(whole))
    values = _by_line(decoded.text)
    if values is None:
        source = source_of(data)
        return source.result(MEDIA_TYPE, blocks=tuple(paragraphs(source.text)))
    for value in values:
        if isinstance(value, _Invalid):
            builder.add(value.line)
        else:
            _write(builder, value)
    return _result(builder, LINES_MEDIA_TYPE, decoded.encoding, None)


def _result(builder: Builder, media_type: str, encoding: str, title: str | None) -> ReadResult:
    return ReadResult(
        text=builder.text, media_type=media_type, title=title, encoding=encoding, blocks=tuple(builder.blocks)
    )


def _parsed(text: str) -> Value | _Invalid:
    try:
        value: Value = json.loads(
            text, object_pairs_hook=tuple, parse_int=str, parse_float=str, parse_constant=str, strict=False
        )
    except (ValueError, RecursionError):
        return _Invalid(text)
    return value


def _by_line(text: str) -> list[Value | _Invalid] | None:
    """Return the values of a file with one on each line; None if most lines hold no list or object."""
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines or isinstance(_parsed(lines[0]), _Invalid):
        return None  # seen at once, so that a large broken file is not parsed line by line
    values = [_parsed(line) for line in lines]
    good = sum(isinstance(value, list | tuple) for value in values)
    return values if good * 2 > len(values) and len(values) > 1 else None


def _title(value: Value) -> str | None:
    """Return what an object calls its title, if it is short and on one line."""
    fields = dict(value) if isinstance(value, tuple) else {}
    for name in _TITLES:
        title = fields.get(name)
        if isinstance(title, str) and 0 < len(title.strip()) <= 200 and "\n" not in title:
            return title.strip()
    return None


def _write(builder: Builder, value: Value) -> None:
    for _, lines in groupby(_lines(value), key=itemgetter(0)):
        builder.add("\n".join(line for _, line in lines))


def _lines(value: Value) -> Iterator[tuple[int, str]]:
    """Yield the lines of a value, each with the number of its record. Without recursion: a file may nest deeply."""
    walk = _Walk([_Place("", value, 0)])
    while walk.stack:
        place = walk.stack.pop()
        if isinstance(place.value, tuple) and place.value:
            fields = [_Place(_joined(place.path, key), inner, place.record) for key, inner in place.value]
            walk.stack.extend(reversed(fields))
        elif isinstance(place.value, list) and place.value and not _is_short(place.value):
            walk.stack.extend(reversed(_items(place, walk)))
        else:
            yield place.record, _line(place)


def _items(place: _Place, walk: _Walk) -> list[_Place]:
    """Return the items of a list: each object is a record of its own; one of the outermost list needs no number."""
    items = []
    for number, value in enumerate(place.value if isinstance(place.value, list) else ()):
        nested = isinstance(value, tuple | list)
        walk.records += nested
        path = "" if not place.path and isinstance(value, tuple) else f"{place.path}[{number}]"
        items.append(_Place(path, value, walk.records if nested else place.record))
    return items


def _joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _is_short(values: list[Value]) -> bool:
    texts = [_text(value) for value in values if not isinstance(value, tuple | list)]
    return len(texts) == len(values) and all(len(text) <= _SHORT and "\n" not in text for text in texts)


def _line(place: _Place) -> str:
    value = ", ".join(map(_text, place.value)) if isinstance(place.value, list) else _text(place.value)
    return f"{place.path}: {value}" if place.path else value


def _text(value: Value) -> str:
    match value:
        case str():
            return value
        case True:
            return "true"
        case False:
            return "false"
        case None:
            return "null"
        case ():
            return "{}"
    return "[]"
