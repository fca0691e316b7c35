"""How is source code read? As it stands, with its classes and functions as headings.

Why expressions and no parser: a heading only says where a text is best cut and what it stands under. One that is missed
costs a worse cut, and a file that no parser would accept is read as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from ingest.read.plain import paragraphs
from ingest.read.verbatim import lines, source_of
from ingest.types import Heading, ReadResult, Span

_MODIFIERS = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)\n]*\))?|unsafe|"
    r"const|open|override|sealed|data|partial|virtual|inline|extern|declare|suspend|fileprivate|mutating)[ \t]+)*+"
)
_INDENT = r"(?P<indent>[ \t]*+)"
_NAMED = _INDENT + _MODIFIERS + (
    r"(?P<title>(?:class|interface|struct|enum|trait|impl|union|namespace|module|object|record|protocol|extension|"
    r"function\*?|func|fn|fun|def|type)\b[ \t<]+(?:\([^)\n]*\)[ \t]*)?[\w.:<>~ -]*\w>?)(?=[^;\n]*(?:\{|$))"
)  # fmt: skip
_RETURNING = _INDENT + r"(?:[\w:<>,\[\]]++[ \t*&]++)++(?P<title>~?[A-Za-z_][\w:~]*+)\([^(;{}\n]*\)[^;{}()\n]*\{?$"
_METHOD = _INDENT + r"(?:(?:async|static|get|set)[ \t]+)*+(?P<title>[A-Za-z_$][\w$]*+)\([^(;{}\n]*\)[^;{}()\n]*\{$"
_CONTROL = {
    "if", "for", "while", "switch", "catch", "return", "else", "do", "try", "with", "until", "unless", "foreach", "new",
    "throw", "defined",
}  # fmt: skip
_PYTHON = (re.compile(_INDENT + r"(?P<title>(?:async[ \t]+)?def[ \t]+\w+|class[ \t]+\w+)"),)
_RUBY = (re.compile(_INDENT + r"(?P<title>(?:def|class|module)[ \t]+[\w.:?!]+|(?:local[ \t]+)?function[ \t]+[\w.:]+)"),)
_BRACES = (re.compile(_NAMED), re.compile(_RETURNING))
_ARROW = (
    r"(?P<indent>)(?:export[ \t]+)?(?:default[ \t]+)?(?:const|let|var)[ \t]+(?P<title>[\w$]+)[ \t]*=[ \t]*"
    r"(?:async[ \t]*)?(?:function\b|\([^()\n]*\)[ \t]*=>|[\w$]+[ \t]*=>)"
)
_SCRIPT = (re.compile(_NAMED), re.compile(_METHOD), re.compile(_ARROW))
_R = (re.compile(_INDENT + r"(?P<title>[\w.]+)[ \t]*(?:<-|=)[ \t]*function\b"),)
_PERL = (re.compile(_INDENT + r"(?P<title>(?:sub|package)[ \t]+[\w:]+)"),)
_SHELL = (re.compile(_INDENT + r"(?P<title>function[ \t]+[\w:-]+|[\w:-]+[ \t]*\(\))(?=[ \t]*(?:\{|\(\)|$))"),)
_SQL = (
    re.compile(
        _INDENT + r"(?P<title>create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|materialized\s+)*+"
        r"(?:table|view|function|procedure|trigger|index|schema|type)\s+(?:if\s+not\s+exists\s+)?[\w.\"`\[\]]+)",
        re.IGNORECASE,
    ),
)
_SECTIONS = (re.compile(_INDENT + r"\[+(?P<title>[^\[\]\n]+)\]+[ \t]*$"),)
_NONE: tuple[re.Pattern[str], ...] = ()
_LEADING = ("@", "#[", "//", "/*", "*", "#", "--")
"""How lines begin that belong to the declaration below them: decorators, attributes, comments."""

_LANGUAGES: tuple[tuple[str, tuple[re.Pattern[str], ...], str], ...] = (
    ("text/x-python", _PYTHON, ".py .pyi .pyw"),
    ("text/x-ruby", _RUBY, ".rb"),
    ("text/x-lua", _RUBY, ".lua"),
    ("text/x-julia", _RUBY, ".jl"),
    ("text/javascript", _SCRIPT, ".js .mjs .cjs .jsx"),
    ("text/x-typescript", _SCRIPT, ".ts .mts .cts .tsx"),
    ("text/x-vue", _SCRIPT, ".vue .svelte"),
    ("text/x-c", _BRACES, ".c .h"),
    ("text/x-c++", _BRACES, ".cc .cpp .cxx .hh .hpp .hxx .cu"),
    ("text/x-objective-c", _BRACES, ".m .mm"),
    ("text/x-java", _BRACES, ".java"),
    ("text/x-csharp", _BRACES, ".cs"),
    ("text/x-kotlin", _BRACES, ".kt .kts"),
    ("text/x-scala", _BRACES, ".scala"),
    ("text/x-swift", _BRACES, ".swift"),
    ("text/x-dart", _BRACES, ".dart"),
    ("text/x-go", _BRACES, ".go"),
    ("text/x-rust", _BRACES, ".rs"),
    ("text/x-php", _BRACES, ".php"),
    ("text/x-protobuf", _BRACES, ".proto"),
    ("text/x-perl", _PERL, ".pl .pm"),
    ("text/x-shellscript", _SHELL, ".sh .bash .zsh"),
    ("text/x-powershell", _BRACES, ".ps1 .psm1"),
    ("text/x-r", _R, ".r"),
    ("text/x-sql", _SQL, ".sql"),
    ("text/css", _NONE, ".css .scss .less"),
    ("application/toml", _SECTIONS, ".toml"),
    ("text/x-ini", _SECTIONS, ".ini .cfg .conf .properties"),
    ("application/yaml", _NONE, ".yaml .yml"),
    ("application/xml", _NONE, ".xml .xsd .xsl .xslt"),
)
SUFFIXES = {suffix: media_type for media_type, _, suffixes in _LANGUAGES for suffix in suffixes.split()}
"""Media types by suffix."""
_PATTERNS = {media_type: patterns for media_type, patterns, _ in _LANGUAGES}
_INTERPRETER = re.compile(r"#![^\n]*?\b(python|node|ruby|perl|lua|php|(?:ba|z|da|k)?sh)[\d.]*\b")
_INTERPRETED = {
    "python": "text/x-python", "node": "text/javascript", "ruby": "text/x-ruby", "perl": "text/x-perl",
    "lua": "text/x-lua", "php": "text/x-php",
}  # fmt: skip
_MARKED = {"<?php": "text/x-php", "<?xml": "application/xml"}


def read_code(data: bytes, media_type: str) -> ReadResult:
    """Read source code of a media type in SUFFIXES."""
    source = source_of(data)
    headings = tuple(_headings(source.text, _PATTERNS.get(media_type, _NONE)))
    return source.result(media_type, headings=headings, blocks=tuple(paragraphs(source.text)))


def language_of(name: str, sample: str) -> str | None:
    """Return the media type of source code by the suffix of its name, else by how it begins; None if it is none."""
    named = SUFFIXES.get(PurePath(name).suffix.lower())
    if named is not None:
        return named
    interpreter = _INTERPRETER.match(sample)
    if interpreter is not None:
        return _INTERPRETED.get(interpreter[1], "text/x-shellscript")
    return next((media_type for start, media_type in _MARKED.items() if sample.startswith(start)), None)


def _headings(text: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[Heading]:
    """Yield the declarations, each one level below those that it is indented under."""
    spans = lines(text) if patterns else []
    widths: list[int] = []
    for number, span in enumerate(spans):
        declaration = _declaration(span.of(text), patterns)
        if declaration is None:
            continue
        width = len(declaration["indent"].expandtabs(4))
        while widths and widths[-1] >= width:
            widths.pop()
        widths.append(width)
        title = " ".join(declaration["title"].split())
        yield Heading(len(widths), title, spans[_first_line(text, spans, number)].start)


def _declaration(line: str, patterns: Sequence[re.Pattern[str]]) -> re.Match[str] | None:
    if len(line) > 500:  # not written by hand
        return None
    for pattern in patterns:
        match = pattern.match(line.rstrip())
        if match is not None and not _CONTROL & {match["title"], line.split(maxsplit=1)[0]}:
            return match
    return None


def _first_line(text: str, spans: Sequence[Span], number: int) -> int:
    """Return the number of the first line of the comments and decorators right above line `number`."""
    while number and spans[number - 1].of(text).lstrip().startswith(_LEADING):
        number -= 1
    return number
