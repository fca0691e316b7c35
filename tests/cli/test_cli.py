"""The command line in a process of its own, with the embedder that needs no model."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


class Cli:
    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {
            "PATH": os.environ["PATH"], "CITEDRAG_HOME": str(home), "CITEDRAG_EMBEDDER": "hashing", "COLUMNS": "200",
        }  # fmt: skip

    def __call__(self, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "app", *words], env=self.environment | environment, capture_output=True, text=True,
            cwd=Path(__file__).resolve().parents[2], timeout=90, check=False,
        )  # fmt: skip


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path / "home")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "leave.md").write_text("Every employee has 24 days of annual leave.\n", encoding="utf-8")
    return docs


def test_exit_codes_tell_how_a_question_ended(cli: Cli, folder: Path) -> None:
    assert cli("ingest", str(folder)).returncode == 0
    answered = cli("ask", "How many days of annual leave has every employee?", "--json")
    assert answered.returncode == 0
    result = json.loads(answered.stdout)
    assert result["citations"][0]["quotes"][0]["text"] == "Every employee has 24 days of annual leave."
    assert cli("runs", "verify", result["run_id"], "--level", "source").returncode == 0
    (folder / "leave.md").write_text("Every employee has 25 days of annual leave.\n", encoding="utf-8")
    assert cli("runs", "verify", result["run_id"], "--level", "source").returncode == 1
    assert cli("ask", "What is the capital of France?").returncode == 3
    waiting = cli("ask", "Compare the leave of A, B and C.", "--json")
    assert waiting.returncode == 4
    cancelled = cli("runs", "cancel", json.loads(waiting.stdout)["run_id"], "--json")
    assert json.loads(cancelled.stdout)["warnings"][0]["code"] == "plan_rejected"
    assert cli("ingest", str(folder / "gone")).returncode == 2
    assert cli("documents", "show", "nothing").returncode == 1


def test_another_embedder_asks_for_a_rebuild_and_a_lost_index_gets_one(cli: Cli, folder: Path) -> None:
    cli("ingest", str(folder))
    stamp = cli.home / "index" / "stamp.json"
    stamp.write_text(stamp.read_text(encoding="utf-8").replace("hashing-64", "other"), encoding="utf-8")
    refused = cli("search", "leave")
    assert refused.returncode == 1
    assert "reindex --rebuild" in " ".join(refused.stderr.split())
    assert cli("reindex", "--rebuild").returncode == 0
    assert "leave.md" in cli("search", "annual leave").stdout
    shutil.rmtree(cli.home / "index")
    assert "1 chunks written" in cli("reindex").stdout
    assert not list(cli.home.glob("index.old*"))


def test_the_heavy_packages_are_not_loaded_by_the_command_line_itself() -> None:
    code = "import sys, app.cli; print([m for m in ('torch', 'litestar', 'langgraph', 'openai') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_ids_are_whole_in_a_narrow_terminal(cli: Cli, folder: Path) -> None:
    cli("ingest", str(folder))
    run_id = json.loads(cli("ask", "How many days of annual leave has every employee?", "--json").stdout)["run_id"]
    assert run_id in cli("runs", "list", COLUMNS="80").stdout
    document_id = json.loads(cli("documents", "list", "--json").stdout)["items"][0]["id"]
    assert document_id in cli("documents", "list", COLUMNS="80").stdout


@pytest.mark.parametrize(
    "words",
    [
        ("runs", "verify", "x", "--level", "bogus"),
        ("serve", "--port", "99999"),
        ("ask", "   "),
        ("ask", "--home", "/proc/nope", "hi"),
        ("ingest", "--home", "/etc/hostname", "."),
    ],
)
def test_what_cannot_be_done_is_said_without_a_traceback(cli: Cli, words: tuple[str, ...]) -> None:
    done = cli(*words)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert done.stderr.strip()
