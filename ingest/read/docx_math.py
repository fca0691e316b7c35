"""How is a formula of a Word file (Office Math, ISO/IEC 29500-1, 22.1) written in one line? As LaTeX.

The letters alone would say something else: of a fraction over a power they leave "ab2".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from lxml import etree

_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MATH = f"{_M}oMath"
_DEEPEST = 60
_SIGNS = {
    "±": r"\pm", "×": r"\times", "÷": r"\div", "·": r"\cdot", "⋅": r"\cdot", "∙": r"\cdot", "∗": "*", "−": "-",
    "∓": r"\mp", "≤": r"\leq", "≥": r"\geq", "≠": r"\neq", "≈": r"\approx", "≡": r"\equiv", "∼": r"\sim",
    "∝": r"\propto", "ϵ": r"\epsilon",
    "∞": r"\infty", "∂": r"\partial", "∇": r"\nabla", "∀": r"\forall", "∃": r"\exists", "∈": r"\in", "∉": r"\notin",
    "∅": r"\emptyset", "∩": r"\cap", "∪": r"\cup", "⊂": r"\subset", "⊆": r"\subseteq", "⊃": r"\supset", "∧": r"\wedge",
    "∨": r"\vee", "¬": r"\neg", "→": r"\rightarrow", "←": r"\leftarrow", "↔": r"\leftrightarrow", "⇒": r"\Rightarrow",
    "⇐": r"\Leftarrow", "⇔": r"\Leftrightarrow", "…": r"\ldots", "⋯": r"\cdots", "√": r"\surd", "∠": r"\angle",
    "⊕": r"\oplus", "⊗": r"\otimes", "⊥": r"\perp", "∥": r"\parallel", "∘": r"\circ", "°": r"\degree", "ℏ": r"\hbar",
    "∑": r"\sum", "∏": r"\prod", "∐": r"\coprod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint",
    "∯": r"\oiint", "∰": r"\oiiint", "⋃": r"\bigcup", "⋂": r"\bigcap", "⋁": r"\bigvee", "⋀": r"\bigwedge",
}  # fmt: skip
_ACCENTS = {
    "\u0300": "grave", "\u0301": "acute", "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "overline",
    "\u0306": "breve", "\u0307": "dot", "\u0308": "ddot", "\u030c": "check", "\u20d7": "vec", "\u2192": "vec",
    "^": "hat", "¯": "bar", "~": "tilde",
}  # fmt: skip
_FUNCTIONS = {
    "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "log", "ln", "exp",
    "lim", "max", "min", "sup", "inf", "det", "dim", "gcd", "arg", "ker", "deg", "Pr",
}  # fmt: skip
_BRACES = {"{": r"\{", "}": r"\}", "": "."}


def latex(formula: etree._Element) -> str:
    """Return an `m:oMath` element as LaTeX, without dollar signs."""
    return " ".join(_inside(formula, 0).split())


def _inside(element: etree._Element | None, depth: int) -> str:
    if element is None or depth > _DEEPEST:
        return ""
    return "".join(_written(child, depth + 1) for child in element if isinstance(child.tag, str))


def _written(element: etree._Element, depth: int) -> str:
    if not element.tag.startswith(_M) or element.tag.endswith("Pr"):
        return "" if element.tag.endswith("Pr") else _inside(element, depth)
    name = element.tag[len(_M) :]
    if name == "r":
        return _run(element)
    writer = _WRITERS.get(name)
    return writer(element, depth) if writer is not None else _inside(element, depth)


def _run(run: etree._Element) -> str:
    text = "".join(part.text or "" for part in run.iterfind(f"{_M}t"))
    if run.find(f"{_M}rPr/{_M}nor") is not None and sum(map(str.isalpha, text)) > 1:
        return rf"\text{{{text}}}" if text.strip() not in _FUNCTIONS else text
    return "".join(map(_sign, text))


def _sign(character: str) -> str:
    """Return a character as LaTeX has it; the names of Greek letters are those of Unicode."""
    character = unicodedata.normalize("NFKC", character) if "\U0001d400" <= character <= "\U0001d7ff" else character
    if character in _SIGNS:
        return f" {_SIGNS[character]} "
    if "\u0370" <= character <= "\u03ff":
        words = unicodedata.name(character, "").split()
        if words[:2] == ["GREEK", "SMALL"] and len(words) == 4:
            return f" \\{words[3].lower().replace('lamda', 'lambda')} "
        if words[:2] == ["GREEK", "CAPITAL"] and len(words) == 4:
            return f" \\{words[3].capitalize().replace('Lamda', 'Lambda')} "
    return character


def _part(element: etree._Element, name: str, depth: int) -> str:
    return _inside(element.find(f"{_M}{name}"), depth).strip()


def _property(element: etree._Element, name: str, default: str) -> str:
    found = element.find(f"{element.tag}Pr/{_M}{name}")
    value = found.get(f"{_M}val") if found is not None else default
    return value if value is not None else ""


def _fraction(element: etree._Element, depth: int) -> str:
    above, below = _part(element, "num", depth), _part(element, "den", depth)
    kind = _property(element, "type", "bar")
    if kind == "noBar":
        return rf"\genfrac{{}}{{}}{{0pt}}{{}}{{{above}}}{{{below}}}"
    return f"{above}/{below}" if kind in ("lin", "skw") else rf"\frac{{{above}}}{{{below}}}"


def _root(element: etree._Element, depth: int) -> str:
    degree = _part(element, "deg", depth)
    return rf"\sqrt{f'[{degree}]' if degree else ''}{{{_part(element, 'e', depth)}}}"


def _scripts(element: etree._Element, depth: int) -> str:
    below, above = element.find(f"{_M}sub"), element.find(f"{_M}sup")
    scripts = f"_{{{_inside(below, depth).strip()}}}" if below is not None else ""
    scripts += f"^{{{_inside(above, depth).strip()}}}" if above is not None else ""
    content = _part(element, "e", depth)
    return f"{{{scripts}}}{content}" if element.tag == f"{_M}sPre" else f"{content}{scripts}"


def _large(element: etree._Element, depth: int) -> str:
    sign = _sign(_property(element, "chr", "∫")).strip()
    below, above = _part(element, "sub", depth), _part(element, "sup", depth)
    scripts = (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")
    return f"{sign}{scripts} {_part(element, 'e', depth)}"


def _delimited(element: etree._Element, depth: int) -> str:
    left, right = _property(element, "begChr", "("), _property(element, "endChr", ")")
    between = _property(element, "sepChr", "|")
    content = between.join(_inside(part, depth).strip() for part in element.iterfind(f"{_M}e"))
    return rf"\left{_BRACES.get(left, left)}{content}\right{_BRACES.get(right, right)}"


def _function(element: etree._Element, depth: int) -> str:
    name, content = _part(element, "fName", depth), _part(element, "e", depth)
    return rf" {_function_name(name)}{content}" if content.startswith(("(", r"\left", "{")) else (
        rf" {_function_name(name)} {content}"
    )  # fmt: skip


def _function_name(name: str) -> str:
    """`sin` and `lim_{n}` are commands, other words stay what they are."""
    word = name.split("_")[0].split("^")[0].strip()
    return "\\" + name if word in _FUNCTIONS else name


def _limit(element: etree._Element, depth: int) -> str:
    below = element.tag == f"{_M}limLow"
    content, limit = _part(element, "e", depth), _part(element, "lim", depth)
    if content.strip() in _FUNCTIONS or content.startswith((r"\under", r"\over")):
        return f"{content}_{{{limit}}}" if below else f"{content}^{{{limit}}}"
    return rf"\{'under' if below else 'over'}set{{{limit}}}{{{content}}}"


def _accent(element: etree._Element, depth: int) -> str:
    name = _ACCENTS.get(_property(element, "chr", "\u0302"), "hat")
    return rf"\{name}{{{_part(element, 'e', depth)}}}"


def _bar(element: etree._Element, depth: int) -> str:
    name = "overline" if _property(element, "pos", "bot") == "top" else "underline"
    return rf"\{name}{{{_part(element, 'e', depth)}}}"


def _grouped(element: etree._Element, depth: int) -> str:
    above = _property(element, "pos", "bot") == "top"
    return rf"\{'over' if above else 'under'}brace{{{_part(element, 'e', depth)}}}"


def _matrix(element: etree._Element, depth: int) -> str:
    rows = (row.iterfind(f"{_M}e") for row in element.iterfind(f"{_M}mr"))
    written = r" \\ ".join(" & ".join(_inside(cell, depth).strip() for cell in row) for row in rows)
    return rf"\begin{{matrix}}{written}\end{{matrix}}"


def _lines(element: etree._Element, depth: int) -> str:
    lines = [_inside(line, depth).strip() for line in element.iterfind(f"{_M}e")]
    written = r" \\ ".join(line for line in lines if line)
    return written if len(lines) == 1 else rf"\begin{{array}}{{l}}{written}\end{{array}}"


_WRITERS: dict[str, Callable[[etree._Element, int], str]] = {
    "f": _fraction,
    "rad": _root,
    "sSup": _scripts,
    "sSub": _scripts,
    "sSubSup": _scripts,
    "sPre": _scripts,
    "nary": _large,
    "d": _delimited,
    "func": _function,
    "limLow": _limit,
    "limUpp": _limit,
    "acc": _accent,
    "bar": _bar,
    "groupChr": _grouped,
    "m": _matrix,
    "eqArr": _lines,
}
