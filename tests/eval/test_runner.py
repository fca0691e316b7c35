"""Running a suite: what is asked again and what is not, what a crash leaves, what a failure counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from app.retrieval.search import Retriever
from app.settings import Settings
from eval.datasets import load
from eval.errors import EvalError
from eval.outcomes import from_json, to_json
from eval.runner import Cell, Records, Runner, Step
from eval.suite import SetSpec, Suite, Variant, read_suite
from eval.types import Cited, Outcome, Question
from eval.workspace import Workspace, cell_key, corpus_key, question_key
from tests.harness import FILES, LEAVE

QUESTIONS = [
    {"id": "a", "question": "How many days of annual leave has every employee?", "answers": ["24 days"],
     "evidence_doc_ids": ["leave"], "evidence_text": [LEAVE]},
    {"id": "b", "question": "What is the oil change interval of Kittiwake?", "answers": ["500 hours"],
     "evidence_doc_ids": ["kittiwake"]},
    {"id": "c", "question": "Who painted the ceiling of the chapel?", "evidence_doc_ids": [], "answerable": False},
]  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    docs = tmp_path / "data" / "own" / "docs"
    docs.mkdir(parents=True)
    for name, text in FILES.items():
        (docs / name).write_text(text, encoding="utf-8")
    write_questions(tmp_path / "data", QUESTIONS)
    return tmp_path / "data"


def write_questions(data: Path, rows: list[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (data / "own" / "questions.jsonl").write_text(text, encoding="utf-8")


def suite(*variants: Variant, **options: Any) -> Suite:
    return Suite(name="s", sets=(SetSpec(name="own", path="own"),), variants=variants or (Variant(),), **options)


def runner(tmp_path: Path, steps: list[Step] | None = None) -> Runner:
    settings = Settings(home=tmp_path / "home", embedder="hashing", openai_api_key=None, _env_file=None)
    return Runner(Workspace(tmp_path / "out"), settings, (steps if steps is not None else []).append)


def one(cells: list[Cell]) -> Cell:
    (cell,) = cells
    return cell


def test_a_suite_gives_every_question_its_outcome(tmp_path: Path, data: Path) -> None:
    cell = one(runner(tmp_path).run(suite(), data))
    assert (cell.documents, cell.asked, set(cell.outcomes)) == (4, 3, {"a", "b", "c"})
    leave = cell.outcomes["a"]
    assert leave.error is None
    assert leave.ranked[0] == "leave"
    assert set(leave.ranked) <= {"leave", "kittiwake", "luyu", "alder"}
    assert leave.answered
    assert all(cited.verified and cited.document == "leave" for cited in leave.cited)
    assert leave.cited[0].quote in LEAVE
    assert (cell.outcomes["c"].answered, cell.outcomes["c"].answer) == (False, "")
    assert leave.searches >= 1


def test_a_second_run_asks_nothing(tmp_path: Path, data: Path) -> None:
    first = one(runner(tmp_path).run(suite(), data))
    steps: list[Step] = []
    second = one(runner(tmp_path, steps).run(suite(), data))
    assert (second.asked, steps) == (0, [])
    assert dict(second.outcomes) == dict(first.outcomes)


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path, data: Path) -> None:
    path = one(runner(tmp_path).run(suite(), data)).records
    kept = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text(kept[0] + kept[1][: len(kept[1]) // 2], encoding="utf-8")
    cell = one(runner(tmp_path).run(suite(), data))
    assert (cell.asked, set(cell.outcomes)) == (2, {"a", "b", "c"})
    assert one(runner(tmp_path).run(suite(), data)).asked == 0


def test_a_question_that_failed_is_asked_again(
    tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    search = Retriever.search

    def broken(self: Retriever, query: str, *rest: Any) -> Any:
        if "Kittiwake" in query:
            raise OSError("the disk is gone")
        return search(self, query, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(Retriever, "search", broken)
        cell = one(runner(tmp_path).run(suite(), data))
    assert cell.outcomes["b"].error == "OSError: the disk is gone"
    assert cell.outcomes["a"].error is None
    cell = one(runner(tmp_path).run(suite(), data))
    assert (cell.asked, cell.outcomes["b"].error) == (1, None)


def test_a_changed_question_is_asked_again_and_a_changed_gold_is_not(tmp_path: Path, data: Path) -> None:
    runner(tmp_path).run(suite(), data)
    write_questions(data, [{**QUESTIONS[0], "answers": ["25 days"]}, {**QUESTIONS[1], "question": "Kittiwake oil?"}])
    assert one(runner(tmp_path).run(suite(), data)).asked == 1


def test_a_changed_document_makes_everything_stale(tmp_path: Path, data: Path) -> None:
    runner(tmp_path).run(suite(), data)
    (data / "own" / "docs" / "leave.md").write_text("# Leave\n\nEvery employee has 30 days of annual leave.\n")
    cell = one(runner(tmp_path).run(suite(), data))
    assert cell.asked == 3
    assert "30 days" in cell.outcomes["a"].answer


def test_variants_change_what_they_name(tmp_path: Path, data: Path) -> None:
    variants = (
        Variant(name="bm25", dense=False, reranked=0, answers=False),
        Variant(name="dense", lexical=False, reranked=0, answers=False),
        Variant(name="none", done=1.0),
    )
    bm25, dense, none = runner(tmp_path).run(suite(*variants), data)
    assert bm25.outcomes["a"].answered is None
    assert bm25.outcomes["c"].ranked == ()
    assert len(dense.outcomes["c"].ranked) == 4
    assert not any(outcome.answered for outcome in none.outcomes.values())


def test_one_question_at_a_time_or_many_is_the_same(tmp_path: Path, data: Path) -> None:
    serial = one(runner(tmp_path / "1").run(suite(concurrency=1), data))
    parallel = one(runner(tmp_path / "8").run(suite(concurrency=8), data))
    assert {key: value.answer for key, value in serial.outcomes.items()} == {
        key: value.answer for key, value in parallel.outcomes.items()
    }


def test_progress_tells_the_stages(tmp_path: Path, data: Path) -> None:
    steps: list[Step] = []
    runner(tmp_path, steps).run(suite(), data)
    assert [step.done for step in steps if step.stage == "ask"] == [1, 2, 3]
    assert steps[-1] == Step("own", "default", "ask", 3, 3)
    assert [step.done for step in steps if step.stage == "ingest"][-1] == 4


def test_a_corpus_without_text_is_an_error(tmp_path: Path, data: Path) -> None:
    for path in (data / "own" / "docs").iterdir():
        path.write_bytes(b"")
    with pytest.raises(EvalError, match="no document that can be searched"):
        runner(tmp_path).run(suite(), data)


def test_keys_follow_from_what_matters(data: Path) -> None:
    found = load(SetSpec(name="own", path="own"), data)
    usual = Settings(embedder="m", openai_api_key=None, _env_file=None)
    plain = cell_key(found, Variant(), usual)
    assert cell_key(found, Variant(name="other"), usual) == plain
    for other in (Variant(seed=1), Variant(done=0.1), Variant(lexical=False)):
        assert cell_key(found, other, usual) != plain
        assert corpus_key(found, other, usual) == corpus_key(found, Variant(), usual)
    for change in ({"reranker": "another"}, {"openai_api_key": SecretStr("x")}, {"embedder": "n"}, {"ocr": "on"}):
        assert cell_key(found, Variant(), usual.model_copy(update=change)) != plain, change
    assert corpus_key(found, Variant(chunk_tokens=99), usual) != corpus_key(found, Variant(), usual)


def test_an_outcome_survives_its_line(tmp_path: Path) -> None:
    cited = Cited(0, 1, "d", 3, "q", "passage", True)
    outcome = Outcome(
        "x", ("d", "e"), True, "An answer.", ("An answer.",), ("supported",), (cited,), 0.5, ("w",), 1, 2, 3, 4
    )
    assert from_json(json.loads(json.dumps(to_json(outcome)))) == outcome
    records = Records(tmp_path / "r.jsonl")
    question = Question("x", "?")
    records.add(question, outcome)
    assert Records(tmp_path / "r.jsonl").held == {question_key(question): outcome}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param('name = "x"\n', "sets", id="no sets"),
        pytest.param('name = "x"\nsets = [{name = "a", path = "p", paht = 1}]\n', "sets.0.paht", id="a misspelt key"),
        pytest.param('name = "x"\nsets = [{name="a",path="p"},{name="a",path="q"}]\n', "twice", id="a name twice"),
        pytest.param("name = \n", "no TOML", id="broken"),
    ],
)
def test_a_suite_that_cannot_be_used_says_why(tmp_path: Path, text: str, wanted: str) -> None:
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    with pytest.raises(EvalError, match=wanted):
        read_suite(str(tmp_path / "s.toml"))


def test_an_unknown_suite_names_those_that_are_there() -> None:
    with pytest.raises(EvalError, match="gate"):
        read_suite("nothing")
