"""Citations checked again: against what we keep, and against the file's own bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.wiring import Services
from tests.harness import Json, ask, opened

ASKED = "How many days of annual leave does every employee have?"


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    async with opened(tmp_path) as services:
        yield services


def change(tmp_path: Path) -> None:
    file = tmp_path / "docs" / "leave.md"
    file.write_bytes(file.read_bytes().replace(b"24", b"25"))


def outcome(services: Services, result: Json, level: str) -> tuple[bool, str | None]:
    found = services.runs.verify(result["run_id"], level)
    return found["ok"], found["citations"][0]["reason"]


async def test_a_fresh_answer_verifies_on_both_levels(services: Services) -> None:
    result = await ask(services, ASKED)
    assert [outcome(services, result, level) for level in ("stored", "source")] == [(True, None)] * 2


async def test_one_changed_byte_of_the_file_fails_the_source_alone(services: Services, tmp_path: Path) -> None:
    result = await ask(services, ASKED)
    change(tmp_path)
    assert outcome(services, result, "stored") == (True, None)
    assert outcome(services, result, "source") == (False, "the file is gone, or its bytes are not those that were read")


async def test_a_removed_document_fails_the_source_alone(services: Services) -> None:
    result = await ask(services, ASKED)
    services.library.remove(result["citations"][0]["document"]["id"])
    assert outcome(services, result, "stored")[0]
    assert outcome(services, result, "source") == (False, "the document was removed or has another version now")


async def test_after_a_new_ingestion_the_run_shows_what_it_cited(services: Services, tmp_path: Path) -> None:
    result = await ask(services, ASKED)
    change(tmp_path)
    services.library.ingest([tmp_path / "docs"])
    assert outcome(services, result, "stored") == (True, None)
    assert not outcome(services, result, "source")[0]
    assert "24 days" in services.runs.evidence(result["run_id"])["evidence"][0]["text"]
