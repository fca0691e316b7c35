"""What does the front matter of a Markdown file say? Title, date and tags, from YAML or TOML.

Why no YAML parser: three simple fields are wanted of what anybody may have written, and a parser refuses all of it for
one error anywhere.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_YAML = re.compile(r"\A---[ \t]*\n(?P<body>.*?)^(?:---|\.\.\.)[ \t]*$", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\A\+\+\+[ \t]*\n(?P<body>.*?)^\+\+\+[ \t]*$", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(
    r"^(?P<name>title|date|tags|keywords)[ \t]*[:=][ \t]*(?P<value>[^\n]*(?:\n(?:[ \t]+\S|- )[^\n]*)*)",
    re.IGNORECASE | re.MULTILINE,
)
_FIRST = re.compile(r"\s*(?:#[^\n]*\s*)*(?:[\w\"'-][^\n:=]*[:=]|\Z)")
"""Front matter begins with a field; what follows a rule across the top of a page is something else."""
_BLOCK_MARK = re.compile(r"[>|][+-]?\d*(?=\n)")
_COMMENT = re.compile(r"[ \t]#[^\n]*")


class FrontMatter(NamedTuple):
    """What was found, and where it ends; 0 if there is none."""

    end: int = 0
    title: str | None = None
    date: str | None = None
    tags: tuple[str, ...] = ()


def front_matter(text: str) -> FrontMatter:
    """Return what stands before the document proper."""
    match = _YAML.match(text) or _TOML.match(text)
    if match is None or not _FIRST.match(match["body"]):
        return FrontMatter()
    fields: dict[str, str] = {}
    for found in _FIELD.finditer(match["body"]):
        fields.setdefault(found["name"].lower(), found["value"])
    return FrontMatter(
        match.end(), _scalar(fields.get("title", "")), _scalar(fields.get("date", "")),
        _tags(fields.get("tags") or fields.get("keywords", "")),
    )  # fmt: skip


def _scalar(value: str) -> str | None:
    """Return a value on one line, without quotes or a comment behind it."""
    text = " ".join(_BLOCK_MARK.sub("", value).split())
    if text[:1] in ("'", '"') and (end := text.find(text[0], 1)) > 0:
        return text[1:end].strip() or None
    return _COMMENT.sub("", text).strip() or None


def _tags(value: str) -> tuple[str, ...]:
    """Return the items of a list, in brackets, one a line after a dash, or with commas."""
    if value.lstrip().startswith("["):
        items = value.strip().strip("[]").split(",")
    elif re.search(r"^[ \t]*- ", value, re.MULTILINE):
        items = [line.strip()[1:] for line in value.split("\n") if line.strip().startswith("-")]
    else:
        items = value.split(",")
    return tuple(dict.fromkeys(tag for item in items if (tag := _scalar(item.strip()))))
