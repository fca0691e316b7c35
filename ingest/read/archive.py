"""How is a ZIP container of XML parts opened so that a hostile one does no harm?

Sizes are checked before anything is unpacked, entities are never resolved, and nothing is fetched. That the sizes
in the directory of the archive may lie does not matter: no more than they say is ever unpacked.
"""

from __future__ import annotations

import lzma
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import IO

from lxml import etree

from ingest.errors import Encrypted, ReadError, TooLarge, Unsupported

MAX_UNPACKED = 300_000_000
"""Bytes of all members together."""
MAX_RATIO = 200
"""Times that a large member may shrink when packed; text of any kind stays far below, deflate ends at 1032."""
_LARGE = 2_000_000
"""Bytes of a member below which its ratio does not matter."""
_MAX_MEMBERS = 50_000
DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, ValueError, IndexError,
    NotImplementedError,
)  # fmt: skip
"""What `zipfile` raises for members that are not what the directory says."""
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LOCKED_STREAM = "EncryptedPackage".encode("utf-16-le").ljust(64, b"\0") + b"\x22\0"
"""A directory entry of an OLE container: its name in 64 bytes, then the length of the name in bytes (MS-CFB 2.6.1)."""


class Archive:
    """An open container. `kind` names it in messages: "Word file". Raises TooLarge for a bomb, ReadError for damage."""

    def __init__(self, data: bytes, kind: str) -> None:
        self._kind = kind
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except DAMAGE as error:
            raise ReadError(f"The {kind} is damaged: it is no complete ZIP archive.") from error
        members = self._zip.infolist()
        self._refuse_bomb(members)
        self._members = {_plain(member.filename): member for member in members}

    @property
    def names(self) -> list[str]:
        """Return the names of all members in the order of the directory, lower case and with forward slashes."""
        return list(self._members)

    def has(self, name: str) -> bool:
        """Say whether there is a member of this name; case does not matter (OPC part 2, 6.2)."""
        return _plain(name) in self._members

    def read(self, name: str) -> bytes:
        """Return the bytes of a member. Raises ReadError if it is missing or damaged, Encrypted if it is locked."""
        with self.open(name) as stream:
            try:
                return stream.read()
            except DAMAGE as error:
                raise self._damaged(name) from error

    def open(self, name: str) -> IO[bytes]:
        """Open a member to be read as it is unpacked."""
        member = self._members.get(_plain(name))
        if member is None:
            raise ReadError(f"The {self._kind} is damaged: its part {name!r} is missing.")
        if member.flag_bits & 1:
            raise Encrypted(f"The {self._kind} needs a password.")
        try:
            return self._zip.open(member)
        except NotImplementedError as error:
            raise Unsupported(f"The {self._kind} is packed in a way that cannot be unpacked.") from error
        except (*DAMAGE, RuntimeError) as error:
            raise self._damaged(name) from error

    def xml(self, name: str) -> etree._Element:
        """Return the root of an XML part. Raises ReadError if it is broken or declares entities."""
        try:
            root = etree.fromstring(self.read(name), etree.XMLParser(**_SAFE, no_network=True, remove_comments=True))
        except etree.XMLSyntaxError as error:
            raise self._damaged(name) from error
        self._refuse_entities(root, name)
        return root

    def elements(self, name: str, tags: tuple[str, ...]) -> Iterator[etree._Element]:
        """Yield the elements with one of these local names, each with what is in it, without keeping the whole part.

        None of `tags` may stand inside another. Raises ReadError when the broken place is reached.
        """
        checked = False
        with self.open(name) as stream:
            try:
                events = etree.iterparse(stream, tag=[f"{{*}}{tag}" for tag in tags], remove_comments=True, **_SAFE)
                for _, element in events:
                    if not checked:
                        self._refuse_entities(element, name)
                        checked = True
                    yield element
                    _forget(element)
            except (etree.XMLSyntaxError, *DAMAGE) as error:
                raise self._damaged(name) from error

    def _damaged(self, name: str) -> ReadError:
        return ReadError(f"The {self._kind} is damaged: its part {name!r} cannot be read.")

    def _refuse_entities(self, element: etree._Element, name: str) -> None:
        declared = element.getroottree().docinfo.internalDTD
        if declared is not None and next(declared.iterentities(), None) is not None:
            raise ReadError(f"The {self._kind} declares XML entities in {name!r}, which no such file needs.")

    def _refuse_bomb(self, members: list[zipfile.ZipInfo]) -> None:
        if len(members) > _MAX_MEMBERS:
            raise TooLarge(f"The {self._kind} has {len(members):,} parts; the limit is {_MAX_MEMBERS:,}.")
        size = sum(member.file_size for member in members)
        if size > MAX_UNPACKED:
            raise TooLarge(f"Unpacked, the {self._kind} has {size:,} bytes; the limit is {MAX_UNPACKED:,}.")
        for member in members:
            if member.file_size > max(_LARGE, MAX_RATIO * member.compress_size):
                raise TooLarge(f"The {self._kind} unpacks to more than {MAX_RATIO} times its size, as bombs do.")


_SAFE = {"resolve_entities": False, "huge_tree": False, "load_dtd": False, "remove_pis": True}


def local(element: etree._Element) -> str:
    """Return the name of an element without its namespace: strict and transitional files differ in nothing else."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def attribute(element: etree._Element, name: str) -> str | None:
    """Return the value of the attribute with this local name, whatever its namespace."""
    for key, value in element.attrib.items():
        if key.rpartition("}")[2] == name:
            return str(value)
    return None


def children(element: etree._Element, *names: str) -> list[etree._Element]:
    """Return the children with one of these local names."""
    return [child for child in element if local(child) in names]


def descendants(element: etree._Element, name: str) -> Iterator[etree._Element]:
    """Yield what stands anywhere below an element and has this local name, in the order of the document."""
    return iter(element.iterdescendants(f"{{*}}{name}"))


def resolved(target: str, part: str) -> str:
    """Return which member a reference in `part` leads to."""
    if target.startswith("/"):
        return target.lstrip("/")
    return posixpath.normpath(posixpath.join(posixpath.dirname(part), target))


def refuse_old_office(data: bytes) -> None:
    """Raise for an OLE container: Encrypted if it wraps an Office file with a password, else Unsupported."""
    if not data.startswith(_OLE):
        return
    if _LOCKED_STREAM in data:
        raise Encrypted("The Office file needs a password: save it without one.")
    raise Unsupported("The file is an old Office file, which cannot be read: save it as DOCX, XLSX or PPTX.")


def _plain(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def _forget(element: etree._Element) -> None:
    """Free an element and what came before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]
