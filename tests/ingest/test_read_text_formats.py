"""Source text is kept as it is, byte by byte; its headings and blocks are found."""

from __future__ import annotations

import pytest

from ingest.normalize import byte_span
from ingest.read import read
from tests.ingest.text_samples import (
    CSV,
    FRONT,
    GO,
    LATEX,
    PYTHON,
    RST,
    SCRIPT,
    C,
    blocks,
    check_chunks,
    headings,
)

VERBATIM = [
    pytest.param(CSV, "a.csv", id="csv"),
    pytest.param(CSV.replace(",", "\t"), "a.tsv", id="tsv"),
    pytest.param(RST, "a.rst", id="rst"),
    pytest.param(LATEX, "a.tex", id="latex"),
    pytest.param(PYTHON, "a.py", id="python"),
    pytest.param('{"broken": "王伟去了北京", ', "a.json", id="broken json"),
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize(("text", "name"), VERBATIM)
def test_what_is_kept_as_it_is_is_found_in_the_bytes(text: str, name: str, encoding: str) -> None:
    data = text.encode(encoding)
    result = read(data, name)
    assert result.text == text.replace("\r\n", "\n")
    assert result.byte_runs is not None
    assert result.encoding is not None
    for chunk in check_chunks(result):
        found = byte_span(result.byte_runs, chunk.span, result.text, result.encoding)
        assert found is not None
        assert data[found[0] : found[1]].decode(result.encoding).replace("\r\n", "\n") == chunk.text


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("big5", "姓名,城市\n王偉,臺北市士林區\n"),
        ("shift_jis", "名前,町\nわがはい,ひろしまのまち\n"),
        ("cp1252", "nom,ville\nAndré,Besançon\n"),
    ],
)
def test_other_encodings_of_a_table_are_told(encoding: str, text: str) -> None:
    result = read(text.encode(encoding), "a.csv")
    assert result.text == text
    assert blocks(result) == text.splitlines()


# -- reStructuredText, LaTeX, code


def test_rst_titles_and_tables_are_found() -> None:
    result = read(RST.encode(), "a.rst")
    assert headings(result) == [(1, "The handbook"), (2, "Leave"), (3, "病假"), (2, "Travel")]
    assert (result.title, result.date, result.media_type) == ("The handbook", "2024-05-01", "text/x-rst")
    assert result.text[result.headings[0].start :].startswith("====")
    assert [one.text for one in result.table_headers] == ["days | pay", "name city"]
    assert "+------+------+\n| 2    | half |" in blocks(result)
    assert "Ann   Paris" in blocks(result)
    check_chunks(result)


def test_latex_sections_and_tables_are_found() -> None:
    result = read(LATEX.encode(), "a.tex")
    assert headings(result) == [(3, "Oil changes"), (4, "换油 & more")]
    assert (result.title, result.date, result.media_type) == ("The ferry of Alder and more", "2024-05-01", "text/x-tex")
    assert [one.text for one in result.table_headers] == ["ship | hours"]
    assert "Kittiwake & 500 \\\\" in blocks(result)
    check_chunks(result)


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        pytest.param(PYTHON, "a.py", [(1, "def distance"), (1, "class Ship"), (2, "async def sail")], id="python"),
        pytest.param(GO, "a.go", [(1, "func (s *Ship) Sail"), (1, "type Ship struct")], id="go"),
        pytest.param(C, "a.c", [(1, "add"), (1, "struct ship")], id="c"),
        pytest.param(
            SCRIPT, "a.js", [(1, "class Ship extends Boat"), (2, "sail"), (1, "far"), (1, "function near")], id="script"
        ),
        pytest.param("[tool.ruff]\nx = 1\n\n[[a]]\n", "a.toml", [(1, "tool.ruff"), (1, "a")], id="toml"),
        pytest.param(
            "CREATE TABLE ships (\n id int);\ncreate or replace view v as select 1;\n", "a.sql",
            [(1, "CREATE TABLE ships"), (1, "create or replace view v")], id="sql",
        ),
        pytest.param("greet() {\n  echo 你好\n}\n", "a.sh", [(1, "greet()")], id="shell"),
        pytest.param("a: 1\nb:\n  - 2\n", "a.yaml", [], id="yaml"),
    ],
)  # fmt: skip
def test_code_has_its_declarations_as_headings(text: str, name: str, expected: list[tuple[int, str]]) -> None:
    result = read(text.encode(), name)
    assert result.text == text
    assert headings(result) == expected
    check_chunks(result)


def test_comments_and_decorators_belong_to_what_they_stand_above() -> None:
    result = read(PYTHON.encode(), "a.py")
    assert result.text[result.headings[0].start :].startswith("# How far?\n@cached\ndef distance")


@pytest.mark.parametrize(
    ("text", "title", "tags", "first"),
    [
        pytest.param(FRONT, "Leave: the rules", ("hr", "年假"), "Head", id="yaml"),
        pytest.param(
            "---\ntitle: >\n  A long\n  title\ntags:\n  - a\n- b\n---\nx\n",
            "A long title",
            ("a", "b"),
            None,
            id="folded",
        ),
        pytest.param("---\nkeywords: a, b c\n---\nx\n", None, ("a", "b c"), None, id="keywords"),
        pytest.param('+++\ntitle = "T"\ntags = ["a"]\n+++\nx\n', "T", ("a",), None, id="toml"),
        pytest.param("---\n\nA rule above\n\n---\n\n# Head\n", "Head", (), "Head", id="rules"),
    ],
)
def test_front_matter_is_recorded_and_no_heading(
    text: str, title: str | None, tags: tuple[str, ...], first: str | None
) -> None:
    result = read(text.encode(), "a.md")
    assert (result.text, result.title, result.tags) == (text, title, tags)
    assert [one.title for one in result.headings] == ([first] if first else [])
    check_chunks(result)
