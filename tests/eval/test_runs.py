"""A finished run: kept, read again, shown, required of, compared; and the gate over the project's own questions."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from eval import gate
from eval.comparison import compare_runs, compare_variants, show
from eval.errors import EvalError
from eval.measures import MEASURES
from eval.report import TABLES, markdown, summary
from eval.report import show as show_run
from eval.requirements import unmet
from eval.runner import Cell
from eval.runs import CellResult, Run, measured, read, save
from eval.scaffold import scaffold
from eval.selection import chosen
from eval.suite import SetSpec, Suite, Variant, read_suite, suite_names
from eval.types import Outcome, Question

QUESTIONS = (
    Question("a", "How many days?", answers=("24 days",), documents=("leave",), snippets=("There are 24 days.",)),
    Question("b", "How long?", answers=("500 hours",), documents=("oil",)),
    Question("c", "Who?", answerable=False),
)
RIGHT = {
    "a": Outcome("a", ("leave", "oil"), True, "There are 24 days.", ("There are 24 days.",), searches=1),
    "b": Outcome("b", ("oil",), True, "After 500 hours.", ("After 500 hours.",), searches=1),
    "c": Outcome("c", ("oil",), False, searches=2),
}


def run_of(outcomes: dict[str, Outcome], variant: str = "default", suite: str = "s") -> Run:
    return measured([Cell("own", variant, QUESTIONS, outcomes, Path("records.jsonl"))], suite, "extractive")


def values(run: Run, name: str) -> dict[str, float]:
    return dict(run.cells[0].values[name])


def test_a_question_without_a_result_counts_and_does_not_vanish() -> None:
    whole, holed = run_of(RIGHT), run_of({"a": RIGHT["a"], "c": RIGHT["c"]})
    assert values(whole, "recall@5") == {"a": 1.0, "b": 1.0}
    assert values(holed, "recall@5") == {"a": 1.0, "b": 0.0}
    assert values(holed, "useful") == {"a": 1.0, "b": 0.0, "c": 1.0}
    assert (whole.cells[0].failed, holed.cells[0].failed) == (0, 1)


def test_refusing_everything_does_not_win() -> None:
    refusing = {key: replace(one, answered=False, answer="", claims=()) for key, one in RIGHT.items()}
    rows = {row.measure: row.found for row in compare_runs(run_of(RIGHT), run_of(refusing))}
    assert rows["false_answer"].difference == 0.0
    assert rows["answered_correct"].difference == -1.0
    assert rows["useful"].difference < 0


def test_a_run_is_kept_and_read_again(tmp_path: Path) -> None:
    run = run_of(RIGHT)
    path = save(run, tmp_path)
    assert read(str(path), tmp_path) == run
    assert read("s-", tmp_path) == run
    assert [one.name for one in tmp_path.iterdir()] == [f"{run.id}.json"]
    with pytest.raises(EvalError, match="no run 'other'"):
        read("other", tmp_path)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(EvalError, match="is no run"):
        read(str(path), tmp_path)


def test_the_tables_name_measures_that_exist_and_pair_refusals_with_correct_answers() -> None:
    named = [name for _, names in TABLES for name in names]
    assert set(named) <= set(MEASURES)
    for _, names in TABLES:
        if "false_answer" in names or "false_refusal" in names:
            assert {"false_answer", "false_refusal", "answered_correct"} <= set(names)


def test_the_report_shows_means_and_what_was_not_measured() -> None:
    run = run_of(RIGHT)
    text = io.StringIO()
    show_run(run, Console(file=text, width=200))
    assert "useful" in text.getvalue()
    assert "–" in text.getvalue()
    row = next(line for line in markdown(run).splitlines() if line.startswith("| own"))
    assert "| own | default | 3 |" in row
    found = summary(run)["cells"][0]["measures"]["useful"]
    assert found["mean"] == 1.0
    assert found["n"] == 3
    assert found["low"] <= found["mean"] <= found["high"]
    assert json.loads(json.dumps(summary(run))) == summary(run)


def test_what_is_required_and_missed_is_said() -> None:
    suite = Suite(
        name="s", sets=(SetSpec(name="own", path="."),), require={"own/default/useful": 0.9, "own/other/useful": 1.0},
        most={"own/default/false_answer": 0.0},
    )  # fmt: skip
    assert unmet(suite, run_of(RIGHT)) == []
    answering = {**RIGHT, "c": replace(RIGHT["c"], answered=True, answer="Nobody.", claims=("Nobody.",))}
    low, high = unmet(suite, run_of(answering))
    assert low.startswith("own/default/useful is 0.667, below 0.9")
    assert high.startswith("own/default/false_answer is 1.000, above 0.0")
    with pytest.raises(EvalError, match="SET/VARIANT/MEASURE"):
        unmet(suite.model_copy(update={"require": {"own/useful": 1.0}}), run_of(RIGHT))


def test_seconds_are_compared_only_if_asked_for() -> None:
    slow = run_of({key: replace(one, seconds=one.seconds + 1) for key, one in RIGHT.items()})
    assert "seconds" not in {row.measure for row in compare_runs(run_of(RIGHT), slow)}
    assert [row.measure for row in compare_runs(run_of(RIGHT), slow, ["seconds"])] == ["seconds"]


def test_comparing_needs_something_in_common() -> None:
    run = run_of(RIGHT)
    with pytest.raises(EvalError, match="no variant 'x': it has default"):
        compare_variants(run, "default", "x")
    with pytest.raises(EvalError, match="share no question"):
        compare_runs(run, replace(run, cells=()))


def test_a_comparison_says_how_much_is_chance() -> None:
    text = io.StringIO()
    show(compare_runs(run_of(RIGHT), run_of(RIGHT)), Console(file=text, width=200))
    assert "no difference" in text.getvalue()


def test_a_part_of_a_suite() -> None:
    suite = Suite(
        name="s", sets=(SetSpec(name="a", path="."), SetSpec(name="b", path=".")), variants=(Variant(name="v"),)
    )
    part = chosen(suite, ["b"], [], 5)
    assert [(one.name, one.questions) for one in part.sets] == [("b", 5)]
    with pytest.raises(EvalError, match="no set 'c': it has a, b"):
        chosen(suite, ["c"], [], None)
    with pytest.raises(EvalError, match="no variant 'w'"):
        chosen(suite, [], ["w"], None)


def test_the_suites_that_come_along_can_be_read_and_require_what_exists() -> None:
    assert {"gate", "open", "own", "stages", "worse", "scifact-bm25"} <= set(suite_names())
    for name in suite_names():
        suite, folder = read_suite(name)
        assert (suite.name, folder) == (name, None)
        unmet(suite, run_of(RIGHT))


def test_a_new_suite_runs_as_it_is_written(tmp_path: Path) -> None:
    documents = tmp_path / 'papers "old"'
    documents.mkdir()
    (documents / "a.md").touch()
    suite_path, questions = scaffold(tmp_path / "mine", documents)
    suite, folder = read_suite(str(suite_path))
    assert folder == tmp_path / "mine"
    assert Path(suite.sets[0].documents or "") == documents
    assert questions.read_text(encoding="utf-8").startswith("question,answers")
    with pytest.raises(EvalError, match="there already"):
        scaffold(tmp_path / "mine", documents)
    with pytest.raises(EvalError, match="no folder"):
        scaffold(tmp_path / "other", tmp_path / "nowhere")


# -- the gate


def cell(name: str, numbers: dict[str, float]) -> CellResult:
    return CellResult("own", "default", {name: numbers}, len(numbers), "")


def gated(before: CellResult, after: CellResult) -> gate.Verdict:
    base = Run("baseline", "gate", "extractive", "", {}, (before,))
    return gate.judge(replace(base, cells=(after,)), base)


def test_the_gate_lets_the_same_and_the_better_pass() -> None:
    half = {str(number): float(number % 2) for number in range(40)}
    assert gated(cell("useful", half), cell("useful", half)).passed
    assert gated(cell("useful", half), cell("useful", dict.fromkeys(half, 1.0))).passed


def test_the_gate_stops_what_is_worse_beyond_chance_or_by_much() -> None:
    whole = {str(number): 1.0 for number in range(150)}
    slightly = {**whole, **dict.fromkeys(map(str, range(6)), 0.0)}
    assert not gated(cell("useful", whole), cell("useful", slightly)).passed
    few = {str(number): 1.0 for number in range(10)}
    assert not gated(cell("useful", few), cell("useful", {**few, "0": 0.0})).passed
    assert not gated(cell("false_answer", dict.fromkeys(few, 0.0)), cell("false_answer", {**few, "1": 0.0})).passed


def test_the_gate_stops_one_quotation_that_does_not_verify() -> None:
    many = {str(number): 1.0 for number in range(500)}
    verdict = gated(cell(gate.EXACT, many), cell(gate.EXACT, {**many, "7": 0.5}))
    assert verdict.worse[-1] == "a quotation does not verify in 7 of own"


def test_the_gate_stops_what_it_cannot_compare() -> None:
    half = cell("useful", {str(number): 1.0 for number in range(40)})
    changed = replace(half, keys={"7": "other"})
    assert "not those of the baseline" in gated(half, changed).worse[0]
    assert "1 questions failed" in gated(half, replace(half, failed=1)).worse[0]


def test_the_baseline_is_of_the_questions_that_are_there() -> None:
    baseline = gate.read_baseline()
    rows = (gate.own_data() / "corpus" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    ids = {json.loads(row)["id"] for row in rows}
    assert set(baseline.cells[0].values["useful"]) == ids
    assert set(baseline.cells[0].values) == set(gate.JUDGED)
