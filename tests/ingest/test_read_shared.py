from __future__ import annotations

import json
import os
import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from ingest.errors import IngestError
from ingest.read import read

DATA = Path(os.environ.get("CITEDRAG_SHARED") or Path(__file__).parents[2].parent / "shared") / "data"
BOOKS = DATA / "debian_manual_bilingual"
AWKWARD = DATA / "ingestion_files"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not (BOOKS.exists() and AWKWARD.exists()), reason="the evaluation data is not here"),
]


def tokens(text: str) -> Counter[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return Counter(re.findall(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+", folded))


def token_f1(text: str, expected: str) -> float:
    found, wanted = tokens(text), tokens(expected)
    return 2 * (found & wanted).total() / (found.total() + wanted.total())


@pytest.mark.parametrize(
    ("name", "least"),
    [("debian-reference.en", 0.98), ("debian-reference.zh-cn", 0.975), ("maint-guide.zh-cn", 0.955)],
)
def test_books_read_as_their_publisher_wrote_them(name: str, least: float) -> None:
    result = read((BOOKS / "docs" / "pdf" / f"{name}.pdf").read_bytes(), "a.pdf")
    assert token_f1(result.text, (BOOKS / "expected" / f"{name}.txt").read_text("utf-8")) >= least


def test_web_chapters_hold_every_section_that_is_asked_for() -> None:
    pages = {path.name: read(path.read_bytes(), path.name).text for path in BOOKS.glob("docs/??/*.html")}
    squeezed = {name: re.sub(r"\W", "", text) for name, text in pages.items()}
    missing = 0
    for line in (BOOKS / "questions.jsonl").read_text("utf-8").splitlines():
        question = json.loads(line)
        names = {Path(identifier).name.removesuffix(".html") for identifier in question["evidence_doc_ids"]}
        texts = [text for name, text in squeezed.items() if name.removesuffix(".html") in names]
        wanted = [re.sub(r"\W", "", part) for part in question["evidence_text"]]
        missing += not all(any(part in text for text in texts) for part in wanted)
    assert missing == 0


def test_awkward_files_are_read_or_refused() -> None:
    for path in sorted((AWKWARD / "files").rglob("*")):
        if path.is_file():
            try:
                result = read(path.read_bytes(), path.name)
            except IngestError:
                continue
            assert all(result.text[block.start : block.end].strip() for block in result.blocks), path.name
