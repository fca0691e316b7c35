from __future__ import annotations

from io import BytesIO

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from lxml import etree

from ingest.read import read
from ingest.read.docx_math import latex

MATH = "http://schemas.openxmlformats.org/officeDocument/2006/math"


def run(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def formula(inside: str) -> etree._Element:
    return etree.fromstring(f'<m:oMath xmlns:m="{MATH}">{inside}</m:oMath>')


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        pytest.param(
            run("E=m") + f"<m:sSup><m:e>{run('c')}</m:e><m:sup>{run('2')}</m:sup></m:sSup>", "E=mc^{2}", id="power"
        ),
        pytest.param(f"<m:f><m:num>{run('a')}</m:num><m:den>{run('b')}</m:den></m:f>", r"\frac{a}{b}", id="fraction"),
        pytest.param(
            f'<m:f><m:fPr><m:type m:val="lin"/></m:fPr><m:num>{run("a")}</m:num><m:den>{run("b")}</m:den></m:f>',
            "a/b",
            id="fraction in line",
        ),
        pytest.param(f"<m:rad><m:deg>{run('3')}</m:deg><m:e>{run('x')}</m:e></m:rad>", r"\sqrt[3]{x}", id="root"),
        pytest.param(
            f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{run("n=1")}</m:sub><m:sup>{run("∞")}</m:sup>'
            f"<m:e>{run('x')}</m:e></m:nary>",
            r"\sum_{n=1}^{\infty} x",
            id="sum",
        ),
        pytest.param(f"<m:d><m:e>{run('x')}</m:e></m:d>", r"\left(x\right)", id="parentheses"),
        pytest.param(
            f"<m:func><m:fName>{run('sin')}</m:fName><m:e>{run('x')}</m:e></m:func>", r"\sin x", id="function"
        ),
        pytest.param(run("πr"), r"\pi r", id="Greek"),
        pytest.param(f"<m:acc><m:e>{run('x')}</m:e></m:acc>", r"\hat{x}", id="accent"),
        pytest.param(
            f"<m:m><m:mr><m:e>{run('1')}</m:e><m:e>{run('0')}</m:e></m:mr><m:mr><m:e>{run('0')}</m:e></m:mr></m:m>",
            r"\begin{matrix}1 & 0 \\ 0\end{matrix}",
            id="matrix",
        ),
        pytest.param("<m:unheard>" + run("x") + "</m:unheard>", "x", id="what is unknown leaves its text"),
    ],
)
def test_formulas_are_written_as_latex(inside: str, expected: str) -> None:
    assert latex(formula(inside)) == expected


def test_a_formula_stands_in_its_sentence() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("Energy is ")
    inside = run("E=m") + f"<m:sSup><m:e>{run('c')}</m:e><m:sup>{run('2')}</m:sup></m:sSup>"
    paragraph._p.append(parse_xml(f"<m:oMath {nsdecls('m')}>{inside}</m:oMath>"))
    paragraph.add_run(" here.")
    buffer = BytesIO()
    document.save(buffer)
    assert read(buffer.getvalue(), "a.docx").text == "Energy is $E=mc^{2}$ here."


def test_deep_nesting_ends() -> None:
    latex(formula("<m:d><m:e>" * 100 + run("x") + "</m:e></m:d>" * 100))
