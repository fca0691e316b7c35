"""Where does a command run: in this process, or in the server that has the data open?"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

Json = dict[str, Any]
OnEvent = Callable[[str, Json], None]

EXIT_FAILED, EXIT_USAGE, EXIT_REFUSED, EXIT_WAITING, EXIT_CANCELLED, EXIT_BUSY = 1, 2, 3, 4, 5, 6
EXIT_BY_STATUS = {
    "completed": 0,
    "refused": EXIT_REFUSED,
    "awaiting_approval": EXIT_WAITING,
    "cancelled": EXIT_CANCELLED,
}


class CommandError(Exception):
    """A command cannot be done; `exit_code` is what the shell sees."""

    def __init__(self, message: str, exit_code: int = EXIT_FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Backend(Protocol):
    """What every command needs. Objects are those of the HTTP interface. Raises CommandError."""

    def ask(self, request: Json, on_event: OnEvent) -> Json:
        """Start a run and follow it until its stream ends; return the run's result."""

    def answer(self, request: Json) -> Json:
        """Answer without a checkpoint and without approval; nothing is left to resume."""

    def approve(self, run_id: str, body: Json, on_event: OnEvent) -> Json:
        """Send a decision and follow the run until its stream ends; return the run's result."""

    def resume(self, run_id: str, on_event: OnEvent) -> Json:
        """Go on with an interrupted run and follow it."""

    def cancel(self, run_id: str) -> Json:
        """Cancel a run; return its result."""

    def run(self, run_id: str) -> Json:
        """Return a run's result."""

    def runs(self, status: str | None, limit: int) -> Json:
        """Return a page of runs."""

    def verify(self, run_id: str, level: str) -> Json:
        """Check a run's citations again."""

    def search(self, query: str, limit: int) -> Json:
        """Search without answering."""

    def documents(self, limit: int, offset: int) -> Json:
        """Return a page of documents."""

    def document(self, document_id: str) -> Json:
        """Return a document with its text."""

    def remove(self, document_id: str) -> None:
        """Take a document out of the corpus."""

    def ingest(self, paths: Sequence[Path], progress: Callable[[Json], None]) -> Json:
        """Ingest files and folders; return the report."""

    def reindex(self, rebuild: bool) -> int:
        """Bring the index in line with the catalog, or make it anew; return how many chunks were written."""

    def graph(self) -> str:
        """Return the graph as Mermaid."""

    def close(self) -> None:
        """Release what is open."""


def running_server(home: Path) -> Json | None:
    """Return what `server.json` says, or None if there is no such file or its process is gone."""
    from app.wiring import process_alive, server_file

    try:
        found: Json = json.loads(server_file(home).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if process_alive(int(found.get("pid", -1))) else None
