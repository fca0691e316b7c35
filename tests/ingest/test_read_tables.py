"""Tables keep their rows and repeat their header; JSON is read as records."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from ingest.catalog import Catalog
from ingest.chunk import MAX_HEADER, chunk_document, searchable_text
from ingest.errors import TooLarge
from ingest.read import read, verbatim
from ingest.schema import SCHEMA_VERSION
from ingest.types import Document, FileStatus
from tests.ingest.text_samples import (
    CSV,
    blocks,
    check_chunks,
)

# -- tables


def test_rows_of_a_table_are_blocks_and_know_their_header() -> None:
    result = read(CSV.encode(), "a.csv")
    assert blocks(result) == [
        "name,city,note", 'Ann,Paris,"likes ""tea"", and\ntwo lines"', "Bob,Rome,", "王伟,北京,喜欢喝茶",
    ]  # fmt: skip
    (header,) = result.table_headers
    assert header.text == "name | city | note"
    assert header.rows.of(result.text).strip().startswith("Ann,")
    assert result.media_type == "text/csv"


def test_every_chunk_of_a_long_table_is_searched_with_its_header() -> None:
    rows = "".join(f"ship {number},{number * 10},第{number}号\n" for number in range(200))
    result = read(f"vessel,hours,名称\n{rows}".encode(), "a.csv")
    first, *others = check_chunks(result)
    assert first.table_header == ""
    assert len(others) > 3
    for chunk in others:
        assert chunk.table_header == "vessel | hours | 名称"
        assert searchable_text(chunk, "Log").startswith("Log\nvessel | hours | 名称\nship ")
        assert chunk.text.startswith("ship ")


def test_a_very_long_header_is_cut() -> None:
    names = ",".join(f"column {number}" for number in range(300))
    rows = f"{','.join(str(number) for number in range(300))}\n" * 3
    chunks = check_chunks(read(f"{names}\n{rows}".encode(), "a.csv"))
    assert 0 < len(chunks[-1].table_header) <= MAX_HEADER


@pytest.mark.parametrize(
    ("text", "header"),
    [
        pytest.param("a;b\n1,5;2\n2,5;3\n", "a | b", id="semicolons beside decimal commas"),
        pytest.param("a|b|c\n1|2|3\n", "a | b | c", id="bars"),
        pytest.param("sep=;\na;b\n1;2\n", "a | b", id="declared delimiter"),
        pytest.param("Report of May\n\na,b,c\n1,2,3\n4,5,6\n", "a | b | c", id="a title above"),
        pytest.param("The fleet,,\na,b,c\n1,2,3\n4,5,6\n", "a | b | c", id="a title in the first column"),
        pytest.param("Country,2019,2020\nFrance,1,2\n", "Country | 2019 | 2020", id="years"),
        pytest.param("1,2\n3,4\n", None, id="numbers alone"),
        pytest.param("a,b\n", None, id="nothing below"),
        pytest.param("a,a\n1,2\n", None, id="names twice"),
        pytest.param("only one column\nsecond\nthird\n", None, id="one column"),
    ],
)
def test_a_header_is_what_reads_like_one(text: str, header: str | None) -> None:
    result = read(text.encode(), "a.csv")
    assert [one.text for one in result.table_headers] == ([header] if header else [])


def test_a_quote_that_is_never_closed_ends_with_its_line() -> None:
    rows = "".join(f"{number},x\n" for number in range(1000))
    result = read(f'a,b\n1,"open\n{rows}'.encode(), "a.csv")
    assert len(result.blocks) == 1002
    late = read(f'a,b\n1,"open\n{rows}1,"y"\n'.encode(), "a.csv")
    assert len(late.blocks) > 900


MARKDOWN_ROWS = "".join(f"| ship {n} | 船{n} |\n" for n in range(300))
MARKDOWN_TABLE = f"# T\n\n| ship | 名称 |\n|---|---|\n{MARKDOWN_ROWS}\nEnd.\n"
HTML_ROWS = "".join(f"<tr><td>ship {n}</td><td>{n}</td></tr>" for n in range(300))
HTML_TABLE = f"<html><table><thead><tr><th>ship</th><th>名称</th></tr></thead>{HTML_ROWS}</table><p>End.</html>"
UNMARKED_TABLE = f"<html><table><tr><td>ship</td><td>名称</td></tr>{HTML_ROWS}</table><p>End.</html>"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(MARKDOWN_TABLE, "a.md", id="markdown"),
        pytest.param(HTML_TABLE, "a.html", id="html"),
        pytest.param(UNMARKED_TABLE, "a.html", id="html without th"),
    ],
)
def test_tables_of_other_formats_repeat_their_header(text: str, name: str) -> None:
    chunks = check_chunks(read(text.encode(), name))
    inner = [chunk for chunk in chunks if chunk.text.lstrip("| ").startswith("ship ") and "名称" not in chunk.text]
    assert len(inner) > 1
    assert {chunk.table_header for chunk in inner} == {"ship | 名称"}
    assert read(text.encode(), name).text.endswith(("End.", "End.\n"))


def test_the_header_is_stored_also_in_a_file_of_the_first_version(tmp_path: Path) -> None:
    path = tmp_path / "catalog.db"
    Catalog(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE chunks DROP COLUMN table_header")
        connection.execute("PRAGMA user_version=1")
    connection.close()
    catalog = Catalog(path)
    result = read(b"ship,hours\n" + b"Kittiwake,500\n" * 200, "a.csv")
    chunks = chunk_document("d", 1, result)
    document = Document("d", "/", "a.csv", "a", "00", 1, "text/csv", "en", 0, FileStatus.INDEXED)
    catalog.store(document, (1, 1, 1), text=result.text, chunks=chunks)
    stored = {chunk.id: chunk for chunk, _ in catalog.chunks([chunk.id for chunk in chunks]).values()}
    catalog.close()
    assert stored == {chunk.id: chunk for chunk in chunks}
    assert chunks[-1].table_header == "ship | hours"
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    connection.close()


# -- JSON


def test_json_is_read_as_paths_and_values() -> None:
    value = {
        "title": "Fleet 船队", "open": True, "none": None, "tags": ["a", "b"], "empty": {},
        "ships": [{"name": "Kittiwake", "oil": {"hours": 500}}, {"name": "鹿屿星", "notes": ["one\ntwo", "x" * 50]}],
    }  # fmt: skip
    result = read(json.dumps(value).encode(), "a.json")
    assert blocks(result) == [
        "title: Fleet 船队\nopen: true\nnone: null\ntags: a, b\nempty: {}",
        "ships[0].name: Kittiwake\nships[0].oil.hours: 500",
        f"ships[1].name: 鹿屿星\nships[1].notes[0]: one\ntwo\nships[1].notes[1]: {'x' * 50}",
    ]
    assert (result.title, result.media_type, result.byte_runs) == ("Fleet 船队", "application/json", None)
    check_chunks(result)


def test_numbers_and_keys_are_kept_as_they_are_written() -> None:
    result = read(b'[{"price": 1.10, "price": 1e400, "id": 12345678901234567890}]', "a.json")
    assert result.text == "price: 1.10\nprice: 1e400\nid: 12345678901234567890"


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.txt", "a"])
def test_json_lines_are_records_and_a_bad_line_is_kept(name: str) -> None:
    lines = ['{"q": "How far?", "a": "三海里"}', "{broken", '{"q": "When?", "a": "now"}', '{"q": "Who?", "a": "we"}']
    result = read("\n".join(lines).encode("gb18030"), name)
    assert blocks(result) == ["q: How far?\na: 三海里", "{broken", "q: When?\na: now", "q: Who?\na: we"]
    assert result.media_type == "application/x-ndjson"
    check_chunks(result)


@pytest.mark.parametrize(
    "text",
    ['{"a": [1, 2', '{"a": 1,\n// why\n"b": 2}\n', "[" * 20_000, '{"a": ' * 20_000],
    ids=["cut off", "comments", "deep list", "deep object"],
)
def test_json_that_is_none_is_kept_as_it_stands(text: str) -> None:
    result = read(text.encode(), "a.json")
    assert result.text == text
    assert result.byte_runs is not None


def test_json_that_grows_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verbatim, "MAX_CHARACTERS", 100_000)
    deep = '{"aaaaaaaaaaaaaaaaaaaa": ' * 200 + json.dumps(["x" * 50] * 500) + "}" * 200
    with pytest.raises(TooLarge):
        read(deep.encode(), "a.json")
