"""Pages that are pictures: what they say, where it stands, and what is told where OCR fails or is not to be had."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import astuple
from io import BytesIO
from pathlib import Path

import pypdf
import pytest
from PIL import Image, ImageDraw

from ingest.errors import ReadError, TimedOut, Unsupported
from ingest.read import ocr, sandbox
from ingest.read.ocr import OFF, Ocr, find_ocr, read_file
from ingest.read.ocr_insert import inserted
from ingest.read.ocr_page import Engine, Recognised, recognise_image, recognise_page
from ingest.read.pdf_text import pdf_boxes
from ingest.types import Box, Heading, Page, ReadResult, Span, Word
from tests.ingest.scans import A4, CHINESE_FONT, DPI, POINTS, languages, needs_tesseract, picture, program, scan

CORPUS = Path(__file__).parents[2] / "corpus"
NOTICE = ["The gangway may be used by", "at most 30 persons at the same time."]


@pytest.fixture(autouse=True)
def workers() -> Iterator[None]:
    yield
    sandbox.close()


@pytest.fixture
def english() -> Ocr:
    return find_ocr("eng")


def read(data: bytes, found: Ocr, name: str = "a.pdf") -> ReadResult:
    return read_file(Path(name), data, 60, found)


def place(result: ReadResult, number: int, text: str) -> Box:
    """Return the box around the words of `text` on an OCR page."""
    page = result.pages[number - 1].span.of(result.text)
    start = page.index(text)
    (words,) = [one.words for one in result.ocr_pages if one.number == number]
    boxes = [word.box for word in words if word.start < start + len(text) and word.end > start]
    return Box(
        number, min(b.x0 for b in boxes), min(b.y0 for b in boxes), max(b.x1 for b in boxes), max(b.y1 for b in boxes)
    )


@needs_tesseract
def test_a_scan_gets_text_page_and_boxes(english: Ocr) -> None:
    result = read(scan(picture(NOTICE)), english)
    assert result.text == "\n".join(NOTICE)
    assert result.pages == (Page(1, "1", Span(0, len(result.text))),)
    assert [block.of(result.text) for block in result.blocks] == [result.text]
    box = place(result, 1, "The")
    assert (box.x0, box.y1) == pytest.approx((72, A4[1] - 72), abs=5)
    assert 6 < box.y1 - box.y0 < 14
    below = place(result, 1, "at most")
    assert below.y1 < box.y0
    assert below.x1 < place(result, 1, "persons").x0


@needs_tesseract
def test_words_of_the_corpus_scan_are_read(english: Ocr) -> None:
    source = (CORPUS / "sources" / "scan.md").read_text(encoding="utf-8").split("---\n")[2]
    result = read((CORPUS / "documents" / "en" / "gangway-certificate-scan.pdf").read_bytes(), english)
    expected = source.replace("#", "").split()
    assert len(set(expected) - set(result.text.split())) <= len(expected) // 20


@needs_tesseract
def test_pages_of_a_mixed_document_stay_in_order(english: Ocr) -> None:
    data = scan("First. The committee decided to build the", picture(NOTICE), None, "Third. bridge over the harbour.")
    before, result = read(data, OFF), read(data, english)
    assert [page.span.of(result.text) for page in result.pages] == [
        before.pages[0].span.of(before.text), "\n".join(NOTICE), "", before.pages[3].span.of(before.text),
    ]  # fmt: skip
    assert [result.text[heading.start :].split(".")[0] for heading in result.headings] == ["First", "Third"]
    assert [page.number for page in result.ocr_pages] == [2]
    assert (result.failed_pages, result.ocr_note) == ((), "")
    ends = [0, *(block.end for block in result.blocks)]
    assert all(block.start >= end for block, end in zip(result.blocks, ends, strict=False))


@needs_tesseract
@pytest.mark.skipif(CHINESE_FONT is None or "chi_sim" not in languages(), reason="no Chinese font or language")
def test_chinese_has_no_spaces_between_characters() -> None:
    lines = ["年休假为七天，病假须在三天内提交证明文件。", "船员可同时使用 PDF 的最多人数为三十人。"]
    for setting in ("chi_sim", "on"):
        result = read(scan(picture(lines, 14, CHINESE_FONT)), find_ocr(setting))
        assert "病假须在三天内提交证明文件" in result.text
        assert "PDF的最多人数为三十人" in result.text.replace(" ", "")
    box = place(result, 1, "病假")
    assert box.x0 == pytest.approx(72 + 14 * 7, abs=20)
    assert box.y1 == pytest.approx(A4[1] - 72, abs=8)


@needs_tesseract
@pytest.mark.skipif("osd" not in languages(), reason="Tesseract cannot find the direction")
def test_a_page_that_was_scanned_sideways_is_read(english: Ocr) -> None:
    lines = [*NOTICE, "Test load 3,200 kilograms, held for 15 minutes.", "No lasting deformation was found."] * 3
    result = read(scan(picture(lines, turned=180)), english)
    assert "at most 30 persons at the same time." in result.text
    assert place(result, 1, "Test load").x0 > A4[0] / 2


@needs_tesseract
@pytest.mark.skipif("osd" not in languages(), reason="Tesseract cannot find the direction")
@pytest.mark.parametrize("degrees", [0, 90, 180, 270])
def test_boxes_are_where_those_of_text_would_be_on_a_turned_page(english: Ocr, degrees: int) -> None:
    lines = [*NOTICE * 3, "Passengers board from berth two.", *NOTICE * 3]
    writer = pypdf.PdfWriter(clone_from=BytesIO(scan("\n".join(lines))))
    writer.pages[0].rotate(degrees)
    writer.pages[0].cropbox = pypdf.generic.RectangleObject((30, 40, A4[0], A4[1] - 10))
    buffer = BytesIO()
    writer.write(buffer)
    assert english.engine is not None
    page = recognise_page(buffer.getvalue(), 1, english.engine, 60)
    start = page.text.index("Passengers")
    (word,) = [word.box for word in page.words if word.start == start]
    at = "\n".join(lines).index("Passengers")
    (expected,) = pdf_boxes(buffer.getvalue(), 1, at, at + len("Passengers"))
    assert astuple(word) == pytest.approx(astuple(expected), abs=2.5)


@needs_tesseract
def test_a_blank_page_is_no_failure_and_a_drawing_is_told(english: Ocr) -> None:
    drawing = Image.new("L", (800, 1000), 255)
    ImageDraw.Draw(drawing).ellipse((200, 300, 600, 700), fill=0)
    result = read(scan(picture(NOTICE), None, drawing), english)
    assert result.failed_pages == (3,)
    assert ocr.partial_reason(result) == "OCR found no text on page 3"
    blank = read(scan(None), english)
    assert ocr.no_text_reason(blank, english) == "there is no text in it (a scan?): OCR found a blank page"


@needs_tesseract
@pytest.mark.parametrize("side", [14_400, 2_000_000])
def test_a_huge_page_is_read_coarsely(english: Ocr, side: int) -> None:
    writer = pypdf.PdfWriter(clone_from=BytesIO(scan(picture(NOTICE))))
    writer.pages[0].mediabox = pypdf.generic.RectangleObject((0, 0, side, side))
    buffer = BytesIO()
    writer.write(buffer)
    started = time.monotonic()
    result = read(buffer.getvalue(), english)
    assert len(result.pages) == 1
    assert time.monotonic() - started < 30


@needs_tesseract
def test_pictures_are_documents_only_with_ocr(english: Ocr) -> None:
    buffer = BytesIO()
    picture(NOTICE).save(buffer, "TIFF", save_all=True, append_images=[picture(["Second page."])])
    result = read(buffer.getvalue(), english, "a.tif")
    assert [page.span.of(result.text) for page in result.pages] == ["\n".join(NOTICE), "Second page."]
    assert (result.media_type, [page.number for page in result.ocr_pages]) == ("image/tiff", [1, 2])
    top = (A4[1] * DPI // POINTS) - DPI
    assert place(result, 2, "Second").y1 == pytest.approx(top, abs=12)
    with pytest.raises(Unsupported):
        read(buffer.getvalue(), OFF, "a.tif")


@needs_tesseract
def test_a_damaged_picture_fails_with_a_reason(english: Ocr) -> None:
    with pytest.raises(ReadError, match="Tesseract fails"):
        read(b"\x89PNG\r\n\x1a\n" + bytes(500), english, "a.png")


@pytest.mark.parametrize("setting", ["", "off", "0", "False", " no "])
def test_off_is_off(setting: str) -> None:
    assert find_ocr(setting) == OFF
    result = read(scan(picture(NOTICE)), find_ocr(setting))
    assert not result.text.strip()
    assert "CITEDRAG_OCR=on" in ocr.no_text_reason(result, OFF)


def test_without_the_program_the_reason_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = find_ocr("on")
    assert (found.wanted, found.engine) == (True, None)
    result = read(scan(picture(NOTICE)), found)
    assert "apt install tesseract-ocr" in ocr.no_text_reason(result, found)
    with pytest.raises(Unsupported, match="apt install tesseract-ocr"):
        read(b"\x89PNG\r\n\x1a\n", found, "a.png")


@pytest.mark.parametrize(
    ("setting", "package"), [("eng+xyz", "tesseract-ocr-xyz"), ("chi_tra", "tesseract-ocr-chi-tra"), ("-x", "lacks -x")]
)
def test_a_missing_language_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setting: str, package: str
) -> None:
    program(tmp_path, "exit 1")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    found = find_ocr(setting)
    assert found.engine is None
    assert package in found.reason
    assert find_ocr("on").languages == "eng"


def test_a_program_that_does_not_run_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(tmp_path, "exit 1")
    path.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert "does not run" in find_ocr("on").reason


def test_a_page_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    engine = Engine(str(program(tmp_path, "exec sleep 60")), "eng")
    started = time.monotonic()
    with pytest.raises(TimedOut, match=r"longer than 0\.3 seconds"):
        recognise_page(scan(picture(NOTICE)), 1, engine, 0.3)
    with pytest.raises(TimedOut):
        recognise_image(b"", engine, 0.3)
    assert time.monotonic() - started < 10


def test_a_file_is_given_up_after_some_pages_that_fail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    engine = Engine(str(program(tmp_path, f"echo page >> {log}; echo 'no such thing' >&2; exit 1")), "eng")
    pages = [picture(NOTICE)] * (ocr.GIVE_UP + 2)
    result = read(scan("Text. Of page one.", *pages), Ocr(True, engine, ""))
    assert result.failed_pages == tuple(range(2, ocr.GIVE_UP + 4))
    assert ocr.partial_reason(result).endswith("Tesseract fails: no such thing")
    assert len(log.read_text(encoding="utf-8").split()) == ocr.GIVE_UP
    assert result.text.strip().startswith("Text.")


def test_closing_the_workers_ends_a_long_file(tmp_path: Path) -> None:
    engine = Engine(str(program(tmp_path, "exec sleep 30")), "eng")
    raised: list[Exception] = []

    def work() -> None:
        try:
            read(scan(*[picture(NOTICE)] * 10), Ocr(True, engine, ""))
        except ReadError as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(3)
    sandbox.close()
    thread.join(10)
    assert not thread.is_alive()
    assert [str(error) for error in raised] == ["Reading was stopped."]


def rows(*words: tuple[int, int, str]) -> str:
    """Return what Tesseract prints for words given by line, left edge and text, 10 pixels a character."""
    head = ["1\t1\t0\t0\t0\t0\t0\t0\t600\t800\t-1\t"]
    return "\n".join(
        head
        + [
            f"5\t1\t1\t1\t{line}\t1\t{left}\t{20 * line}\t{10 * len(text)}\t10\t90\t{text}"
            for line, left, text in words
        ]
    )


@pytest.mark.parametrize(
    ("words", "text"),
    [
        pytest.param([(1, 0, "one"), (1, 40, "two")], "one two", id="words"),
        pytest.param([(1, 0, "中"), (1, 12, "文"), (1, 24, "PDF"), (1, 90, "表")], "中文PDF 表", id="wide_gap"),
        pytest.param([(1, 0, "an"), (1, 30, "exam-"), (2, 0, "ple"), (2, 40, "is")], "an example is", id="hyphen"),
        pytest.param([(1, 0, "pages 3-"), (2, 0, "5")], "pages 3-\n5", id="digits"),
        pytest.param([(1, 0, "e\u0301te\u0301"), (1, 80, "is\u200b")], "été is", id="normalised"),
    ],
)
def test_words_become_lines_and_keep_their_places(tmp_path: Path, words: list[tuple[int, int, str]], text: str) -> None:
    table = tmp_path / "table.tsv"
    table.write_text(rows(*words), encoding="utf-8")
    engine = Engine(str(program(tmp_path, f"exec cat {table}")), "eng")
    (page,) = recognise_image(b"", engine, 60)
    assert page.text == text
    assert [(word.box.x0, word.line) for word in page.words] == [(left, line - 1) for line, left, _ in words]
    joined = "".join(page.text[word.start : word.end] for word in page.words)
    assert joined.replace(" ", "") == "".join(page.text.split())


def test_a_block_is_cut_where_a_page_comes_between() -> None:
    text = "One goes\n\n\n\non here.\n\nEnd."
    pages = (
        Page(1, "1", Span(0, 8)),
        Page(2, "2", Span(10, 10)),
        Page(3, "3", Span(12, 20)),
        Page(4, "4", Span(22, 26)),
    )
    before = ReadResult(
        text, "application/pdf", pages=pages, headings=(Heading(1, "End", 22),), blocks=(Span(0, 20), Span(22, 26)),
        failed_pages=(2,),
    )  # fmt: skip
    words = (Word(0, 3, 0, Box(2, 0, 0, 1, 1)),)
    result = inserted(before, {2: Recognised("Two.\n\nTwo more.", words), 4: Recognised("", blank=True)})
    assert result.text == "One goes\n\nTwo.\n\nTwo more.\n\non here.\n\nEnd."
    assert [block.of(result.text) for block in result.blocks] == ["One goes", "Two.", "Two more.", "on here.", "End."]
    assert result.text[result.headings[0].start :] == "End."
    assert result.failed_pages == ()
    assert [(page.number, page.words) for page in result.ocr_pages] == [(2, words)]
