"""Benchmarks: what they report, and whether their clocks add up. No figure has a limit: machines differ."""

from __future__ import annotations

import io
import json
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from app.settings import Settings
from eval.bench import BenchResult, Row, bench_answer, bench_ingest, bench_search, show
from eval.bench.corpus import ZipfText
from eval.bench.files import KINDS, write_files
from eval.bench.ingest import STAGES
from eval.bench.measure import OTHER, Stages, Timed, functions_timed, measured
from eval.bench.points import fill, open_index
from eval.bench.result import percentile, ratio
from eval.errors import EvalError
from ingest import ahead
from ingest.catalog import Catalog
from ingest.read import read
from ingest.types import FileStatus
from tests.harness import FILES, KITTIWAKE, LEAVE, FixedReranker
from tests.harness import write_files as write_small


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", embedder="hashing", openai_api_key=None, _env_file=None)


def ratios(result: BenchResult) -> list[float]:
    return [row.ratio for row in result.rows() if row.ratio is not None]


def check_shape(result: BenchResult) -> None:
    names = [row.name for row in result.rows()]
    assert len(set(names)) == len(names)
    assert all(row.value >= 0 for row in result.rows())
    assert ratios(result)
    assert all(value > 0 for value in ratios(result))
    assert all(row.reference for row in result.rows() if row.ratio is not None)
    plain = json.loads(json.dumps(result.to_json()))
    assert [row["name"] for row in plain["rows"]] == names
    assert plain["bench"] == result.bench


# -- ingest


def test_ingestion_of_a_synthetic_folder(settings: Settings, tmp_path: Path) -> None:
    said: list[str] = []
    result = bench_ingest(settings, files=len(KINDS), repeats=2, progress=said.append)
    check_shape(result)
    assert result.row("files").value == result.row("files with text").value == len(KINDS)
    assert result.row("pages").value >= 1
    assert result.row("chunks").value >= len(KINDS)
    assert 0 < result.row("texts embedded").value <= result.row("chunks").value
    assert result.row("processor time without the model").reference == "pypdf alone"
    assert len(said) == 2
    assert not (tmp_path / "home").exists()


def test_shares_of_the_stages_add_up_to_no_more_than_the_whole(settings: Settings) -> None:
    result = bench_ingest(settings, files=len(KINDS), repeats=1)
    for what in ("share of the clock", "share of processor time"):
        shares = [result.row(f"{stage}, {what}").value for stage in STAGES]
        assert all(0 < share < 1 for share in shares)
        assert sum(shares) <= 1 + 1e-9


def test_ingestion_of_a_given_folder_leaves_it_as_it_was(settings: Settings, tmp_path: Path) -> None:
    folder = write_small(tmp_path / "docs")
    result = bench_ingest(settings, folder, repeats=1)
    assert result.row("files").value == len(FILES)
    assert result.row("PDFs").value == 0
    assert result.row("processor time without the model").ratio is None
    assert {file.name for file in folder.iterdir()} == set(FILES)


def test_a_folder_without_text_is_no_subject(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(EvalError, match="nothing to measure"):
        bench_ingest(settings, tmp_path / "empty", repeats=1)


def test_the_program_is_as_it_was_after_a_benchmark(settings: Settings) -> None:
    before = dict(vars(ahead))
    bench_ingest(settings, files=2, repeats=1)
    assert vars(ahead) == before


# -- search


def test_search_over_two_sizes() -> None:
    result = bench_search((40, 120), queries=12, dimension=16)
    check_shape(result)
    for size in ("40", "120"):
        typical = result.row(f"{size}: search, p50 (NumPy brute force)").value
        assert 0 < typical <= result.row(f"{size}: search, p95").value
        for reference in ("BM25Okapi", "BM25Plus", "both"):
            assert result.row(f"{size}: search, p50 ({reference})").value == typical
        assert result.row(f"{size}: nearest found of 10").value == 1.0
        assert result.row(f"{size}: fetch, p50").value > 0
    assert result.row("growth from 40 to 120: search, p50").reference == "40 chunks"


def test_a_search_finds_the_synthetic_chunk_it_was_made_from(tmp_path: Path) -> None:
    catalog, index = Catalog(tmp_path / "catalog.db"), open_index(tmp_path / "index", 16)
    try:
        points = fill(catalog, index, 50, 16, seed=3)
        assert index.count() == catalog.count()[1] == 50
        hit = index.search(points.vectors[7], None, 1)[0]
        (chunk, document) = catalog.chunks([hit.chunk_id])[hit.chunk_id]
        assert hit.chunk_id == points.chunks[7].id
        assert (catalog.text(document.id) or "")[chunk.span.start : chunk.span.end] == points.chunks[7].text
        assert document.status == FileStatus.INDEXED
    finally:
        index.close()
        catalog.close()


# -- answer


def test_answers_over_a_small_folder(settings: Settings, tmp_path: Path) -> None:
    folder = write_small(tmp_path / "docs")
    questions = ["How many days of annual leave has every employee?", "What is the oil change interval of Kittiwake?"]
    sure = FixedReranker({LEAVE: 0.95, KITTIWAKE: 0.95}, otherwise=0.9)
    result = bench_answer(settings, folder, questions=questions, repeats=2, reranker=sure)
    check_shape(result)
    assert result.conditions["not_asked"] == 0
    for way in ("with checkpoints", "without checkpoints"):
        whole = result.row(f"{way}: whole answer, p95").value
        assert 0 < result.row(f"{way}: overhead, p50").value <= whole
        assert result.row(f"{way}: overhead, p50").reference == "bare model call"
        assert result.row(f"{way}: model, p50").value > 0
    assert result.row("model calls of an answer, p50").value >= 1
    assert not (tmp_path / "home").exists()


def test_questions_are_made_where_none_are_given(settings: Settings, tmp_path: Path) -> None:
    folder = write_small(tmp_path / "docs")
    result = bench_answer(settings, folder, count=2, reranker=FixedReranker(otherwise=0.9))
    assert result.conditions["questions"] == 2


def test_answers_that_never_ask_the_model_are_no_subject(settings: Settings, tmp_path: Path) -> None:
    folder = write_small(tmp_path / "docs")
    with pytest.raises(EvalError, match="as far as the model"):
        bench_answer(settings, folder, questions=["Who painted the chapel?"], reranker=FixedReranker())


# -- clocks and memory


def test_stages_and_what_is_between_them_add_up_to_the_whole() -> None:
    started = time.perf_counter()
    stages = Stages()
    with stages.running("a"):
        time.sleep(0.01)
        with stages.running("b"):
            time.sleep(0.01)
    time.sleep(0.01)
    spent = stages.take()
    assert "b" not in spent  # it is inside another one
    assert spent["a"].calls == 1
    assert spent["a"].wall >= 0.02
    assert spent[OTHER].wall >= 0.01
    assert sum(one.wall for one in spent.values()) <= time.perf_counter() - started
    assert stages.take()["other"].calls == 0


def test_a_moment_of_two_stages_is_divided_between_them() -> None:
    started = time.perf_counter()
    stages, both, done = Stages(), threading.Barrier(2), threading.Barrier(2)

    def work(name: str) -> None:
        with stages.running(name):
            both.wait()
            time.sleep(0.02)
            done.wait()

    other = threading.Thread(target=work, args=("left",))
    other.start()
    work("right")
    other.join()
    spent = stages.take()
    assert sum(one.wall for one in spent.values()) <= time.perf_counter() - started
    assert all(spent[name].wall > 0 for name in ("left", "right"))


def test_an_object_in_front_counts_only_what_is_named() -> None:
    stages = Stages()
    words: Any = Timed(["b", "a"], stages, {"sort": "sorting"})
    words.sort()
    assert words.index("a") == 0
    assert stages.take()["sorting"].calls == 1


def test_functions_are_put_back_after_a_failure() -> None:
    held = ahead.title_of

    def fail() -> None:
        with functions_timed(Stages(), {(ahead, "title_of"): "chunk"}):
            assert ahead.title_of is not held
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert ahead.title_of is held


def test_the_peak_of_the_memory_is_seen() -> None:
    size = 80_000_000

    def held() -> int:
        data = b"x" * size
        time.sleep(0.2)  # longer than it takes to look, however busy the machine is
        return len(data)

    length, usage = measured(held)
    assert length == size
    assert usage.peak - usage.before > size / 2
    assert usage.wall > 0


# -- the synthetic corpus


def test_every_kind_of_synthetic_file_is_read_as_what_it_is(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "docs", 3 * len(KINDS), seed=1)
    seen: dict[str, set[str]] = {}
    for path in folder.rglob("*.*"):
        result = read(path.read_bytes(), path.name)
        seen.setdefault(path.suffix, set()).add(path.parent.name)
        assert len(result.text) > 100, path.name
        if path.suffix == ".pdf":
            assert result.pages
            wide = sum(character > "\u2e80" for character in result.text)
            assert (wide > len(result.text) / 2) == (path.parent.name == "zh")
    assert seen == {suffix: {"en", "zh"} for suffix in KINDS}


def test_the_same_seed_writes_the_same_text() -> None:
    assert ZipfText("en", 5).paragraph(80) == ZipfText("en", 5).paragraph(80)
    assert ZipfText("en", 5).paragraph(80) != ZipfText("en", 6).paragraph(80)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_words_are_as_frequent_as_the_law_says(language: Any) -> None:
    counts = [count for _, count in Counter(ZipfText(language, 0).words(20_000)).most_common()]
    assert counts[0] > 5 * counts[20] > 0
    assert sum(count == 1 for count in counts) > len(counts) / 4


# -- showing


def test_a_result_is_shown_with_its_ratios() -> None:
    out = io.StringIO()
    rows = (Row("wall", 1.2345, "s", 1.5, "embedding alone"), Row("files", 12_345, "files"))
    show(BenchResult("ingest", {"rounds": 3}, rows), Console(file=out, width=100))
    shown = out.getvalue()
    assert all(text in shown for text in ("1.23", "1.5 x", "embedding alone", "12,345", "rounds 3"))


def test_percentiles_and_ratios() -> None:
    assert percentile([1.0, 2.0, 3.0], 50) == 2.0
    assert ratio(3.0, 2.0) == 1.5
    assert ratio(3.0, 0.0) is None
    with pytest.raises(ValueError, match="no values"):
        percentile([], 50)
    with pytest.raises(KeyError):
        BenchResult("x", {}, ()).row("y")
