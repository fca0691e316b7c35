"""A container is told by its content, and a hostile or damaged one is refused before it does harm."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from contextlib import suppress
from io import BytesIO

import pytest

from ingest.errors import Encrypted, ReadError, TooLarge, Unsupported
from ingest.read import archive, media_type_of, read, supported
from ingest.types import FileStatus
from tests.ingest.office_samples import (
    ODP_BODY,
    ODS_BODY,
    ODT_BODY,
    changed,
    epub_file,
    odf_file,
    packed,
    pptx_file,
    xlsx_file,
)
from tests.ingest.test_read_docx import make_docx

SAMPLES: dict[str, Callable[[], bytes]] = {
    "pptx": pptx_file,
    "xlsx": xlsx_file,
    "odt": lambda: odf_file("text", ODT_BODY),
    "ods": lambda: odf_file("spreadsheet", ODS_BODY),
    "odp": lambda: odf_file("presentation", ODP_BODY),
    "epub": epub_file,
}
CONTENT = {
    "pptx": "ppt/slides/slide1.xml", "xlsx": "xl/worksheets/sheet1.xml", "odt": "content.xml", "ods": "content.xml",
    "odp": "content.xml", "epub": "OPS/book.opf",
}  # fmt: skip
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
BINARY = "application/vnd.ms-excel.sheet.binary.macroEnabled.main"
EVERY = pytest.mark.parametrize("kind", SAMPLES)


@EVERY
@pytest.mark.parametrize("name", ["a.docx", "a.txt", "a.zip", "a", "a.pdf"])
def test_the_content_decides_whatever_the_name(kind: str, name: str) -> None:
    data = SAMPLES[kind]()
    assert supported(f"a.{kind}")
    assert media_type_of(data, name) == media_type_of(data, f"a.{kind}") == read(data, name).media_type


@EVERY
def test_another_content_under_its_name_is_said(kind: str) -> None:
    with pytest.raises(ReadError, match="is named like ") as raised:
        read(b"<html><body>Not found</body></html>", f"a.{kind}")
    assert "web page" in str(raised.value)


@pytest.mark.parametrize("kind", ["pptx", "xlsx", "epub"])
def test_a_container_that_does_not_say_what_it_is_is_known_by_its_parts(kind: str) -> None:
    data = changed(SAMPLES[kind](), {"[Content_Types].xml": None} if kind != "epub" else {"mimetype": None})
    assert read(data, "a.bin").media_type == read(SAMPLES[kind](), "a.bin").media_type


def test_names_of_parts_may_have_any_case_and_slash() -> None:
    with zipfile.ZipFile(BytesIO(xlsx_file())) as old:
        data = packed({name.upper().replace("/", "\\"): old.read(name) for name in old.namelist()})
    assert read(data, "a.xlsx").text == read(xlsx_file(), "a.xlsx").text


@EVERY
@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_a_truncated_file_fails_with_its_reason(kind: str, share: float) -> None:
    data = SAMPLES[kind]()
    with pytest.raises(ReadError, match="no complete ZIP archive") as raised:
        read(data[: int(len(data) * share)], f"a.{kind}")
    assert raised.value.status == FileStatus.FAILED


@pytest.mark.parametrize("kind", [*SAMPLES, "docx"])
def test_damage_inside_never_gives_another_error(kind: str) -> None:
    data = make_docx() if kind == "docx" else SAMPLES[kind]()
    for place in range(30, len(data), len(data) // 60):
        broken = data[:place] + bytes(value ^ 0x55 for value in data[place : place + 8]) + data[place + 8 :]
        with suppress(ReadError):
            read(broken, f"a.{kind}")


@EVERY
def test_a_bomb_is_refused_before_it_is_unpacked(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = SAMPLES[kind]()
    with pytest.raises(TooLarge, match="times its size"):
        read(changed(data, {"media/picture.bin": bytes(5_000_000)}), f"a.{kind}")
    monkeypatch.setattr(archive, "MAX_UNPACKED", 1000)
    with pytest.raises(TooLarge, match="limit is 1,000"):
        read(data, f"a.{kind}")


def test_an_archive_of_endless_parts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_MAX_MEMBERS", 10)
    with pytest.raises(TooLarge, match="parts"):
        read(packed({str(number): "" for number in range(11)}), "a.xlsx")


@EVERY
def test_entities_are_refused_and_never_resolved(kind: str) -> None:
    entities = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY f SYSTEM "file:///etc/hostname">]>'
    data = changed(SAMPLES[kind](), {CONTENT[kind]: f"{entities}<x><row>&a;&f;</row></x>"})
    if kind in ("pptx", "xlsx"):
        result = read(data, f"a.{kind}")
        assert result.failed_pages == (1,)
        assert "aaaa" not in result.text
    else:
        with pytest.raises(ReadError, match="entities"):
            read(data, f"a.{kind}")


def test_an_office_file_with_a_password_is_encrypted_and_an_old_one_unsupported() -> None:
    entry = "EncryptedPackage".encode("utf-16-le").ljust(64, b"\0") + b"\x22\0"
    for name in ("a.xlsx", "a.pptx", "a.docx", "a"):
        with pytest.raises(Encrypted, match="password"):
            read(OLE + entry + bytes(446), name)
        with pytest.raises(Unsupported, match="old Office file"):
            read(OLE + "a text on EncryptedPackage".encode("utf-16-le"), name)


def test_an_opendocument_file_with_a_password_is_encrypted() -> None:
    manifest = """<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><m:file-entry
    m:full-path="content.xml"><m:encryption-data/></m:file-entry></m:manifest>"""
    data = odf_file("text", ODT_BODY)
    for change in ({"META-INF/manifest.xml": manifest, "content.xml": b"\x01\x02"}, {"encrypted-package": b"\x01"}):
        with pytest.raises(Encrypted):
            read(changed(data, change), "a.odt")


def test_an_archive_with_a_password_is_encrypted() -> None:
    data = bytearray(xlsx_file())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.find(mark)
        while place >= 0:
            data[place + flags] |= 1
            place = data.find(mark, place + 4)
    with pytest.raises(Encrypted):
        read(bytes(data), "a.xlsx")


@pytest.mark.parametrize(
    "members",
    [
        {"a.txt": "words"},
        {"mimetype": "application/vnd.oasis.opendocument.formula", "content.xml": "<x/>"},
        {"[Content_Types].xml": f'<Types><Override ContentType="{BINARY}"/></Types>', "xl/workbook.bin": b"\0"},
    ],
    ids=["archive", "formula", "binary workbook"],
)  # fmt: skip
def test_other_archives_are_unsupported(members: dict[str, str | bytes]) -> None:
    with pytest.raises(Unsupported):
        read(packed(members), "a.xlsx")
