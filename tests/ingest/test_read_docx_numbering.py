from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import docx
import pytest
from docx.document import Document as WordFile
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.text.paragraph import Paragraph

from ingest.read import read

OUTLINE = [("decimal", "%1", 1), ("decimal", "%1.%2", 1), ("lowerLetter", "(%3)", 1)]
Level = tuple[str, str, int]


def add_list(
    document: WordFile, number: int, levels: Sequence[Level], abstract: int | None = None, extra: str = ""
) -> None:
    """Add a numbering; with `abstract`, one that shares the levels and counters of that one."""
    root = document.part.numbering_part.element
    key = 900 + number if abstract is None else 900 + abstract
    if abstract is None:
        written = "".join(
            f'<w:lvl w:ilvl="{index}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>'
            f'<w:lvlText w:val="{text}"/></w:lvl>'
            for index, (form, text, start) in enumerate(levels)
        )
        element = parse_xml(f'<w:abstractNum {nsdecls("w")} w:abstractNumId="{key}">{written}</w:abstractNum>')
        root.insert(0, element)
    root.append(parse_xml(f'<w:num {nsdecls("w")} w:numId="{number}"><w:abstractNumId w:val="{key}"/>{extra}</w:num>'))


def numbered(paragraph: Paragraph, number: int, level: int) -> None:
    place = f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
    paragraph._p.get_or_add_pPr().append(parse_xml(place))


def lines_of(document: WordFile) -> list[str]:
    buffer = BytesIO()
    document.save(buffer)
    result = read(buffer.getvalue(), "a.docx")
    assert all(result.text[heading.start :].startswith(heading.title) for heading in result.headings)
    return [line for line in result.text.split("\n") if line]


def listed(levels: Sequence[Level], items: Sequence[int]) -> list[str]:
    document = docx.Document()
    add_list(document, 77, levels)
    for level in items:
        numbered(document.add_paragraph("x"), 77, level)
    return [line.removesuffix("x").strip() for line in lines_of(document)]


def test_levels_count_on_and_begin_anew_below_a_higher_one() -> None:
    assert listed(OUTLINE, [0, 1, 1, 2, 2, 0, 1, 2]) == ["1", "1.1", "1.2", "(a)", "(b)", "2", "2.1", "(a)"]


def test_a_level_passed_over_takes_its_first_number() -> None:
    assert listed([("decimal", "%1", 1), ("decimal", "%1.%2", 1), ("decimal", "%1.%2.%3", 1)], [0, 2, 1]) == [
        "1",
        "1.1.1",
        "1.2",
    ]


@pytest.mark.parametrize(
    ("form", "start", "shown"),
    [
        ("decimal", 9, ["9.", "10."]),
        ("decimalZero", 9, ["09.", "10."]),
        ("upperLetter", 26, ["Z.", "AA."]),
        ("lowerRoman", 3, ["iii.", "iv."]),
        ("upperRoman", 8, ["VIII.", "IX."]),
        ("ordinal", 2, ["2nd.", "3rd."]),
        ("chineseCounting", 10, ["十.", "十一."]),
        ("bullet", 1, ["", ""]),
        ("unheardOf", 1, ["1.", "2."]),
    ],
)
def test_forms_of_numbers(form: str, start: int, shown: list[str]) -> None:
    assert listed([(form, "%1.", start)], [0, 0]) == shown


def test_lists_over_one_abstract_list_count_on_unless_one_begins_anew() -> None:
    document = docx.Document()
    add_list(document, 77, OUTLINE)
    add_list(document, 78, OUTLINE, abstract=77)
    begins = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    add_list(document, 79, OUTLINE, abstract=77, extra=begins)
    for number in (77, 78, 79, 79):
        numbered(document.add_paragraph("x"), number, 0)
    assert lines_of(document) == ["1 x", "2 x", "5 x", "6 x"]


def test_numbers_of_headings_come_from_their_style_and_can_be_switched_off() -> None:
    document = docx.Document()
    add_list(document, 77, OUTLINE)
    for level in (1, 2):
        style = document.styles[f"Heading {level}"].element
        place = f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{level - 1}"/><w:numId w:val="77"/></w:numPr>'
        style.get_or_add_pPr().append(parse_xml(place))
    document.add_heading("Aims", 1)
    document.add_heading("Scope", 2)
    numbered(document.add_heading("Thanks", 1), 0, 0)
    assert lines_of(document) == ["1 Aims", "1.1 Scope", "Thanks"]


def test_cells_of_tables_are_numbered_too() -> None:
    document = docx.Document()
    add_list(document, 77, OUTLINE)
    cell = document.add_table(1, 2).rows[0].cells[0]
    cell.text = "step"
    numbered(cell.paragraphs[0], 77, 0)
    assert lines_of(document)[0].startswith("1 step |")
