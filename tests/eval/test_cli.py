"""The measuring commands as a user types them: exit codes, messages, plain data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eval.cli import verb
from tests.harness import FILES


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with documents, and an environment in which nothing else is set."""
    for name in ("OPENAI_API_KEY", "CITEDRAG_OPENAI_API_KEY", "CITEDRAG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CITEDRAG_EMBEDDER", "hashing")
    monkeypatch.chdir(tmp_path)
    documents = tmp_path / "papers"
    documents.mkdir()
    for name, text in FILES.items():
        (documents / name).write_text(text, encoding="utf-8")
    return tmp_path


def ran(*words: str) -> Result:
    return CliRunner().invoke(verb, list(words))


def write_suite(folder: Path, extra: str = "") -> Path:
    path = folder / "mine" / "suite.toml"
    path.parent.mkdir(exist_ok=True)
    path.with_name("questions.csv").write_text(
        "question,answers,documents,answerable\n"
        "How many days of annual leave has every employee?,24 days,leave,yes\n"
        "Who painted the ceiling of the chapel?,,,no\n",
        encoding="utf-8",
    )
    path.write_text(
        'name = "mine"\n[[sets]]\nname = "mine"\nreader = "table"\npath = "questions.csv"\n'
        f'documents = "{folder / "papers"}"\n{extra}',
        encoding="utf-8",
    )
    return path


def test_a_run_as_plain_data_and_as_markdown(folder: Path) -> None:
    done = ran("run", str(write_suite(folder)), "--json", "--markdown", str(folder / "report.md"))
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    (cell,) = found["cells"]
    assert (cell["set"], cell["questions"], cell["failed"], found["model"]) == ("mine", 2, 0, "extractive")
    assert cell["measures"]["answered_correct"]["mean"] == 1.0
    assert cell["measures"]["quotation_verified"]["mean"] == 1.0
    assert Path(cell["records"]).is_file()
    assert "| mine | default | 2 |" in (folder / "report.md").read_text(encoding="utf-8")


def test_what_is_required_decides_the_exit_code(folder: Path) -> None:
    suite = write_suite(folder, '[require]\n"mine/default/useful" = 1.0\n')
    assert ran("run", str(suite)).exit_code == 0
    suite = write_suite(folder, '[most]\n"mine/default/searches" = 0.5\n')
    done = ran("run", str(suite))
    assert done.exit_code == 1
    assert "above 0.5" in done.output


def test_a_part_of_a_suite_and_what_it_does_not_have(folder: Path) -> None:
    suite = str(write_suite(folder))
    assert ran("run", suite, "--set", "mine", "--questions", "1").exit_code == 0
    done = ran("run", suite, "--set", "yours")
    assert done.exit_code == 2
    assert "no set 'yours': it has mine" in done.output


def test_two_runs_are_compared(folder: Path) -> None:
    suite = str(write_suite(folder))
    ran("run", suite)
    ran("run", suite)
    done = ran("compare", "mine", "mine", "--json")
    assert {row["verdict"] for row in json.loads(done.stdout)} == {"no difference"}
    assert ran("compare", "mine", "mine", "--measure", "nothing").exit_code == 2
    assert ran("compare", "mine").exit_code == 2
    assert "no run 'yours'" in ran("compare", "mine", "yours").output


def test_the_list_names_suites_measures_and_runs(folder: Path) -> None:
    ran("run", str(write_suite(folder)))
    found = json.loads(ran("list", "--json").stdout)
    assert {"gate", "own", "open"} <= {one["name"] for one in found["suites"]}
    assert all(one["says"] for one in found["measures"])
    assert [one["suite"] for one in found["runs"]] == ["mine"]
    assert "mine" in ran("list").stdout


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        pytest.param(("run", "nothing"), "There is no suite 'nothing'", id="no suite"),
        pytest.param(("run", "open", "--data", "nowhere"), "--data", id="no data"),
        pytest.param(("new", "mine", "nowhere"), "no folder of documents", id="no documents"),
    ],
)
def test_what_is_missing_is_said(folder: Path, words: tuple[str, ...], wanted: str) -> None:
    done = ran(*words)
    assert done.exit_code == 2
    assert wanted in done.output
    assert "Traceback" not in done.output


def test_markup_in_a_name_is_text(folder: Path) -> None:
    done = ran("run", "[bold]x[/bold]")
    assert "[bold]x[/bold]" in done.output


@pytest.mark.parametrize(
    ("extra", "wanted"),
    [
        pytest.param('[require]\n"mine/defalt/useful" = 0.5\n', "no variant 'defalt': it has default", id="variant"),
        pytest.param('[most]\n"mien/default/false_answer" = 0.5\n', "no set 'mien': it has mine", id="set"),
        pytest.param('[require]\n"mine/default/usefull" = 0.5\n', "SET/VARIANT/MEASURE", id="measure"),
        pytest.param('[require]\n"mine/default/false_answer" = 0.5\n', "belongs into [most]", id="direction"),
        pytest.param('[require]\n"mine/default/useful" = 1.5\n', "lies between 0 and 1", id="limit"),
    ],
)
def test_a_requirement_that_can_never_fire_is_refused_before_the_run(folder: Path, extra: str, wanted: str) -> None:
    done = ran("run", str(write_suite(folder, extra)))
    assert done.exit_code == 2
    assert wanted in " ".join(done.output.split())
    assert not (folder / ".citedrag" / "eval" / "records").exists()


def test_where_results_cannot_be_written_is_said_before_the_run(folder: Path) -> None:
    suite = str(write_suite(folder))
    (folder / "file").touch()
    for words in (("--markdown", str(folder)), ("--markdown", str(folder / "no" / "x.md")), ("--out", "file/x")):
        done = ran("run", suite, *words)
        assert done.exit_code in (1, 2)
        assert "Traceback" not in done.output
        assert done.exception is None or isinstance(done.exception, SystemExit)


def test_a_changed_question_is_left_out_of_a_comparison(folder: Path) -> None:
    suite = write_suite(folder)
    ran("run", str(suite))
    questions = suite.with_name("questions.csv")
    text = questions.read_text(encoding="utf-8")
    questions.write_text(text.replace("24 days", "25 days"), encoding="utf-8")
    ran("run", str(suite))
    first, second = sorted((folder / ".citedrag" / "eval" / "runs").glob("*.json"))
    done = ran("compare", str(first), str(second), "--measure", "useful", "--json")
    assert [row["n"] for row in json.loads(done.stdout[done.stdout.index("[") :])] == [1]
    assert "2 questions have no partner" in done.output


def test_gold_that_is_not_in_the_corpus_is_named(folder: Path) -> None:
    suite = write_suite(folder)
    questions = suite.with_name("questions.csv")
    questions.write_text(questions.read_text(encoding="utf-8").replace(",leave,", ",laeve,"), encoding="utf-8")
    done = ran("run", str(suite))
    assert "1 gold documents are not in the corpus" in " ".join(done.output.split())
    assert "mine: laeve" in done.output
    assert json.loads(ran("run", str(suite), "--json").stdout)["cells"][0]["unknown_gold"] == ["laeve"]
