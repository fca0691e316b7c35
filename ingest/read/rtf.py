"""How is a Rich Text Format file read? What a reader of the document sees, hidden and deleted text left out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from ingest.errors import ReadError
from ingest.read.builder import Builder
from ingest.read.rtf_groups import (
    CHARACTERS,
    CHARSETS,
    FILE_CHARSETS,
    PARAGRAPH_ENDS,
    SKIPPED,
    SYMBOLS,
    State,
    code_page,
    decoded,
)  # fmt: skip
from ingest.read.tabular import is_header
from ingest.types import ReadResult

MEDIA_TYPE = "application/rtf"
_TOKEN = re.compile(
    r"\\'(?P<byte>[0-9a-fA-F]{2})"
    r"|\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?[0-9]{1,10})? ?"
    r"|\\(?P<symbol>[^a-zA-Z])"
    r"|(?P<open>\{)|(?P<close>\})"
    r"|(?P<text>[^\\{}\r\n]+)"
    r"|[\r\n]+|\\",
    re.DOTALL,
)
_HEADING = re.compile(r"(?:heading|标题|標題)\s*([1-9])", re.IGNORECASE)
_MOST_GROUPS = 10_000


@dataclass(slots=True)
class _Reader:
    """Where reading is: the state of each open group, and the text that has not become a block yet."""

    builder: Builder = field(default_factory=Builder)
    states: list[State] = field(default_factory=lambda: [State()])
    raw: bytearray = field(default_factory=bytearray)
    line: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    nested: list[str] = field(default_factory=list)
    note: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    named: list[str] = field(default_factory=list)
    fonts: dict[int, str] = field(default_factory=dict)
    font: int = 0
    first_font: int = 0
    file_encoding: str = "cp1252"
    levels: dict[int, int] = field(default_factory=dict)
    titled: list[str] = field(default_factory=list)
    skip: int = 0
    header_row: bool = False

    @property
    def state(self) -> State:
        return self.states[-1]


def read_rtf(data: bytes) -> ReadResult:
    """Read an RTF file. Raises ReadError for one that nests without end."""
    reader = _Reader()
    source = data.decode("latin-1")
    position = 0
    while match := _TOKEN.match(source, position):
        position = match.end()
        if match["word"] == "bin" and match["number"]:
            position += max(0, int(match["number"]))
        else:
            _take(reader, match)
    del reader.states[1:]  # a file that is cut off leaves groups open
    _end_paragraph(reader)
    builder = reader.builder
    builder.end_table()
    return ReadResult(
        text=builder.text,
        media_type=MEDIA_TYPE,
        title=_joined(reader.titled).strip() or next((one.title for one in builder.headings if one.level == 1), None),
        encoding=reader.file_encoding,
        headings=tuple(builder.headings),
        blocks=tuple(builder.blocks),
        table_headers=tuple(builder.table_headers),
    )


def _take(reader: _Reader, match: re.Match[str]) -> None:
    match match.lastgroup:
        case "open":
            _flush(reader)
            reader.skip = 0
            if len(reader.states) > _MOST_GROUPS:
                raise ReadError(f"The RTF file nests its groups more than {_MOST_GROUPS:,} deep.")
            reader.states.append(replace(reader.state))
        case "close":
            _close(reader)
        case "byte":
            _bytes(reader, bytes([int(match["byte"], 16)]))
        case "text":
            _bytes(reader, match["text"].encode("latin-1"))
        case "symbol":
            _symbol(reader, match["symbol"])
        case "word" | "number":
            _word(reader, match["word"], int(match["number"]) if match["number"] else None)


def _bytes(reader: _Reader, raw: bytes) -> None:
    """Take bytes of text; the first ones after a character by number only repeat it for old programs."""
    skipped = min(reader.skip, len(raw))
    reader.skip -= skipped
    if reader.state.destination != "skipped":
        reader.raw += raw[skipped:]


def _symbol(reader: _Reader, symbol: str) -> None:
    if reader.skip:
        reader.skip -= 1
    elif symbol == "*":
        reader.state.destination = "skipped"
    elif symbol in "\r\n":
        _end_paragraph(reader)
    elif symbol in "{}\\" and reader.raw:
        _bytes(reader, symbol.encode())  # may be the second byte of a character
    elif symbol in SYMBOLS:
        _characters(reader, SYMBOLS[symbol])


def _word(reader: _Reader, word: str, number: int | None) -> None:
    if word == "u" and number is not None:
        _characters(reader, chr(number % 65536))
        reader.skip = reader.state.fallback_length
    elif word in CHARACTERS and reader.skip:
        reader.skip -= 1
    elif word in CHARACTERS:
        _characters(reader, CHARACTERS[word])
    elif word in PARAGRAPH_ENDS:
        _end_paragraph(reader)
    elif word in SKIPPED or word in _DESTINATIONS:
        _flush(reader)
        _enter(reader, word)
    elif word in FILE_CHARSETS:
        reader.file_encoding = reader.state.encoding = FILE_CHARSETS[word]
    elif word in _WORDS:
        _flush(reader)
        _WORDS[word](reader, number)


_DESTINATIONS = {"fonttbl", "stylesheet", "footnote", "title", "shptxt"}


def _enter(reader: _Reader, word: str) -> None:
    """Begin a destination: what is shown, what is only looked at, or what is skipped."""
    state = reader.state
    if word in ("fonttbl", "stylesheet"):
        state.destination = word
    elif word == "title":
        state.destination = "title" if state.destination == "info" else state.destination
    elif word == "footnote":
        state.destination = "footnote" if state.destination == "text" else "skipped"
    elif word == "shptxt":  # a text box stands inside of a group that old programs ignore
        state.destination = "text"
    elif word == "info":
        state.destination = "info"
    else:
        state.destination = "skipped"


def _characters(reader: _Reader, text: str) -> None:
    _flush(reader)
    _emit(reader, text)


def _flush(reader: _Reader) -> None:
    if reader.raw:
        text = decoded(bytes(reader.raw), reader.state.encoding)
        reader.raw.clear()
        _emit(reader, text)


def _emit(reader: _Reader, text: str) -> None:
    state = reader.state
    match state.destination:
        case "text" if not state.hidden:
            reader.line.append(text)
        case "footnote" if not state.hidden:
            reader.note.append(text)
        case "title":
            reader.titled.append(text)
        case "stylesheet":
            reader.named.append(text)


def _close(reader: _Reader) -> None:
    _flush(reader)
    reader.skip = 0
    if len(reader.states) == 1:
        return
    ended = reader.states.pop()
    if ended.destination == "stylesheet":
        name = "".join(reader.named).strip(" ;")
        reader.named.clear()
        match = _HEADING.match(name)
        if match or name.lower() in ("title", "标题"):
            reader.levels[ended.style] = int(match[1]) if match else 1
    elif ended.destination == "fonttbl":
        reader.state.encoding = reader.fonts.get(reader.first_font, reader.file_encoding)
    elif ended.destination == "footnote" and reader.state.destination != "footnote":
        reader.notes.append(_joined(reader.note))


def _joined(parts: list[str]) -> str:
    """Return the text of parts, halves of surrogate pairs put together."""
    text = "".join(parts)
    parts.clear()
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _end_paragraph(reader: _Reader) -> None:
    _flush(reader)
    state = reader.state
    if state.destination == "footnote":
        reader.note.append("\n")
        return
    if state.destination != "text":
        return
    if state.in_table:
        reader.line.append(" ")
        return
    _end_row(reader)
    reader.builder.add(_joined(reader.line).strip(), level=state.level or reader.levels.get(state.style, 0))
    _add_notes(reader)


def _add_notes(reader: _Reader) -> None:
    for note in reader.notes:
        reader.builder.add(note.strip())
    reader.notes.clear()


def _end_cell(reader: _Reader, _: int | None) -> None:
    if reader.state.destination == "text":
        reader.cells.append(" ".join(_joined(reader.line).split()))


def _end_nested_cell(reader: _Reader, _: int | None) -> None:
    if reader.state.destination == "text":
        reader.nested.append(" ".join(_joined(reader.line).split()))


def _end_row(reader: _Reader, _: int | None = None) -> None:
    if reader.state.destination == "text":
        _add_row(reader, reader.cells)


def _end_nested_row(reader: _Reader, _: int | None) -> None:
    """Add a row of a table inside of a cell; its end stands in a group that old programs ignore."""
    _add_row(reader, reader.nested)


def _add_row(reader: _Reader, cells: list[str]) -> None:
    if cells:
        header = reader.header_row or (not reader.builder.in_table and is_header(cells))
        reader.builder.add_row(cells, header=header)
        cells.clear()


def _row_defaults(reader: _Reader, _: int | None) -> None:
    reader.header_row = False


def _mark_header(reader: _Reader, _: int | None) -> None:
    reader.header_row = True


def _paragraph_defaults(reader: _Reader, _: int | None) -> None:
    state = reader.state
    state.in_table, state.level, state.style = False, 0, 0


def _character_defaults(reader: _Reader, _: int | None) -> None:
    reader.state.hidden = False
    _font(reader, reader.first_font)


def _font(reader: _Reader, number: int | None) -> None:
    if reader.state.destination == "fonttbl":
        reader.font = number or 0
    else:
        reader.state.encoding = reader.fonts.get(number or 0, reader.file_encoding)


def _font_charset(reader: _Reader, number: int | None) -> None:
    if number in CHARSETS:
        reader.fonts[reader.font] = CHARSETS[number]


def _font_code_page(reader: _Reader, number: int | None) -> None:
    if number and reader.state.destination == "fonttbl":
        reader.fonts[reader.font] = code_page(number)


def _file_code_page(reader: _Reader, number: int | None) -> None:
    if number:
        reader.file_encoding = reader.state.encoding = code_page(number)


def _first_font(reader: _Reader, number: int | None) -> None:
    reader.first_font = number or 0


def _hide(reader: _Reader, number: int | None) -> None:
    reader.state.hidden = number != 0


def _fallback_length(reader: _Reader, number: int | None) -> None:
    reader.state.fallback_length = max(0, min(number or 0, 100))


def _outline_level(reader: _Reader, number: int | None) -> None:
    reader.state.level = number + 1 if number is not None and 0 <= number <= 8 else 0


def _style(reader: _Reader, number: int | None) -> None:
    reader.state.style = number or 0


def _in_table(reader: _Reader, _: int | None) -> None:
    reader.state.in_table = True


_WORDS: dict[str, Callable[[_Reader, int | None], None]] = {
    "cell": _end_cell, "nestcell": _end_nested_cell, "row": _end_row, "nestrow": _end_nested_row,
    "trowd": _row_defaults, "trhdr": _mark_header, "intbl": _in_table, "pard": _paragraph_defaults,
    "plain": _character_defaults, "f": _font, "fcharset": _font_charset, "cpg": _font_code_page,
    "ansicpg": _file_code_page, "deff": _first_font, "v": _hide, "deleted": _hide, "uc": _fallback_length,
    "outlinelevel": _outline_level, "s": _style,
}  # fmt: skip
