"""Ways to ask on the command line, and what the shell sees where something is in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.settings import Settings
from app.wiring import open_library
from tests.harness import COMPARE, write_files


@pytest.fixture
def home(tmp_path: Path) -> Path:
    library = open_library(Settings(home=tmp_path / "home", embedder="hashing"))
    library.ingest([write_files(tmp_path / "docs")])
    library.close()
    return tmp_path / "home"


def cli(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "CITEDRAG_HOME": str(home), "CITEDRAG_EMBEDDER": "hashing"}
    return subprocess.run(
        [sys.executable, "-m", "app", *words], env=env, capture_output=True, text=True, timeout=90, check=False,
        cwd=Path(__file__).resolve().parents[2],
    )  # fmt: skip


def test_without_a_checkpoint_three_tasks_run_straight_through(home: Path) -> None:
    done = cli(home, "ask", COMPARE, "--no-checkpoint", "--json")
    result = json.loads(done.stdout)
    assert (done.returncode, result["status"], len(result["research_tasks"])) == (0, "completed", 3)
    assert json.loads(cli(home, "runs", "list", "--json").stdout)["total"] == 0


def test_a_cancelled_run_and_an_index_in_use_have_codes_of_their_own(home: Path) -> None:
    waiting = json.loads(cli(home, "ask", COMPARE, "--json").stdout)
    assert cli(home, "runs", "cancel", waiting["run_id"]).returncode == 0
    again = cli(home, "runs", "approve", waiting["run_id"])
    assert (again.returncode, "cancelled" in again.stderr) == (1, True)
    library = open_library(Settings(home=home, embedder="hashing"))
    try:
        assert cli(home, "search", "oil").returncode == 6
    finally:
        library.close()


def test_a_wrong_mode_is_a_wrong_use(home: Path) -> None:
    assert cli(home, "ask", "Leave?", "--mode", "sideways").returncode == 2
