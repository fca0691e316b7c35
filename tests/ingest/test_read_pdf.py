from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from io import BytesIO
from itertools import pairwise

import pypdf
import pytest
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from ingest.errors import Encrypted, IngestError, ReadError
from ingest.read import read
from ingest.read.pdf_text import cleaned, pdf_boxes

Lines = Sequence[str]


def make_pdf(pages: Sequence[Lines], font: str = "Helvetica", before: Callable[[Canvas], None] | None = None) -> bytes:
    buffer = BytesIO()
    canvas = Canvas(buffer, invariant=True)
    if before:
        before(canvas)
    for number, lines in enumerate(pages, 1):
        canvas.setFont(font, 11)
        for row, line in enumerate(lines):
            canvas.drawString(72, 760 - 14 * row, line)
        canvas.bookmarkPage(f"p{number}")
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def chinese_pdf(lines: Lines) -> bytes:
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    return make_pdf([lines], font="STSong-Light")


def rewritten(data: bytes, change: Callable[[pypdf.PdfWriter], object]) -> bytes:
    writer = pypdf.PdfWriter(clone_from=BytesIO(data))
    change(writer)
    buffer = BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


LONG = "The committee met in the spring of that year and decided to build the"


def test_pages_cover_their_text() -> None:
    result = read(make_pdf([["First page."], [], ["Third page."]]), "a.pdf")
    assert [page.span.of(result.text) for page in result.pages] == ["First page.", "", "Third page."]
    assert [page.number for page in result.pages] == [1, 2, 3]
    assert result.text == "First page.\n\n\n\nThird page."


def test_chinese_text_is_read() -> None:
    assert "故宫博物院成立于1925年。" in read(chinese_pdf(["故宫博物院成立于1925年。"]), "a.pdf").text


def test_title_and_date_come_from_the_properties() -> None:
    def properties(canvas: Canvas) -> None:
        canvas.setTitle("Annual report")

    data = rewritten(
        make_pdf([["x"]], before=properties),
        lambda writer: writer.add_metadata({"/CreationDate": "D:20230204115901Z"}),
    )
    result = read(data, "a.pdf")
    assert (result.title, result.date) == ("Annual report", "2023-02-04")


def test_labels_are_those_printed() -> None:
    data = rewritten(
        make_pdf([["a"], ["b"], ["c"]]),
        lambda writer: writer.set_page_label(0, 1, style="/r"),
    )
    assert [page.label for page in read(data, "a.pdf").pages][:2] == ["i", "ii"]


def test_headings_come_from_the_outline_and_stand_in_the_text() -> None:
    def outline(canvas: Canvas) -> None:
        canvas.addOutlineEntry("Introduction", "p1", 0)
        canvas.addOutlineEntry("Old methods", "p2", 1)

    data = make_pdf([["Introduction", LONG, "hall."], ["1.1 Old methods", LONG, "Old methods house."]], before=outline)
    result = read(data, "a.pdf")
    assert [(heading.level, heading.title) for heading in result.headings] == [
        (1, "Introduction"),
        (2, "Old methods"),
    ]
    assert result.text[result.headings[1].start :].startswith("1.1 Old methods\n")


def test_a_sentence_over_two_lines_is_one_block() -> None:
    result = read(
        make_pdf([[LONG, "new hall. It was opened two years later by the mayor of that town.", "Done."]]),
        "a.pdf",
    )
    assert LONG + "\nnew hall." in result.blocks[0].of(result.text)


def test_a_sentence_over_two_pages_is_one_block_in_spite_of_running_titles() -> None:
    pages = [[f"Report {number}", LONG, "hall. " + LONG] for number in (1, 2)] + [["Report 3", "new hall."]]
    result = read(make_pdf(pages), "a.pdf")
    assert result.blocks[-1].of(result.text).endswith(LONG + "\n\nnew hall.")
    assert result.blocks[0].of(result.text) == "Report 1"


def test_blocks_are_in_order_and_do_not_overlap() -> None:
    result = read(make_pdf([["Title", LONG, "• one", "• two"]] * 4), "a.pdf")
    assert all(left.end <= right.start for left, right in pairwise(result.blocks))


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        pytest.param("infor\ufffemation", "information", id="a word over two lines is joined"),
        pytest.param("infor\x02\r\nmation", "information", id="also where the break was kept"),
        pytest.param("MS\ufffeDOS", "MS-DOS", id="a hyphen before a capital stays"),
        pytest.param("http://a.org/debian\ufffefaq", "http://a.org/debian-faq", id="a hyphen in an address stays"),
        pytest.param("\r\na\r\nb\r\n", "a\nb", id="outer space goes, lines stay"),
    ],
)
def test_cleaning_of_page_text(text: str, clean: str) -> None:
    result = cleaned(text)
    assert result.text == clean
    assert result.source_span(0, len(clean)).of(text).strip() == text.strip()


def test_boxes_are_one_per_line_and_hold_the_words() -> None:
    data = make_pdf([["Alpha beta", "gamma delta"]])
    text = read(data, "a.pdf").text
    start = text.index("beta")
    first, second = pdf_boxes(data, 1, start, text.index("delta") - 1)
    assert first.page == second.page == 1
    assert first.x0 > 72 + pdfmetrics.stringWidth("Alpha", "Helvetica", 11)
    assert first.x1 == pytest.approx(72 + pdfmetrics.stringWidth("Alpha beta", "Helvetica", 11), abs=2)
    assert 755 < first.y0 < first.y1 < 775
    assert second.x0 == pytest.approx(72, abs=2)
    assert second.y1 < first.y0 + 2


def test_boxes_of_chinese_text() -> None:
    data = chinese_pdf(["故宫博物院成立于1925年。"])
    (box,) = pdf_boxes(data, 1, 2, 5)
    assert box.x0 == pytest.approx(72 + 2 * 11, abs=3)
    assert box.x1 == pytest.approx(72 + 5 * 11, abs=3)


def test_boxes_of_a_page_that_is_not_there() -> None:
    with pytest.raises(IngestError, match="no page 2"):
        pdf_boxes(make_pdf([["a"]]), 2, 0, 1)


def test_a_password_is_reported() -> None:
    data = rewritten(make_pdf([["secret"]]), lambda writer: writer.encrypt("user", "owner", algorithm="RC4-128"))
    with pytest.raises(Encrypted):
        read(data, "a.pdf")


def test_an_empty_user_password_opens() -> None:
    data = rewritten(make_pdf([["open"]]), lambda writer: writer.encrypt("", "owner", algorithm="RC4-128"))
    assert read(data, "a.pdf").text == "open"


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_a_truncated_file_is_read_or_refused(part: float) -> None:
    data = make_pdf([[LONG] * 20] * 5)
    with contextlib.suppress(ReadError):
        read(data[: int(len(data) * part)], "a.pdf")
