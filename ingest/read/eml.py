"""How is an e-mail (EML, RFC 5322 and MIME) read? Its headers, its body, and those attachments that are text."""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.errors import HeaderParseError, MessageError
from email.header import decode_header
from email.message import Message
from email.utils import parsedate_to_datetime
from pathlib import PurePath

from ingest.errors import ReadError
from ingest.normalize import normalize
from ingest.read import html, plain
from ingest.read.builder import Builder
from ingest.read.encoding import attempt, decode
from ingest.read.text_kind import EMAIL, READERS, SUFFIXES, text_kind
from ingest.types import ReadResult

MEDIA_TYPE = EMAIL
_BODIES = ("text", "multipart")
"""What is shown in place: text, and several parts that cannot be told apart."""
_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252", "us-ascii": "cp1252", "big5": "big5hkscs"}
_ASCII_BYTES = ("utf-16", "utf-7", "iso-2022", "hz")
"""Encodings of bytes that are UTF-8 as well, and mean something else in it."""
_FOLD = re.compile(r"\s*\n\s*")
_HINT = 20
"""A plain body so many times shorter than the web page beside it may only say that there is one."""
_MOST_NESTED = 20
_MOST_PARTS = 2_000


@dataclass(slots=True)
class _Letter:
    """The text so far, how many parts were seen, and how the first body was encoded."""

    builder: Builder = field(default_factory=Builder)
    parts: int = 0
    encoding: str | None = None

    def count(self) -> None:
        """Count a part. Raises ReadError for too many."""
        self.parts += 1
        if self.parts > _MOST_PARTS:
            raise ReadError(f"The e-mail has more than {_MOST_PARTS:,} parts.")


def read_eml(data: bytes) -> ReadResult:
    """Read an e-mail. Raises ReadError where it nests without end or is no e-mail at all."""
    try:
        message = message_from_bytes(data.lstrip(b"\xef\xbb\xbf\r\n"), policy=policy.compat32)
    except (MessageError, RecursionError, ValueError) as error:
        raise ReadError("The e-mail is damaged: its parts cannot be told apart.") from error
    letter = _Letter()
    _add_message(letter, message, 0)
    builder = letter.builder
    builder.end_table()
    return ReadResult(
        text=builder.text,
        media_type=MEDIA_TYPE,
        title=_header(message, "Subject") or None,
        date=_date(message),
        encoding=letter.encoding,
        headings=tuple(builder.headings),
        blocks=tuple(builder.blocks),
        table_headers=tuple(builder.table_headers),
    )


def _add_message(letter: _Letter, message: Message, depth: int) -> None:
    if depth > _MOST_NESTED:
        raise ReadError(f"The e-mail nests messages more than {_MOST_NESTED} deep.")
    shown = [(name, _header(message, name)) for name in _SHOWN]
    letter.builder.add("\n".join(f"{name}: {value}" for name, value in shown if value))
    _add_part(letter, message, depth)


def _add_part(letter: _Letter, part: Message, depth: int) -> None:
    """Append a part by what it is: a choice of bodies, a message, several parts, a file, or a body."""
    letter.count()
    kind = part.get_content_type()
    if kind == "multipart/alternative" and part.is_multipart():
        chosen = _chosen(part)
        if chosen is not None:
            _add_part(letter, chosen, depth)
    elif kind == "message/rfc822":
        letter.builder.add("Forwarded message", level=depth + 1)
        for inner in _children(part):
            _add_message(letter, inner, depth + 1)
    elif part.is_multipart():
        for inner in _children(part):
            _add_part(letter, inner, depth)
    elif _name(part) or part.get_content_disposition() == "attachment" or part.get_content_maintype() not in _BODIES:
        _add_file(letter, part, depth)
    else:
        letter.builder.add_result(_body(letter, part), below=depth)


def _children(part: Message) -> Iterator[Message]:
    payload = part.get_payload()
    if isinstance(payload, list):
        yield from (child for child in payload if isinstance(child, Message))


def _chosen(part: Message) -> Message | None:
    """Return the body to read of several that say the same: plain text, unless it is a mere hint at the other one."""
    bodies = list(_children(part))
    by_kind = {body.get_content_type(): body for body in reversed(bodies)}
    words, page = by_kind.get("text/plain"), by_kind.get("text/html")
    rich = page or next((body for body in reversed(bodies) if body.is_multipart()), None)
    if words is None or (rich is not None and len(_payload(words).strip()) * _HINT < _size(rich)):
        return rich or words or next(iter(bodies), None)
    return words


def _size(part: Message) -> int:
    return sum(len(_payload(inner)) for inner in part.walk() if inner.get_content_type() == "text/html")


def _body(letter: _Letter, part: Message) -> ReadResult:
    payload = _payload(part)
    if not payload.strip():
        return ReadResult("", MEDIA_TYPE)
    text, encoding = _decoded(payload, part.get_content_charset())
    letter.encoding = letter.encoding or encoding
    data = text.encode("utf-8", "replace")
    return html.read_html(data, whole=True) if part.get_content_type() == "text/html" else plain.read_plain(data)


def _add_file(letter: _Letter, part: Message, depth: int) -> None:
    """Name an attachment, and read it below its name if it is text."""
    payload = _payload(part)
    name = _name(part) or f"unnamed ({part.get_content_type()})"
    letter.builder.add(f"Attachment: {name} ({len(payload):,} bytes)", level=depth + 1)
    textual = part.get_content_maintype() == "text" or PurePath(name).suffix.lower() in SUFFIXES
    if not textual or not payload.strip():
        return
    try:
        kind = text_kind(payload, name)
        if kind == EMAIL:
            _add_message(letter, message_from_bytes(payload, policy=policy.compat32), depth + 1)
        elif kind is not None:
            letter.builder.add_result(READERS[kind](payload), below=depth + 1)
    except (ReadError, RecursionError, MessageError) as error:
        reason = str(error) if isinstance(error, ReadError) else "it nests too deeply"
        letter.builder.add(f"(not read: {reason})")


def _payload(part: Message) -> bytes:
    """Return the bytes of a part; what its transfer encoding spoils, as far as it goes."""
    try:
        payload = part.get_payload(decode=True)
    except (ValueError, binascii.Error, LookupError):
        payload = part.get_payload()
    if isinstance(payload, str):
        return payload.encode("utf-8", "surrogateescape")
    return payload if isinstance(payload, bytes) else b""


def _decoded(payload: bytes, charset: str | None) -> tuple[str, str]:
    """Decode by UTF-8 if it is, else as declared, else by what it looks like."""
    name = (charset or "").lower()
    names = [_WIDER.get(name, name)] if name else []
    for encoding in names if name.startswith(_ASCII_BYTES) else ["utf-8", *names]:
        text = attempt(payload, encoding)
        if text is not None:
            return text, encoding
    decoded = decode(payload)
    return decoded.text, decoded.encoding


def _name(part: Message) -> str:
    name = part.get_filename()
    return _unfolded(_words(name)) if name else ""


def _header(message: Message, name: str) -> str:
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), None)
    return _unfolded(_words(str(raw))) if raw is not None else ""


def _words(raw: str) -> str:
    """Return a header with its encoded words (RFC 2047) decoded, and with bytes that should not be there."""
    escaped = raw.encode("utf-8", "surrogateescape")
    text = raw if escaped.isascii() or attempt(escaped, "utf-8") == raw else decode(escaped).text
    if "=?" not in text:
        return text
    parts = []
    try:
        for piece, charset in decode_header(text):
            parts.append(piece if isinstance(piece, str) else _decoded(piece, charset)[0])
    except (HeaderParseError, ValueError, ReadError):
        return text
    return "".join(parts)


def _unfolded(text: str) -> str:
    return normalize(" ".join(_FOLD.sub(" ", text).split())).text


def _date(message: Message) -> str | None:
    try:
        return parsedate_to_datetime(_header(message, "Date")).date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
