"""Which kind of text is a file, and what reads it?

What it begins with decides where that is unmistakable; else the suffix of its name, if the text may be that.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import PurePath

from ingest.read import code, html, json_lines, latex, markdown, plain, rst, rtf, tabular
from ingest.types import ReadResult

EMAIL = "message/rfc822"
SUFFIXES = {
    ".html": html.MEDIA_TYPE,
    ".htm": html.MEDIA_TYPE,
    ".xhtml": html.MEDIA_TYPE,
    ".md": markdown.MEDIA_TYPE,
    ".markdown": markdown.MEDIA_TYPE,
    ".txt": plain.MEDIA_TYPE,
    ".text": plain.MEDIA_TYPE,
    ".csv": tabular.MEDIA_TYPE,
    ".tsv": tabular.MEDIA_TYPE,
    ".tab": tabular.MEDIA_TYPE,
    ".json": json_lines.MEDIA_TYPE,
    ".jsonl": json_lines.MEDIA_TYPE,
    ".ndjson": json_lines.MEDIA_TYPE,
    ".geojson": json_lines.MEDIA_TYPE,
    ".eml": EMAIL,
    ".rtf": rtf.MEDIA_TYPE,
    ".rst": rst.MEDIA_TYPE,
    ".rest": rst.MEDIA_TYPE,
    ".tex": latex.MEDIA_TYPE,
    ".latex": latex.MEDIA_TYPE,
    ".ltx": latex.MEDIA_TYPE,
    **code.SUFFIXES,
}
"""Media types of text formats by suffix."""
READERS: dict[str, Callable[[bytes], ReadResult]] = {
    plain.MEDIA_TYPE: plain.read_plain,
    html.MEDIA_TYPE: html.read_html,
    markdown.MEDIA_TYPE: markdown.read_markdown,
    tabular.MEDIA_TYPE: tabular.read_tabular,
    json_lines.MEDIA_TYPE: json_lines.read_json,
    rtf.MEDIA_TYPE: rtf.read_rtf,
    rst.MEDIA_TYPE: rst.read_rst,
    latex.MEDIA_TYPE: latex.read_latex,
    **{media_type: partial(code.read_code, media_type=media_type) for media_type in code.SUFFIXES.values()},
}
"""Readers by media type: of files, and of attachments to an e-mail."""
_OWN_WORD = {markdown.MEDIA_TYPE, rst.MEDIA_TYPE, latex.MEDIA_TYPE, html.MEDIA_TYPE}
"""Formats that any text may be: here the name is believed."""
_PICTURES = (".svg", ".ps", ".eps")
_HEAD = 64_000
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_HTML = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*+-->\s*)*+<(?:!doctype\s+html|html[\s>])", re.I | re.S)
_KEY = r'\{\s*"(?:[^"\\\n]|\\.)*+"\s*:'
_JSON = re.compile(rf"\s*(?:{_KEY}|\[\s*{_KEY})")
_HEADER = re.compile(r"([!-9;-~]+):(?:[ \t].*)?")
_OF_MAIL = {
    "received", "message-id", "mime-version", "return-path", "delivered-to", "dkim-signature", "content-type",
    "content-transfer-encoding", "x-mailer",
}  # fmt: skip
_OF_LETTERS = _OF_MAIL | {"from", "to", "date", "subject", "cc", "reply-to", "sender"}
_LATEX = re.compile(r"(?:[ \t]*(?:%[^\n]*|\\(?!documentclass)[^\n]*)?\n)*+[ \t]*\\documentclass\s*[\[{]")


def text_kind(data: bytes, name: str) -> str | None:
    """Return the media type of a text file, by its first kilobytes and its name; None where neither speaks for text.

    Raises Unsupported for a file that is no text at all.
    """
    head = _head(data)
    plain.refuse_binary(head)
    suffix = PurePath(name).suffix.lower()
    named = SUFFIXES.get(suffix)
    found = _declared(head, len(data) <= _HEAD)
    if named in code.SUFFIXES.values():
        return rtf.MEDIA_TYPE if found == rtf.MEDIA_TYPE else named
    if found is not None or named in _OWN_WORD:
        return found or named
    if named is not None and _fits(named, head):
        return named
    if named is None and (suffix in _PICTURES or _CONTROLS.search(head)):
        return None
    return _guessed(head) or (code.language_of("", head) if named is None else None) or plain.MEDIA_TYPE


def _head(data: bytes) -> str:
    """Return the beginning as text, good enough to see its structure: marks and markup are ASCII in all encodings."""
    sample = data[:_HEAD]
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return sample[len(mark) :].decode(encoding, "ignore")
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if max(even, odd) * 100 > len(sample) and min(even, odd) * 20 <= max(even, odd):
        return sample.decode("utf-16-le" if odd > even else "utf-16-be", "ignore")
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return sample.decode("latin-1")


def _declared(head: str, whole: bool) -> str | None:
    """Return the format that a text names itself in its first characters."""
    if head.lstrip().startswith("{\\rtf"):
        return rtf.MEDIA_TYPE
    if _HTML.match(head):
        return html.MEDIA_TYPE
    if _JSON.match(head) or (whole and head.lstrip().startswith(("{", "[")) and _is_json(head)):
        return json_lines.MEDIA_TYPE
    return None


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _fits(named: str, head: str) -> bool:
    """Say whether a text may be what it is named like."""
    match named:
        case tabular.MEDIA_TYPE:
            shape = tabular.shape_of(head)
            return shape.columns > 1 and shape.share >= 0.5
        case json_lines.MEDIA_TYPE:
            return head.lstrip().startswith(("{", "[", "/", '"'))
        case _ if named == EMAIL:
            return bool(_OF_LETTERS & set(_header_names(head)))
    return False


def _guessed(head: str) -> str | None:
    """Return the format that a text shows by its structure. Prose shows none."""
    names = _header_names(head)
    if "from" in names and _OF_MAIL & set(names):
        return EMAIL
    if _LATEX.match(head):
        return latex.MEDIA_TYPE
    return tabular.MEDIA_TYPE if tabular.is_table(head) else None


def _header_names(head: str) -> list[str]:
    """Return the names of the headers before the first empty line, in lower case; none if other lines are there."""
    names: list[str] = []
    for number, line in enumerate(head.lstrip("\n\r").split("\n")):
        line = line.rstrip("\r")
        if not line.strip():
            break
        if (line[0] in " \t" and names) or (number == 0 and line.startswith("From ")):
            continue
        match = _HEADER.fullmatch(line)
        if match is None:
            return []
        names.append(match[1].lower())
    return names
