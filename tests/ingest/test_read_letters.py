"""RTF and e-mail are read as their reader sees them."""

from __future__ import annotations

from email.message import EmailMessage

import pytest

from ingest.errors import IngestError, ReadError
from ingest.read import read
from tests.ingest.text_samples import (
    RTF,
    blocks,
    check_chunks,
    headings,
)


def test_rtf_is_read_as_it_is_seen() -> None:
    result = read(RTF, "a.rtf")
    assert blocks(result) == [
        "Leave 年假", "Café 年\U0001f600 end—bold", "A note.", "あソ", "ship | hours", "Kittiwake two | 500",
        "link shownBox",
    ]  # fmt: skip
    assert headings(result) == [(1, "Leave 年假")]
    assert (result.title, result.encoding, result.byte_runs) == ("The étude", "cp1252", None)
    assert [one.text for one in result.table_headers] == ["ship | hours"]
    check_chunks(result)


def test_a_table_in_a_cell_has_its_own_rows() -> None:
    inner = rb"\pard\intbl\itap2 a\nestcell{\nonesttables\par }b\nestcell"
    inner += rb"{\*\nesttableprops\trowd\nestrow}{\nonesttables\par}"
    data = rb"{\rtf1\ansi\trowd " + inner * 2 + rb"\pard\intbl outer\cell end\cell\row\pard}"
    assert blocks(read(data, "a.rtf")) == ["a | b", "a | b", "outer | end"]


def test_rtf_in_a_chinese_code_page_without_fonts() -> None:
    text = "故宫博物院{成立}".encode("gb18030").hex(" ").split()
    data = b"{\\rtf1\\ansi\\ansicpg936 " + b"".join(b"\\'" + one.encode() for one in text) + b"\\par}"
    assert read(data, "a.txt").text == "故宫博物院{成立}"


@pytest.mark.parametrize("cut", range(0, len(RTF), 37))
def test_rtf_that_is_cut_off_is_read_as_far_as_it_goes(cut: int) -> None:
    try:
        check_chunks(read(RTF[:cut], "a.rtf"))
    except IngestError:
        assert cut < 50


def test_rtf_that_nests_without_end_is_refused() -> None:
    with pytest.raises(ReadError, match="deep"):
        read(b"{\\rtf1" + b"{" * 50_000, "a.rtf")


# -- e-mail


def letter() -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Ann Müller <ann@example.org>"
    message["To"] = "王伟 <wang@example.org>"
    message["Date"] = "Wed, 01 May 2024 10:00:00 +0800"
    message["Subject"] = "关于年假 and more"
    return message


def test_an_email_has_its_headers_body_and_attachments() -> None:
    message = letter()
    message.set_content("First.\n\n年假为二十四天。\n")
    message.add_alternative("<html><body><h1>Page</h1></body></html>", subtype="html")
    message.add_attachment(b"ship,hours\nKittiwake,500\n", maintype="text", subtype="csv", filename="油.csv")
    message.add_attachment(b"\x89PNG\r\n\x1a\n\0\0", maintype="image", subtype="png", filename="photo.png")
    inner = letter()
    inner.replace_header("Subject", "Inner letter")
    inner.set_content("Inside.")
    message.add_attachment(inner)
    result = read(bytes(message), "a.eml")
    assert blocks(result) == [
        "From: Ann Müller <ann@example.org>\nTo: 王伟 <wang@example.org>\n"
        "Date: Wed, 01 May 2024 10:00:00 +0800\nSubject: 关于年假 and more",
        "First.", "年假为二十四天。",
        "Attachment: 油.csv (25 bytes)", "ship,hours", "Kittiwake,500",
        "Attachment: photo.png (10 bytes)",
        "Forwarded message",
        "From: Ann Müller <ann@example.org>\nTo: 王伟 <wang@example.org>\n"
        "Date: Wed, 01 May 2024 10:00:00 +0800\nSubject: Inner letter",
        "Inside.",
    ]  # fmt: skip
    assert (result.title, result.date, result.encoding) == ("关于年假 and more", "2024-05-01", "utf-8")
    assert result.media_type == "message/rfc822"
    assert [one.text for one in result.table_headers] == ["ship | hours"]
    check_chunks(result)


def test_a_page_is_read_where_there_is_no_plain_body_or_only_a_hint() -> None:
    rows = "<tr><th>a</th><th>b</th></tr><tr><td>one</td><td>two</td></tr>"
    page = f"<html><body><p>{'Long words. ' * 60}</p><table>{rows}</table><p>And an end.</p></body></html>"
    message = letter()
    message.set_content(page, subtype="html")
    assert "a | b" in blocks(read(bytes(message), "a.eml"))
    hinted = letter()
    hinted.set_content("See the page.")
    hinted.add_alternative(page, subtype="html")
    assert "a | b" in blocks(read(bytes(hinted), "a.eml"))


@pytest.mark.parametrize("encoding", ["gb18030", "big5"])
def test_an_old_email_with_raw_bytes_is_read(encoding: str) -> None:
    text = "Subject: 關於年假的規定和說明\nFrom: a@b.c\nContent-Type: text/plain\n\n"
    text += "我們的年假是二十四天，其中五天可以在下一年休完。\n"
    result = read(text.encode(encoding), "a.eml")
    assert "年假是二十四天" in result.text
    assert result.title == "關於年假的規定和說明"


@pytest.mark.parametrize(
    "tail",
    [
        "Content-Type: multipart/mixed; boundary=x\n\nno boundary at all",
        "Content-Type: multipart/mixed\n\nno boundary named",
        "Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain\n\ncut of",
        "Content-Type: text/plain; charset=nonsense\n\nwords",
        "Content-Transfer-Encoding: base64\n\n!!!notbase64",
        "X-Date: the day after\nContent-Type: ;;;\n\nwords",
        "Content-Type: multipart/alternative; boundary=x\n\n--x--\n",
        "Content-Disposition: attachment; filename==?utf-8?b?xx\n\nwords",
    ],
)
def test_a_malformed_email_is_read_as_far_as_it_goes(tail: str) -> None:
    result = read(
        f"From: a@b.c\nSubject: =?utf-8?b?5bm05YGH?= =?bad?x?y?=\nMIME-Version: 1.0\n{tail}".encode(), "a.eml"
    )
    assert result.text.startswith("From: a@b.c\nSubject: 年假")
    check_chunks(result)


def test_an_email_of_endless_parts_is_refused() -> None:
    nested = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(3000))
    with pytest.raises(ReadError):
        read(b"From: a@b.c\nMIME-Version: 1.0\n" + nested + b"\nwords", "a.eml")
