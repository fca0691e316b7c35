"""How do the parts of an Office Open XML file (ECMA-376) refer to each other, and what does it say of itself?"""

from __future__ import annotations

import logging
import re
from typing import NamedTuple

from lxml import etree

from ingest.errors import Encrypted, ReadError
from ingest.normalize import normalize
from ingest.read.archive import Archive, attribute, local, resolved

_DATE = re.compile(r"([12]\d{3}-\d{2}-\d{2})")
_SEPARATORS = re.compile(r"[,;，；、\n]")
_log = logging.getLogger(__name__)


class Relation(NamedTuple):
    """A reference: `kind` is the end of its type ("slide", "notesSlide"), `target` the member it leads to."""

    kind: str
    target: str


class Properties(NamedTuple):
    """What the file says of itself."""

    title: str | None = None
    date: str | None = None
    tags: tuple[str, ...] = ()


def relations(archive: Archive, part: str) -> dict[str, Relation]:
    """Return the references of a part to other parts by their id; "" is the package itself."""
    folder, _, name = part.rpartition("/")
    source = f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels"
    if not archive.has(source):
        return {}
    found = {}
    for element in archive.xml(source):
        target = element.get("Target")
        if target and element.get("TargetMode") != "External":
            kind = (element.get("Type") or "").rpartition("/")[2]
            found[element.get("Id") or ""] = Relation(kind, resolved(target, part))
    return found


def main_part(archive: Archive, usual: str) -> str:
    """Return the name of the part that all others hang on; `usual` where the package does not say."""
    named = (one.target for one in relations(archive, "").values() if one.kind == "officeDocument")
    return next(named, usual)


def relation_id(element: etree._Element) -> str:
    """Return the `r:id` of an element."""
    for key, value in element.attrib.items():
        if "relationships}" in key:
            return str(value)
    return ""


def properties(archive: Archive) -> Properties:
    """Return title, date and keywords from the core properties, as far as they can be read."""
    try:
        part = next((one.target for one in relations(archive, "").values() if one.kind == "core-properties"), None)
        if part is None:
            return Properties()
        values = {local(element): element.text or "" for element in archive.xml(part)}
    except Encrypted:
        raise
    except ReadError as error:
        _log.info("the properties cannot be read: %s", error)
        return Properties()
    return Properties(
        " ".join(normalize(values.get("title", "")).text.split()) or None,
        iso_date(values.get("created", "")) or iso_date(values.get("modified", "")),
        keywords(values.get("keywords", "")),
    )


def iso_date(value: str) -> str | None:
    """Return the day of a time in the form of ISO 8601; None for anything else, and for years that mean "unknown"."""
    match = _DATE.match(value.strip())
    return match[1] if match else None


def keywords(value: str) -> tuple[str, ...]:
    """Return the keywords of a list with commas, semicolons or their Chinese forms."""
    parts = (" ".join(normalize(part).text.split()) for part in _SEPARATORS.split(value))
    return tuple(dict.fromkeys(part for part in parts if part))


def is_off(element: etree._Element, name: str) -> bool:
    """Say whether a flag is set to false."""
    return attribute(element, name) in ("0", "false", "off")
