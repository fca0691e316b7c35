"""How does a command run in the server that has the data open?"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx

from app.cli.backend import EXIT_FAILED, EXIT_USAGE, CommandError, Json, OnEvent

PREFIX = "/api/v1"


class RemoteBackend:
    """Talks to a running server."""

    def __init__(self, url: str, token: str | None = None) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._client = httpx.Client(base_url=url, timeout=httpx.Timeout(60.0, read=None), headers=headers)

    def ask(self, request: Json, on_event: OnEvent) -> Json:
        """See `Backend`."""
        created = self._json("POST", "/runs", json=request)
        return self._follow(created["run_id"], 0, on_event)

    def answer(self, request: Json) -> Json:
        """See `Backend`."""
        raise CommandError("`--no-checkpoint` runs in its own process: stop the server first.", EXIT_USAGE)

    def approve(self, run_id: str, body: Json, on_event: OnEvent) -> Json:
        """See `Backend`."""
        return self._continue(run_id, "approval", body, on_event)

    def resume(self, run_id: str, on_event: OnEvent) -> Json:
        """See `Backend`."""
        return self._continue(run_id, "resume", {}, on_event)

    def _continue(self, run_id: str, action: str, body: Json, on_event: OnEvent) -> Json:
        seen = int(self.run(run_id).get("last_seq", 0))
        self._json("POST", f"/runs/{run_id}/{action}", json=body)
        return self._follow(run_id, seen, on_event)

    def cancel(self, run_id: str) -> Json:
        """See `Backend`."""
        self._json("POST", f"/runs/{run_id}/cancel", json={})
        return self.run(run_id)

    def run(self, run_id: str) -> Json:
        """See `Backend`."""
        return self._json("GET", f"/runs/{run_id}")

    def runs(self, status: str | None, limit: int) -> Json:
        """See `Backend`."""
        return self._json("GET", "/runs", params={"limit": limit, **({"status": status} if status else {})})

    def verify(self, run_id: str, level: str) -> Json:
        """See `Backend`."""
        return self._json("GET", f"/runs/{run_id}/verify", params={"level": level})

    def search(self, query: str, limit: int) -> Json:
        """See `Backend`."""
        return self._json("GET", "/search", params={"q": query, "limit": limit})

    def documents(self, limit: int, offset: int) -> Json:
        """See `Backend`."""
        return self._json("GET", "/documents", params={"limit": limit, "offset": offset})

    def document(self, document_id: str) -> Json:
        """See `Backend`."""
        text = self._json("GET", f"/documents/{document_id}/text")
        return self._json("GET", f"/documents/{document_id}") | {"text": text.get("text")}

    def remove(self, document_id: str) -> None:
        """See `Backend`."""
        self._request("DELETE", f"/documents/{document_id}")

    def ingest(self, paths: Sequence[Path], progress: Callable[[Json], None]) -> Json:
        """See `Backend`: one job a path, followed until it has ended."""
        reports = [self._ingest_one(path, progress) for path in paths]
        return {
            "files": [file for report in reports for file in report["files"]],
            "totals": _sum(report["totals"] for report in reports),
            "seconds": sum(report["seconds"] for report in reports),
            "embedded": sum(report["embedded"] for report in reports),
            "written": sum(report["written"] for report in reports),
        }

    def _ingest_one(self, path: Path, progress: Callable[[Json], None]) -> Json:
        job = self._json("POST", "/ingestions", json={"path": str(path.resolve())})
        while True:
            state = self._json("GET", f"/ingestions/{job['ingestion_id']}")
            if state.get("progress"):
                progress(state["progress"])
            if state["status"] == "failed":
                raise CommandError(str(state.get("error", "The ingestion failed.")))
            if state["status"] == "completed":
                report: Json = state["report"]
                return report
            time.sleep(0.3)

    def reindex(self, rebuild: bool) -> int:
        """See `Backend`."""
        raise CommandError("Stop the server before `reindex`: it has the index open.", EXIT_USAGE)

    def graph(self) -> str:
        """See `Backend`."""
        return self._request("GET", "/graph").text

    def close(self) -> None:
        """See `Backend`."""
        self._client.close()

    def _follow(self, run_id: str, after: int, on_event: OnEvent) -> Json:
        path = f"{PREFIX}/runs/{run_id}/events"
        try:
            with self._client.stream("GET", path, headers={"Last-Event-ID": str(after)}) as response:
                for kind, data in _events(response.iter_lines()):
                    on_event(kind, data)
        except httpx.HTTPError as error:
            raise CommandError(f"The server went away: {error}. `citedrag runs show {run_id}` tells more.") from error
        return self.run(run_id)

    def _json(self, method: str, path: str, **options: Any) -> Json:
        found: Json = self._request(method, path, **options).json()
        return found

    def _request(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            response = self._client.request(method, PREFIX + path, **options)
        except UnicodeEncodeError as error:
            raise CommandError("The text is not Unicode.", EXIT_USAGE) from error
        except httpx.HTTPError as error:
            raise CommandError(f"The server cannot be reached: {error}") from error
        if response.is_success:
            return response
        try:
            problem = response.json()
            found = [
                f"{one.get('field') or one.get('key') or ''}: {one.get('message', one)}"
                for one in problem.get("errors", [])
            ]
            detail = "; ".join([str(problem.get("detail", response.text)), *found])
        except (ValueError, AttributeError):
            detail = response.text
        raise CommandError(str(detail), EXIT_USAGE if response.status_code == 422 else EXIT_FAILED)


def _events(lines: Iterator[str]) -> Iterator[tuple[str, Json]]:
    """Yield the events of a stream (WHATWG server-sent events: fields by line, an empty line ends an event)."""
    kind, data = "message", ""
    for line in lines:
        if not line:
            if data:
                yield kind, json.loads(data)
            kind, data = "message", ""
        elif line.startswith("event:"):
            kind = line[6:].strip()
        elif line.startswith("data:"):
            data += line[5:].strip()


def _sum(totals: Iterator[dict[str, int]]) -> dict[str, int]:
    joined: dict[str, int] = {}
    for one in totals:
        for status, count in one.items():
            joined[status] = joined.get(status, 0) + count
    return joined
