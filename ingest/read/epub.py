"""How is a book (EPUB 2 and 3) read? Chapter by chapter in the order of its spine, each as the page that it is.

Everything in a chapter is content, unlike on a web page: boxes and notes stay. The book's own table of contents is not
read, but gives a heading to chapters that have none.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning
from lxml import etree

from ingest.errors import Encrypted, ReadError, TooLarge
from ingest.normalize import normalize
from ingest.read.archive import Archive, attribute, children, descendants, local, resolved
from ingest.read.builder import Builder
from ingest.read.encoding import attempt, decode
from ingest.read.html import add_page
from ingest.types import Heading, ReadResult

MEDIA_TYPE = "application/epub+zip"
_KIND = "EPUB file"
_PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")
_UNSEEN = ["script", "style", "template", "svg", "iframe"]
_FONT_ONLY = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
"""Ways of encryption that hide fonts alone (EPUB 3.3, 4.3): everybody can read the text."""
_DATE = re.compile(r"[12]\d{3}(?:-\d{2}(?:-\d{2})?)?")
_DECLARED = re.compile(rb"<\?xml[^>]*encoding\s*=\s*[\"']([A-Za-z0-9_.:-]+)")
_CLOSED = re.compile(
    r"<(?!(?:area|base|br|col|embed|hr|img|input|link|meta|param|source|track|wbr)[\s/>])([A-Za-z][\w:.-]*)(\s[^<>]*)?/>"
)
"""`<title/>` is an empty title in XHTML, but opens one that never ends to a parser of HTML."""
_log = logging.getLogger(__name__)


class _Item(NamedTuple):
    """An entry of the manifest."""

    member: str
    media_type: str
    properties: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Book:
    """What the package document (OPF) says."""

    about: dict[str, list[str]]
    items: dict[str, _Item]
    spine: tuple[str, ...]
    contents: str | None

    def first(self, name: str) -> str | None:
        """Return the first value of a kind."""
        return next(iter(self.about.get(name, ())), None)


def read_epub(data: bytes) -> ReadResult:
    """Read a book. Parts that cannot be read are in `failed_pages`, counted from 1 in the spine.

    Raises Encrypted for a book under rights management, ReadError if none of its parts can be read.
    """
    archive = Archive(data, _KIND)
    locked = _encrypted(archive)
    book = _book(archive)
    labels = _labels(archive, book)
    builder = Builder()
    title, authors = book.first("title"), book.about.get("creator", [])
    if authors:
        builder.add("\n".join(part for part in (title, ", ".join(authors)) if part))
    opening = len(builder.blocks)
    failed = []
    for number, key in enumerate(book.spine, 1):
        item = book.items.get(key)
        if item is not None and (item.media_type not in _PAGES or "nav" in item.properties):
            continue
        if item is not None and item.member.lower() in locked:
            raise Encrypted("The book is under digital rights management: it can be read in its own program only.")
        if item is None or not _add_chapter(builder, archive, item.member, labels):
            failed.append(number)
    if failed and len(builder.blocks) == opening:
        raise ReadError("The EPUB file is damaged: none of its chapters can be read.")
    dates = (match[0] for match in map(_DATE.match, book.about.get("date", [])) if match)
    return ReadResult(
        text=builder.text if len(builder.blocks) > opening else "",
        media_type=MEDIA_TYPE,
        title=title or next((heading.title for heading in builder.headings), None),
        date=next(dates, None),
        language=(book.first("language") or "").lower() or None,
        headings=tuple(builder.headings),
        blocks=tuple(builder.blocks) if len(builder.blocks) > opening else (),
        failed_pages=tuple(failed),
        table_headers=tuple(builder.table_headers),
        tags=tuple(dict.fromkeys(book.about.get("subject", []))),
    )


def _add_chapter(builder: Builder, archive: Archive, member: str, labels: dict[str, str]) -> bool:
    """Append a part of the book; say whether it could be read."""
    blocks, headings = len(builder.blocks), len(builder.headings)
    try:
        add_page(_soup(archive.read(member)), builder)
    except (Encrypted, TooLarge):
        raise
    except ReadError as error:
        _log.info("%r cannot be read: %s", member, error)
        return False
    label = labels.get(member.lower())
    if label and len(builder.headings) == headings and len(builder.blocks) > blocks:
        builder.headings.append(Heading(1, label, builder.blocks[blocks].start))
    return True


def _soup(data: bytes) -> BeautifulSoup:
    declared = _DECLARED.match(data[:200])
    names = ["utf-8", *([declared[1].decode("ascii")] if declared else [])]
    text = next((text for name in names if (text := attempt(data, name)) is not None), None)
    page = _CLOSED.sub(r"<\1\2></\1>", decode(data).text if text is None else text).replace("\0", "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
        soup = BeautifulSoup(page, "lxml")
    for tag in [*soup.find_all(_UNSEEN), *soup.find_all(hidden=True)]:
        tag.decompose()
    return soup


def _book(archive: Archive) -> _Book:
    container = archive.xml("META-INF/container.xml")
    package = next((path for one in descendants(container, "rootfile") if (path := one.get("full-path"))), None)
    if package is None:
        raise ReadError("The EPUB file is damaged: it does not say where its book is.")
    root = archive.xml(package)
    about: dict[str, list[str]] = {}
    for element in (one for group in children(root, "metadata") for one in group.iterdescendants()):
        text = " ".join(normalize(element.text or "").text.split())
        if text:
            about.setdefault(local(element), []).append(text)
    items = {
        one.get("id") or "": _Item(
            resolved(unquote(one.get("href") or ""), package),
            (one.get("media-type") or "").lower(),
            frozenset((one.get("properties") or "").split()),
        )
        for group in children(root, "manifest")
        for one in children(group, "item")
    }
    spines = children(root, "spine")
    spine = [one.get("idref") or "" for group in spines for one in children(group, "itemref")]
    contents = next((one.get("toc") for one in spines if one.get("toc")), None)
    return _Book(about, items, tuple(dict.fromkeys(spine)), contents)


def _labels(archive: Archive, book: _Book) -> dict[str, str]:
    """Return what the table of contents calls each member of the archive."""
    found: dict[str, str] = {}
    for key, item in book.items.items():
        try:
            if "nav" in item.properties:
                entries = list(_nav_entries(archive.read(item.member)))
            elif key == book.contents or item.media_type == "application/x-dtbncx+xml":
                entries = list(_ncx_entries(archive.xml(item.member)))
            else:
                continue
        except Encrypted:
            raise
        except ReadError as error:
            _log.info("the table of contents cannot be read: %s", error)
            continue
        for target, label in entries:
            member = resolved(unquote(target.partition("#")[0]), item.member).lower()
            found.setdefault(member, " ".join(normalize(label).text.split()))
    return found


def _nav_entries(data: bytes) -> Iterator[tuple[str, str]]:
    for link in _soup(data).select("nav a[href]"):
        yield str(link["href"]), link.get_text()


def _ncx_entries(root: etree._Element) -> Iterator[tuple[str, str]]:
    for point in descendants(root, "navPoint"):
        label = next(("".join(one.itertext()) for one in children(point, "navLabel")), "")
        target = next((one.get("src") for one in children(point, "content")), None)
        if target:
            yield target, label


def _encrypted(archive: Archive) -> frozenset[str]:
    """Return which members nobody can read without a key, in lower case."""
    source = "META-INF/encryption.xml"
    if not archive.has(source):
        return frozenset()
    found: set[str] = set()
    for entry in descendants(archive.xml(source), "EncryptedData"):
        methods = {attribute(one, "Algorithm") for one in children(entry, "EncryptionMethod")}
        if not methods & set(_FONT_ONLY):
            found.update(unquote(one.get("URI") or "").lower() for one in descendants(entry, "CipherReference"))
    return frozenset(found)
