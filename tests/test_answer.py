"""The library call."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

import app
from app.settings import Settings
from app.wiring import open_library
from tests.harness import COMPARE, write_files


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("OPENAI_API_KEY", "CITEDRAG_OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CITEDRAG_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CITEDRAG_EMBEDDER", "hashing")
    library = open_library(Settings())
    library.ingest([write_files(tmp_path / "docs")])
    library.close()
    return tmp_path / "home"


async def test_without_a_run_id_three_tasks_run_straight_through_and_nothing_is_kept(home: Path) -> None:
    result = await app.answer(COMPARE)
    assert (result["status"], len(result["research_tasks"])) == ("completed", 3)
    assert len(result["delegation_path"]) % 2 == 0
    assert result["run_id"].encode() not in (home / "checkpoints.db").read_bytes()
    assert result["run_id"].encode() not in (home / "runs.db").read_bytes()


async def test_with_a_run_id_a_costly_plan_waits() -> None:
    run_id = str(uuid.uuid4())
    result = await app.answer(COMPARE, run_id)
    assert (result["run_id"], result["status"]) == (run_id, "awaiting_approval")
