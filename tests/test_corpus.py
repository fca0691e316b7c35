"""The demonstration corpus: manifest, rebuild, and evidence that stands in the documents."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import docx
import pypdfium2
import pytest
from bs4 import BeautifulSoup

CORPUS = Path(__file__).resolve().parents[1] / "corpus"
DOCUMENTS = CORPUS / "documents"
SCAN = "en/gangway-certificate-scan.pdf"
LEAST = {
    "fact": (16, 12),
    "table": (10, 7),
    "multi_hop": (12, 7),
    "comparison": (7, 6),
    "contradiction": (6, 4),
    "unanswerable": (13, 8),
    "partly": (5, 4),
    "follow_up": (8, 6),
}
"""How many questions of a type there are at least, in English and in Chinese."""
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def pdf_pages(path: Path) -> list[str]:
    document = pypdfium2.PdfDocument(path)
    try:
        texts = []
        for number in range(len(document)):
            page = document[number]
            textpage = page.get_textpage()
            texts.append(str(textpage.get_text_range()))
            textpage.close()
            page.close()
        return texts
    finally:
        document.close()


def pdf_text(path: Path) -> str:
    return "\n".join(pdf_pages(path))


def docx_text(path: Path) -> str:
    parts: list[str] = []
    for block in docx.Document(str(path)).iter_inner_content():
        if isinstance(block, docx.table.Table):
            parts.extend(" ".join(cell.text for cell in row.cells) for row in block.rows)
        else:
            parts.append(block.text)
    return "\n".join(parts)


def html_text(path: Path) -> str:
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "lxml")
    for tag in soup(["nav", "header", "footer", "aside", "script", "style"]):
        tag.decompose()
    return soup.get_text(" ")


def plain_text(path: Path) -> str:
    data = path.read_bytes()
    if data.startswith(b"\xff\xfe"):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("gb18030")


READERS = {".pdf": pdf_text, ".docx": docx_text, ".html": html_text, ".md": plain_text, ".txt": plain_text}


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


@cache
def text_of(path: Path) -> str:
    return squeezed(READERS[path.suffix](path))


@cache
def pages_of(path: Path) -> tuple[str, ...]:
    return tuple(squeezed(text) for text in pdf_pages(path))


def manifest() -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = json.loads((CORPUS / "manifest.json").read_text("utf-8"))["documents"]
    return documents


def questions() -> list[dict[str, Any]]:
    lines = (CORPUS / "questions.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("corpus_build", CORPUS / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "corpus_build", module)
        spec.loader.exec_module(module)
    return module


def test_manifest_lists_exactly_the_files() -> None:
    files = {path.relative_to(DOCUMENTS).as_posix() for path in DOCUMENTS.rglob("*") if path.is_file()}
    listed = [entry["path"] for entry in manifest()]
    assert len(listed) == len(set(listed))
    assert set(listed) == files
    assert sum((DOCUMENTS / path).stat().st_size for path in listed) < 1_500_000


def test_manifest_entries_are_complete() -> None:
    for entry in manifest():
        assert entry["title"]
        assert entry["kind"]
        assert entry["language"] == entry["path"].split("/")[0]
        assert entry["format"] == Path(entry["path"]).suffix[1:]
        assert entry["provenance"] == "written for this project"
        assert entry["licence"] == "CC0-1.0"
        if entry["built_by"] != "hand":
            assert (CORPUS.parent / entry["built_by"].split(" from ")[1]).is_file()


def test_rebuilding_gives_the_same_text(build: ModuleType, tmp_path: Path) -> None:
    written: list[Path] = build.build_all(tmp_path)
    built = {path.relative_to(tmp_path).as_posix() for path in written}
    assert built == {entry["path"] for entry in manifest() if entry["built_by"] != "hand"}
    for path in built:
        assert text_of(tmp_path / path) == text_of(DOCUMENTS / path), path


def test_building_twice_gives_the_same_bytes(build: ModuleType, tmp_path: Path) -> None:
    first = build.build_all(tmp_path / "first")
    second = build.build_all(tmp_path / "second")
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


def test_scan_has_no_text_and_every_other_document_has_some() -> None:
    for entry in manifest():
        length = len(text_of(DOCUMENTS / entry["path"]))
        assert length == 0 if entry["path"] == SCAN else length > 600, entry["path"]


def test_odd_encodings_are_really_odd() -> None:
    odd = {entry["path"]: entry["encoding"] for entry in manifest() if "encoding" in entry}
    assert set(odd.values()) == {"gb18030", "utf-16"}
    for path in odd:
        with pytest.raises(UnicodeDecodeError):
            (DOCUMENTS / path).read_bytes().decode("utf-8")


def test_questions_are_well_formed() -> None:
    items = questions()
    assert [item["id"] for item in items] == [f"q{number:03d}" for number in range(1, len(items) + 1)]
    assert len({item["question"] for item in items}) == len(items)
    for item in items:
        assert item["answerable"] == (item["type"] != "unanswerable")
        assert bool(item["answers"]) == bool(item["evidence_doc_ids"]) == item["answerable"]
        assert bool(item["evidence_text"]) == item["answerable"]
        assert all(item.get("answer_parts", [["one part or none"]])), item["id"]


def test_questions_are_many_of_each_type_in_both_languages() -> None:
    items = questions()
    counts = Counter((item["type"], item["lang"]) for item in items)
    assert len(items) >= 120
    assert set(counts) == {(kind, language) for kind in LEAST for language in ("en", "zh")}
    for kind, (english, chinese) in LEAST.items():
        assert counts[kind, "en"] >= english, kind
        assert counts[kind, "zh"] >= chinese, kind
    assert 0.55 <= sum(item["lang"] == "en" for item in items) / len(items) <= 0.65


def test_readme_counts_the_questions() -> None:
    items = questions()
    readme = (CORPUS / "README.md").read_text("utf-8")
    languages = Counter(item["lang"] for item in items)
    assert f"{len(items)} questions, {languages['en']} in English and {languages['zh']} in Chinese" in readme
    for kind, count in Counter(item["type"] for item in items).items():
        assert f"| `{kind}` | {count} |" in readme


@pytest.mark.parametrize("item", questions(), ids=lambda item: item["id"])
def test_evidence_stands_in_the_documents(item: dict[str, Any]) -> None:
    snippets = [squeezed(snippet) for snippet in item["evidence_text"]]
    texts = [text_of(DOCUMENTS / path) for path in item["evidence_doc_ids"]]
    for snippet in snippets:
        assert any(snippet in text for text in texts), snippet
    for path, text in zip(item["evidence_doc_ids"], texts, strict=True):
        assert any(snippet in text for snippet in snippets), path


@pytest.mark.parametrize("item", questions(), ids=lambda item: item["id"])
def test_evidence_pages_hold_the_evidence(item: dict[str, Any]) -> None:
    """Every PDF of the evidence names its pages; each page has a snippet, and no snippet needs a page not named."""
    named: dict[str, list[int]] = item.get("evidence_pages", {})
    assert set(named) == {path for path in item["evidence_doc_ids"] if path.endswith(".pdf")}
    snippets = [squeezed(snippet) for snippet in item["evidence_text"]]
    held = [text_of(DOCUMENTS / path) for path in item["evidence_doc_ids"] if path not in named]
    for path, numbers in named.items():
        assert numbers == sorted(set(numbers))
        pages = [pages_of(DOCUMENTS / path)[number - 1] for number in numbers if number >= 1]
        assert len(pages) == len(numbers) > 0
        for page in pages:
            assert any(snippet in page for snippet in snippets), path
        held.extend(pages)
    for snippet in snippets:
        assert any(snippet in text for text in held), snippet


def test_numbers_of_plain_answers_stand_in_the_evidence() -> None:
    """What is looked up and not worked out: some alternative of the answer has only numbers of the evidence."""
    for item in questions():
        if item["type"] in {"fact", "table", "partly"}:
            evidence = set(NUMBER.findall(" ".join(item["evidence_text"])))
            assert any(set(NUMBER.findall(answer)) <= evidence for answer in item["answers"]), item["id"]


def test_each_part_of_an_answer_stands_in_the_evidence() -> None:
    for item in questions():
        evidence = squeezed("".join(item["evidence_text"]))
        for part in item.get("answer_parts", []):
            assert any(squeezed(one) in evidence for one in part), (item["id"], part)


def test_follow_ups_have_a_history_and_a_standalone_form() -> None:
    for item in questions():
        assert ("history" in item) == ("standalone" in item) == (item["type"] == "follow_up"), item["id"]
        history = item.get("history", [])
        roles = [turn["role"] for turn in history]
        assert roles == ["user", "assistant"] * (len(history) // 2), item["id"]
        assert all(set(turn) == {"role", "text"} and turn["text"].strip() for turn in history)
        if item["type"] == "follow_up":
            assert history
            assert item["standalone"] not in {item["question"], *(turn["text"] for turn in history)}


def test_cross_lingual_questions_have_evidence_in_the_other_language_only() -> None:
    crossing = [item for item in questions() if "cross" in item]
    assert Counter(item["lang"] for item in crossing) == {"en": 3, "zh": 3}
    for item in crossing:
        assert item["cross"] is True
        assert item["type"] == "fact"
        other = "zh" if item["lang"] == "en" else "en"
        assert {path.split("/")[0] for path in item["evidence_doc_ids"]} == {other}


def test_demo_question_is_there_in_both_languages() -> None:
    demo = json.loads((CORPUS / "demo.json").read_text("utf-8"))
    assert set(demo) == {"question", "question_zh"}
    assert "24 working days of annual leave per calendar year" in (DOCUMENTS / "en/leave-policy.md").read_text("utf-8")
    assert "危险品应提前48小时申报，由安全主管陆向东批准" in text_of(DOCUMENTS / "zh/港口作业规程.pdf")
