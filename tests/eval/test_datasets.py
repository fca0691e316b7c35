"""Readers of data sets: the project's form, BEIR's, a user's table; names of documents, samples, errors."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from eval.datasets import load, sample
from eval.errors import EvalError
from eval.runner import materialise
from eval.suite import SetSpec
from eval.types import Question, Turn

DATA = Path(os.environ.get("CITEDRAG_SHARED") or Path(__file__).parents[2].parent / "shared") / "data"


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def own_form(root: Path) -> Path:
    folder = root / "own"
    (folder / "docs" / "en").mkdir(parents=True)
    (folder / "docs" / "zh").mkdir()
    (folder / "docs" / "en" / "report.v2.md").write_text("# Report\n\nTwo.\n", encoding="utf-8")
    (folder / "docs" / "zh" / "报告.md").write_text("# 报告\n\n二。\n", encoding="utf-8")
    rows = [
        {
            "id": 1, "question": "How many?", "answers": ["two"], "evidence_doc_ids": ["en/report.v2"],
            "evidence_text": ["Two."], "answerable": True, "lang": "en", "type": "fact",
            "parallel_doc_id": "zh/报告", "evidence_pages": {"en/report.v2": [3, 4]},
        },
        {"id": "2", "question": "多少？", "answers": [], "evidence_doc_ids": [], "answerable": False, "lang": "zh-Hant",
         "history": [{"role": "user", "text": "报告"}], "standalone": "报告里有多少？",
         "answer_parts": [["a", "b"], ["c"]]},
    ]  # fmt: skip
    lines(folder / "questions.jsonl", rows)
    return root


def test_the_projects_form(tmp_path: Path) -> None:
    data = load(SetSpec(name="own", path="own"), own_form(tmp_path))
    first, second = data.questions
    assert first == Question(
        "1", "How many?", "en", "fact", True, ("two",), (), ("en/report.v2",), (), ("Two.",),
        (("en/report.v2", 3), ("en/report.v2", 4)),
    )  # fmt: skip
    assert (second.answerable, second.parts) == (False, (("a", "b"), ("c",)))
    assert second.history == (Turn("user", "报告"),)
    assert data.corpus.folder == tmp_path / "own" / "docs"


def test_only_the_last_suffix_is_no_part_of_a_documents_name(tmp_path: Path) -> None:
    name = load(SetSpec(name="own", path="own"), own_form(tmp_path)).namer()
    assert name("en/report.v2.md") == "en/report.v2"
    assert name("zh/报告.md") == "zh/报告"


def test_a_gold_name_with_its_suffix_tells_two_files_of_one_stem_apart(tmp_path: Path) -> None:
    folder = own_form(tmp_path) / "own"
    lines(folder / "questions.jsonl", [{"id": "1", "question": "?", "evidence_doc_ids": ["en/report.pdf"]}])
    name = load(SetSpec(name="own", path="own"), tmp_path).namer()
    assert (name("en/report.pdf"), name("en/report.docx")) == ("en/report.pdf", "en/report")


def test_one_language_over_the_documents_of_the_other(tmp_path: Path) -> None:
    spec = SetSpec(name="x", path="own", documents="zh", language="en", gold="parallel_doc_id")
    data = load(spec, own_form(tmp_path))
    (question,) = data.questions
    assert question.documents == ("zh/报告",)
    assert question.snippets == ()
    assert data.namer()("报告.md") == "zh/报告"


def test_a_language_takes_its_scripts_along_and_another_field_can_be_asked(tmp_path: Path) -> None:
    (question,) = load(SetSpec(name="x", path="own", language="zh", ask="standalone"), own_form(tmp_path)).questions
    assert question.text == "报告里有多少？"


def test_records_and_grades(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    lines(folder / "docs.jsonl", [{"id": "a/../b", "title": "T", "text": "x"}, {"id": "2", "sentences": ["p", "q"]}])
    lines(folder / "questions.jsonl", [{"id": "7", "question": "?", "evidence_doc_ids": ["a/../b", "2"]}])
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n7\ta/../b\t2\n7\t2\t1\n", encoding="utf-8")
    data = load(SetSpec(name="set", path="set"), tmp_path)
    assert data.questions[0].grades() == {"a/../b": 2, "2": 1}
    target, names = materialise(data.corpus, tmp_path / "files")
    written = {names[path.name]: path.read_text(encoding="utf-8") for path in sorted(target.iterdir())}
    assert written == {"a/../b": "# T\n\nx\n", "2": "p\nq\n"}


def test_beir(tmp_path: Path) -> None:
    folder = tmp_path / "beir"
    lines(folder / "corpus.jsonl", [{"_id": "d1", "title": "One", "text": "first"}, {"_id": "d2", "text": "second"}])
    lines(folder / "queries.jsonl", [{"_id": "q1", "text": "first?"}, {"_id": "q2", "text": "no judgement"}])
    (folder / "qrels").mkdir()
    (folder / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq2\td1\t1\n", encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td2\t2\nq1\td1\t0\n", encoding="utf-8")
    data = load(SetSpec(name="b", reader="beir", path="beir"), tmp_path)
    assert [(one.id, one.grades()) for one in data.questions] == [("q1", {"d2": 2})]
    assert [one.id for one in data.corpus.records] == ["d1", "d2"]


def test_a_users_csv(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "q.csv").write_text(
        '\ufeffquestion,answers,documents,answerable\n"How many, in all?",two|2,a/report|b,\n年假几天？,,,no\n',
        encoding="utf-8",
    )
    data = load(SetSpec(name="mine", reader="table", path="q.csv", documents="papers"), tmp_path)
    first, second = data.questions
    assert (first.text, first.answers, first.documents) == ("How many, in all?", ("two", "2"), ("a/report", "b"))
    assert (first.answerable, second.answerable) == (True, False)
    assert (first.language, second.language) == ("en", "zh")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        pytest.param("frage\nx\n", "unknown column 'frage'", id="no question"),
        pytest.param("question,anwsers\nx,y\n", "unknown column 'anwsers'", id="a column misspelt"),
        pytest.param("answers\ny\n", "no column `question`", id="no column question"),
        pytest.param("question\n", "no question after its filters", id="no row"),
        pytest.param("question,answers\nHow many, in all?,2\n", "row 1 has 3 cells, the header has 2", id="a comma"),
        pytest.param("question,answerable\nx,nein\n", "`answerable` is 'nein': say yes or no", id="another word"),
        pytest.param("question,answers\nx,\n", "neither gold nor `answerable`", id="nothing said"),
        pytest.param("question,answerable\nx,no\nx,yes\n", "stands twice", id="a question twice"),
        pytest.param("id,question,answerable\n1,x,no\n1,y,no\n", "the id '1' stands twice", id="an id twice"),
        pytest.param(
            "question,answers\nReplace this by a question of yours,x\n", "no question of yours", id="template"
        ),
    ],
)
def test_a_csv_that_cannot_be_used_says_why(tmp_path: Path, text: str, wanted: str) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "q.csv").write_text(text, encoding="utf-8")
    with pytest.raises(EvalError, match=wanted):
        load(SetSpec(name="mine", reader="table", path="q.csv", documents="papers"), tmp_path)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_a_table_as_a_spreadsheet_writes_it(tmp_path: Path, separator: str, encoding: str) -> None:
    (tmp_path / "papers").mkdir()
    rows = [
        ["Question", "Answers", "Answerable"],
        ["年假一共有多少天？", "二十四天", "是"],
        ["谁画了教堂的天花板？", "", "否"],
    ]
    text = "\r\n".join(separator.join(row) for row in rows)
    (tmp_path / "q.csv").write_bytes(text.encode(encoding))
    data = load(SetSpec(name="mine", reader="table", path="q.csv", documents="papers"), tmp_path)
    assert [(one.text, one.answers, one.answerable) for one in data.questions] == [
        ("年假一共有多少天？", ("二十四天",), True), ("谁画了教堂的天花板？", (), False),
    ]  # fmt: skip


def test_a_question_keeps_its_id_when_its_row_moves(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    spec = SetSpec(name="mine", reader="table", path="q.csv", documents="papers")
    ids = []
    for order in ("a?,no\nb?,no\n", "new?,no\nb?,no\na?,no\n"):
        (tmp_path / "q.csv").write_text("question,answerable\n" + order, encoding="utf-8")
        ids.append({one.text: one.id for one in load(spec, tmp_path).questions})
    assert ids[0].items() <= ids[1].items()


def test_gold_that_no_document_has_is_found(tmp_path: Path) -> None:
    folder = own_form(tmp_path) / "own"
    lines(folder / "questions.jsonl", [{"id": "1", "question": "?", "evidence_doc_ids": ["en/report.v2", "en/reprot"]}])
    assert load(SetSpec(name="own", path="own"), tmp_path).unknown_gold() == ["en/reprot"]


def test_a_line_separator_inside_a_string_cuts_no_line(tmp_path: Path) -> None:
    folder = own_form(tmp_path) / "own"
    (folder / "questions.jsonl").write_text('{"id": "1", "question": "a\u2028b?"}\n', encoding="utf-8")
    (question,) = load(SetSpec(name="own", path="own"), tmp_path).questions
    assert question.text == "a\u2028b?"


def test_broken_lines_are_named(tmp_path: Path) -> None:
    (tmp_path / "s" / "docs").mkdir(parents=True)
    (tmp_path / "s" / "questions.jsonl").write_text('{"id": 1, "question": "a"}\n{"id": \n', encoding="utf-8")
    with pytest.raises(EvalError, match="line 2 is no JSON"):
        load(SetSpec(name="s", path="s"), tmp_path)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(EvalError, match="--data"):
        load(SetSpec(name="s", path="nowhere"), tmp_path)


def test_a_sample_is_drawn_by_its_seed_and_keeps_the_order() -> None:
    questions = [Question(str(number), "?") for number in range(50)]
    drawn = sample(questions, 10, 7)
    assert drawn == sample(questions, 10, 7)
    assert [int(one.id) for one in drawn] == sorted(int(one.id) for one in drawn)
    assert drawn != sample(questions, 10, 8)
    assert len(sample(questions, None, 7)) == 50


@pytest.mark.shared
@pytest.mark.skipif(not DATA.is_dir(), reason="the evaluation data is not there")
@pytest.mark.parametrize("suite", ["open", "stages", "scifact-bm25"])
def test_the_open_sets_can_be_read(suite: str) -> None:
    from eval.suite import read_suite

    for spec in read_suite(suite)[0].sets:
        data = load(spec, DATA)
        gold = {name for question in data.questions for name in question.documents}
        here = _names(data)
        assert len(gold & here) >= 0.95 * len(gold), (spec.name, sorted(gold - here)[:5])


def _names(data: Any) -> set[str]:
    if data.corpus.folder is None:
        return {record.id for record in data.corpus.records}
    name = data.namer()
    return {
        name(path.relative_to(data.corpus.folder).as_posix())
        for path in data.corpus.folder.rglob("*")
        if path.is_file()
    }
