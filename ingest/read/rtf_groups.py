"""What do the control words of an RTF file mean for the text? Its code pages, fonts, and what is not shown.

Source: Rich Text Format Specification 1.9.1 (Microsoft, 2008).
"""

from __future__ import annotations

from dataclasses import dataclass

CHARSETS = {
    77: "mac-roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "big5hkscs", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 255: "cp437",
}  # fmt: skip
"""Encodings by the number after `\\fcharset`; others (0, 1, 2) are written in the file's own code page."""
CODE_PAGES = {936: "gb18030", 950: "big5hkscs", 10000: "mac-roman", 10001: "cp932", 65001: "utf-8", 1361: "johab"}
"""Encodings by the number after `\\ansicpg` or `\\cpg` where they are not called `cp` and the number."""
FILE_CHARSETS = {"ansi": "cp1252", "mac": "mac-roman", "pc": "cp437", "pca": "cp850"}

CHARACTERS = {
    "tab": "\t", "line": "\n", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    "bullet": "•", "endash": "–", "emdash": "—", "emspace": " ", "enspace": " ", "qmspace": " ",
}  # fmt: skip
SYMBOLS = {"~": " ", "_": "-", "-": "", "{": "{", "}": "}", "\\": "\\"}
PARAGRAPH_ENDS = {"par", "sect", "page", "column"}
SKIPPED = {
    "colortbl", "pict", "objdata", "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr",
    "footerf", "nonshppict", "xe", "tc", "filetbl", "info", "revtbl", "listtable", "listoverridetable", "rsidtbl",
    "themedata", "colorschememapping", "datastore", "latentstyles", "fldinst", "bkmkstart", "bkmkend", "annotation",
    "atnid", "atnauthor", "private", "nonesttables",
}  # fmt: skip
"""Destinations that are no part of the running text, apart from those that are marked as ignorable."""


@dataclass(slots=True)
class State:
    """What holds inside a group, and ends with it."""

    destination: str = "text"
    encoding: str = "cp1252"
    fallback_length: int = 1
    hidden: bool = False
    in_table: bool = False
    level: int = 0
    style: int = 0


def code_page(number: int) -> str:
    """Return the encoding of a code page; one that Python does not know is told apart later."""
    return CODE_PAGES.get(number, f"cp{number}")


def decoded(raw: bytes, encoding: str) -> str:
    """Decode the bytes of a run, by Western Europe's code page where the declared one does not fit."""
    for name in (encoding, "cp1252"):
        try:
            return raw.decode(name)
        except (UnicodeError, LookupError):
            continue
    return raw.decode("latin-1")
