"""Services over a small folder: the hashing embedder, the real graph, stores and files, scripted roles."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.core.types import Passage
from app.ports import Roles
from app.runs.requests import RunRequest
from app.runs.store import Event
from app.settings import Settings
from app.wiring import Services, close_services, open_library, open_services

Json = dict[str, Any]

LEAVE = "Every employee has 24 days of annual leave."
KITTIWAKE = "The oil change interval of Kittiwake is 500 hours."
LUYU = "The oil change interval of Luyu Star is 750 hours."
ALDER = "The oil change interval of Alder Pioneer is 600 hours."
FILES = {
    "leave.md": f"# Leave\n\n{LEAVE}\n",
    "kittiwake.md": f"# Kittiwake\n\n{KITTIWAKE}\n",
    "luyu.md": f"# Luyu Star\n\n{LUYU}\n",
    "alder.md": f"# Alder Pioneer\n\n{ALDER}\n",
}
COMPARE = "Compare the oil change interval of Kittiwake, Luyu Star and Alder Pioneer."
THREE = '[{"query": "oil Kittiwake"}, {"query": "oil Luyu Star"}, {"query": "oil Alder Pioneer"}]'
TWO = '[{"query": "oil Kittiwake"}, {"query": "oil Luyu Star"}]'


class FixedReranker:
    """Gives a passage the score of the first word of the table that stands in it, else `otherwise`."""

    name = "fixed"

    def __init__(self, table: Mapping[str, float] | None = None, otherwise: float = 0.0) -> None:
        self._table = table or {}
        self._otherwise = otherwise

    def rerank(self, query: str, passages: Sequence[Passage]) -> list[Passage]:
        scored = [replace(one, scores=replace(one.scores, rerank=self._score(one.text))) for one in passages]
        return sorted(scored, key=lambda one: -(one.scores.rerank or 0.0))

    def _score(self, text: str) -> float:
        return next((score for word, score in self._table.items() if word in text), self._otherwise)


@asynccontextmanager
async def opened(tmp_path: Path, roles: Roles | None = None, reranker: Any = None) -> AsyncIterator[Services]:
    """Open services over `FILES`; without roles those that quote."""
    services = await reopened(tmp_path, roles)
    if reranker is not None:
        services.retriever.reranker = reranker
    try:
        yield services
    finally:
        await close_services(services)


async def reopened(tmp_path: Path, roles: Roles | None = None) -> Services:
    """Open the same home as another process would."""
    folder = write_files(tmp_path / "docs")
    settings = Settings(home=tmp_path / "home", embedder="hashing", openai_api_key=None, _env_file=None)
    library = open_library(settings)
    library.ingest([folder])
    return await open_services(settings, library, None if roles is None else (lambda: roles))


def write_files(folder: Path) -> Path:
    if not folder.exists():
        folder.mkdir()
        for name, text in FILES.items():
            (folder / name).write_text(text, encoding="utf-8")
    return folder


async def ask(services: Services, question: str, **options: Any) -> Json:
    """Start a run, follow it to the end of its stream, and return its result."""
    created = await services.runs.create(RunRequest.model_validate({"question": question, **options}))
    return await follow(services, created["run_id"])


async def follow(services: Services, run_id: str, after: int = 0) -> Json:
    await events(services, run_id, after)
    return services.runs.get(run_id)


async def events(services: Services, run_id: str, after: int = 0) -> list[Event]:
    return [event async for event in services.runs.events(run_id, after)]


def codes(result: Json) -> list[str]:
    return [one["code"] for one in result["warnings"]]


def files_holding(folder: Path, needle: bytes) -> list[Path]:
    """Return the files under a folder that hold these bytes."""
    return [file for file in folder.rglob("*") if file.is_file() and needle in file.read_bytes()]
