"""Presentations, workbooks, OpenDocument files and books give their text in reading order."""

from __future__ import annotations

import pytest

from ingest.errors import Encrypted, ReadError, TooLarge
from ingest.read import read, xlsx
from ingest.read.number_format import number_formats, shown
from tests.ingest.office_samples import (
    ODP_BODY,
    ODS_BODY,
    ODT_BODY,
    changed,
    epub_file,
    member,
    odf_file,
    pptx_file,
    xlsx_file,
)
from tests.ingest.text_samples import blocks, check_chunks, headings

_MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'

# -- presentations


def test_slides_are_pages_with_their_notes() -> None:
    result = read(pptx_file(), "a.pptx")
    assert blocks(result) == [
        "Oil changes 换油", "Before the title in the file", "Every 500 hours.", "每五百小时换油。", "In a group",
        "ship | hours", "Kittiwake | 500", "鹿屿星 | 400", "Say it twice.", "要说两遍。",
        "A slide without a title", " | Trips", "May | 12", "June | 7.5",
    ]  # fmt: skip
    assert headings(result) == [(1, "Oil changes 换油"), (2, "Notes"), (1, "Slide 2")]
    assert [(page.number, page.label) for page in result.pages] == [(1, "1"), (2, "2"), (3, "3")]
    assert [page.span.of(result.text)[-5:] for page in result.pages] == ["要说两遍。", "| 7.5", ""]
    assert [one.text for one in result.table_headers] == ["ship | hours", "| Trips"]
    assert (result.title, result.date, result.tags) == ("The fleet", "2024-05-01", ("ships", "船队"))
    chunks = check_chunks(result)
    assert [(chunk.page, chunk.page_end, chunk.headings) for chunk in chunks] == [
        (1, 1, ("Oil changes 换油",)), (1, 1, ("Oil changes 换油", "Notes")), (2, 2, ("Slide 2",)),
    ]  # fmt: skip


def test_a_broken_slide_costs_itself_alone() -> None:
    result = read(changed(pptx_file(), {"ppt/slides/slide2.xml": "<broken"}), "a.pptx")
    assert result.failed_pages == (2,)
    assert [page.number for page in result.pages] == [1, 2, 3]
    assert result.text.endswith("要说两遍。")
    check_chunks(result)
    nothing = {f"ppt/slides/slide{number}.xml": None for number in (1, 2, 3)}
    with pytest.raises(ReadError, match="none of its slides"):
        read(changed(pptx_file(), nothing), "a.pptx")


def test_an_opendocument_presentation_has_the_same_order() -> None:
    result = read(odf_file("presentation", ODP_BODY), "a.odp")
    assert blocks(result) == ["Oil 换油", "Every 500 hours.", "In a group", "Say it twice.", "No title"]
    assert headings(result) == [(1, "Oil 换油"), (2, "Notes"), (1, "Slide 2")]
    assert [page.label for page in result.pages] == ["1", "2"]
    check_chunks(result)


# -- workbooks


def test_rows_of_a_workbook_are_blocks_under_their_sheet() -> None:
    result = read(xlsx_file(), "a.xlsx")
    assert blocks(result) == [
        "Log 日志", "The log of the fleet", "ship | day | full | trips", "Kittiwake | 2024-05-01 | 15.3% | 12",
        "鹿屿星 | 2024-05-02 10:30 | 50% | 0.3", "two lines |  |  | TRUE",
        "Sums", "name | sum", "all | 3", "city | ferry | port", "Alder | Kittiwake | 3",
        "Lists", "a hidden word",
    ]  # fmt: skip
    assert headings(result) == [(1, "Log 日志"), (1, "Sums"), (1, "Lists")]
    assert [one.text for one in result.table_headers] == [
        "ship | day | full | trips", "name | sum", "city | ferry | port",
    ]  # fmt: skip
    assert (result.title, result.date, result.failed_pages) == ("Trips 航次", "2024-05-01", ())
    check_chunks(result)


def sheet(rows: str) -> bytes:
    content = f"<worksheet {_MAIN}><sheetData>{rows}</sheetData></worksheet>"
    return changed(xlsx_file(), {"xl/worksheets/sheet1.xml": content, "xl/worksheets/sheet2.xml": None})


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        pytest.param("<c><f>1+1</f><v>2</v></c>", "2", id="value of a formula"),
        pytest.param('<c t="str"><f>A1</f><v>words</v></c>', "words", id="text of a formula"),
        pytest.param('<c t="e"><v>#DIV/0!</v></c>', "#DIV/0!", id="error"),
        pytest.param('<c t="inlineStr"><is><r><t>a</t></r><rPh><t>x</t></rPh><r><t>é</t></r></is></c>', "aé", id="r"),
        pytest.param('<c t="d"><v>2024-05-01</v></c>', "2024-05-01", id="date as text"),
        pytest.param('<c t="str"><v>a_x0041_b</v></c>', "aAb", id="escape"),
        pytest.param("<c><v>12345678901234567890</v></c>", "12345678901234567890", id="long number"),
        pytest.param('<c t="s"><v>99999</v></c><c><v>7</v></c>', "7", id="no such string"),
        pytest.param('<c r="XFD1" s="999"><v>7</v></c>', "7", id="far away"),
    ],
)  # fmt: skip
def test_a_cell_is_read_as_it_is_shown(cell: str, text: str) -> None:
    assert blocks(read(sheet(f"<row>{cell}</row>"), "a.xlsx"))[1] == text


@pytest.mark.parametrize(
    ("code", "value", "text"),
    [
        ("yyyy-mm-dd", "45413", "2024-05-01"),
        ('yyyy"年"m"月"d"日"', "45413", "2024-05-01"),
        ("[$-404]e/m/d", "45413", "2024-05-01"),
        ("d/m/yy h:mm", "45413.4375", "2024-05-01 10:30"),
        ("h:mm:ss", "0.5000115740740741", "12:00:01"),
        ("[h]:mm", "1.5", "36:00"),
        ("0.0%", "0.07", "7%"),
        ('0.00" days"', "1.25", "1.25"),
        ("[Red]0.00;[Blue]-0.00", "1.25", "1.25"),
        ("0.00E+00", "1234.5", "1234.5"),
        ("General", "0.30000000000000004", "0.3"),
        ("yyyy", "-5", "-5"),
        ("yyyy", "1", "1900-01-01"),
        ("yyyy", "99999999", "99999999"),
        ("0", "1E+3", "1000"),
        ("0", "inf", "inf"),
    ],
)
def test_numbers_stand_for_days_times_and_shares(code: str, value: str, text: str) -> None:
    (given,) = number_formats(["170"], {"170": code})
    assert shown(value, given, from_1904=False) == text


def test_days_may_count_from_1904() -> None:
    assert [shown("43951", given, from_1904=True) for given in number_formats(["14", "0"], {})] == [
        "2024-05-01", "43951",
    ]  # fmt: skip


def test_every_chunk_of_a_long_sheet_knows_its_header() -> None:
    names = '<row><c t="str"><v>船</v></c><c t="str"><v>hours</v></c></row>'
    rows = "".join(f'<row r="{n}"><c t="str"><v>ship {n}</v></c><c><v>{n}</v></c></row>' for n in range(2, 400))
    first, second, *others = check_chunks(read(sheet(names + rows), "a.xlsx"))
    assert first.text.startswith("Log 日志\n\n船 | hours\nship 2 | 2")
    assert {chunk.table_header for chunk in [second, *others[:-2]]} == {"船 | hours"}
    assert {chunk.headings for chunk in [second, *others[:-2]]} == {("Log 日志",)}


def test_a_sparse_sheet_stays_small() -> None:
    far = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row>'
    assert len(read(sheet(far), "a.xlsx").text) < 1000


def test_too_many_cells_are_refused_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx, "MAX_CELLS", 10)
    with pytest.raises(TooLarge, match="10 cells"):
        read(xlsx_file(), "a.xlsx")


def test_what_is_broken_in_a_workbook_costs_itself_alone() -> None:
    whole = member(xlsx_file(), "xl/worksheets/sheet1.xml")
    half = changed(xlsx_file(), {"xl/worksheets/sheet1.xml": whole[: whole.index('<row r="5"')]})
    result = read(changed(half, {"docProps/core.xml": "<broken", "xl/styles.xml": "<broken"}), "a.xlsx")
    assert result.failed_pages == (1,)
    assert "Kittiwake | 45413 | 0.153 | 12" in blocks(result)
    assert "a hidden word" in blocks(result)
    assert "鹿屿星" not in result.text
    check_chunks(result)


def test_an_opendocument_workbook_has_rows_and_iso_dates() -> None:
    result = read(odf_file("spreadsheet", ODS_BODY), "a.ods")
    assert blocks(result) == ["Log 日志", "ship | day", "鹿屿星 | 2024-05-01", "鹿屿星 | 2024-05-01"]
    assert [one.text for one in result.table_headers] == ["ship | day"]
    check_chunks(result)


# -- OpenDocument texts


def test_an_opendocument_text_is_read_as_it_is_seen() -> None:
    result = read(odf_file("text", ODT_BODY), "a.odt")
    assert blocks(result) == [
        "The rules", "Leave", "24 days.  年假为二十四天。 Ask\nus.", "A note.", "one", "two", "days | pay",
        "1 day | all", "Travel", "Before and after.", "In a box.",
    ]  # fmt: skip
    assert headings(result) == [(1, "The rules"), (1, "Leave"), (2, "Travel")]
    assert [one.text for one in result.table_headers] == ["days | pay"]
    assert (result.title, result.date, result.language, result.tags) == (
        "The handbook 手册", "2024-05-01", "zh-cn", ("leave",),
    )  # fmt: skip
    check_chunks(result)


def test_tables_that_nest_without_end_are_refused() -> None:
    before, after = (
        "<table:table><table:table-row><table:table-cell>",
        "</table:table-cell></table:table-row></table:table>",
    )
    nested = f"<office:text>{before * 60}<text:p>in</text:p>{after * 60}</office:text>"
    with pytest.raises(ReadError, match="deep"):
        read(odf_file("text", nested), "a.odt")


# -- books


def test_chapters_of_a_book_come_in_the_order_of_its_spine() -> None:
    result = read(epub_file(), "a.epub")
    assert blocks(result) == [
        "The ferry 渡船\nAnn Müller, 王伟", "Chapter one", "It was a ferry. 真的。", "A note.", "ship | hours",
        "Kittiwake | 500", "它开了。", "Chapter three", "The end.",
    ]  # fmt: skip
    assert headings(result) == [(1, "Chapter one"), (1, "第二章"), (2, "Chapter three")]
    assert (result.title, result.date, result.language, result.tags) == (
        "The ferry 渡船", "2024-05-01", "zh-cn", ("ships",),
    )  # fmt: skip
    assert [one.text for one in result.table_headers] == ["ship | hours"]
    check_chunks(result)


def test_a_missing_chapter_costs_itself_alone() -> None:
    result = read(changed(epub_file(), {"OPS/text/one.xhtml": None, "OPS/nav.xhtml": None}), "a.epub")
    assert result.failed_pages == (2,)
    assert blocks(result)[1:] == ["它开了。", "Chapter three", "The end."]
    gone = {f"OPS/text/{name}.xhtml": None for name in ("one", "two b", "three")}
    with pytest.raises(ReadError, match="none of its chapters"):
        read(changed(epub_file(), gone), "a.epub")


def locked(algorithm: str, member_name: str) -> str:
    return f"""<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
    <EncryptedData xmlns="http://www.w3.org/2001/04/xmlenc#"><EncryptionMethod Algorithm="{algorithm}"/>
    <CipherData><CipherReference URI="{member_name}"/></CipherData></EncryptedData></encryption>"""


def test_a_book_under_rights_management_is_told_from_one_with_hidden_fonts() -> None:
    fonts = locked("http://www.idpf.org/2008/embedding", "OPS/font.otf")
    assert "真的" in read(changed(epub_file(), {"META-INF/encryption.xml": fonts}), "a.epub").text
    pages = locked("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OPS/text/two%20b.xhtml")
    with pytest.raises(Encrypted):
        read(changed(epub_file(), {"META-INF/encryption.xml": pages}), "a.epub")
