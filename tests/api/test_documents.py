"""Documents, search and ingestion over HTTP."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import AsyncTestClient

from app.api.application import create_app
from app.settings import Settings
from ingest.errors import IndexBusy
from tests.api.fakes import FakeServices


async def test_documents_are_listed_by_pages(client: AsyncTestClient) -> None:
    first = (await client.get("/api/v1/documents", params={"limit": 2})).json()
    assert ([item["id"] for item in first["items"]], first["total"], first["next"]) == (["d1", "d2"], 3, 2)
    rest = (await client.get("/documents", params={"limit": 2, "offset": 2})).json()
    assert ([item["id"] for item in rest["items"]], rest["next"]) == (["d3"], None)
    assert "text" not in first["items"][0]


async def test_one_document_with_text_and_pages(client: AsyncTestClient) -> None:
    found = (await client.get("/documents/d1")).json()
    assert found["text"] == "Sales rose by 4 %."
    assert found["page_map"] == [{"number": 1, "label": "1", "start": 0, "end": 18}]
    assert (await client.get("/documents/d1/text")).json() == {"id": "d1", "text": "Sales rose by 4 %."}


async def test_a_document_is_removed_once(client: AsyncTestClient) -> None:
    assert (await client.delete("/documents/d1")).status_code == 204
    for response in (
        await client.delete("/documents/d1"),
        await client.get("/documents/d1"),
        await client.get("/documents/d1/text"),
    ):
        assert (response.status_code, response.json()["code"]) == (404, "document_not_found")


async def test_search(client: AsyncTestClient) -> None:
    found = (await client.get("/search", params={"q": "销售 sales", "limit": 2})).json()
    assert (found["query"], len(found["passages"])) == ("销售 sales", 2)


@pytest.mark.parametrize("query", [{}, {"q": ""}, {"q": "x", "limit": 0}, {"q": "x", "limit": "y"}, {"q": "x" * 4001}])
async def test_invalid_searches_are_422(client: AsyncTestClient, query: dict[str, Any]) -> None:
    response = await client.get("/search", params=query)
    assert (response.status_code, response.json()["code"]) == (422, "invalid_request")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    (folder / "reports").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (folder / "link").symlink_to(tmp_path / "secret")
    return folder


@pytest.fixture
def services(root: Path) -> FakeServices:
    return FakeServices(settings=Settings(_env_file=None, ingest_roots=[root.parent / "absent", root]))


async def _ended(client: AsyncTestClient, job_id: str) -> dict[str, Any]:
    for _ in range(200):
        state: dict[str, Any] = (await client.get(f"/ingestions/{job_id}")).json()
        if state["status"] != "running":
            return state
        await asyncio.sleep(0.01)
    raise AssertionError("the job did not end")


@pytest.mark.parametrize("path", ["", "reports", "reports/../reports", "."])
async def test_a_folder_under_a_root_is_ingested(
    client: AsyncTestClient, services: FakeServices, root: Path, path: str
) -> None:
    response = await client.post("/api/v1/ingestions", json={"path": path or str(root)})
    assert response.status_code == 202
    job = response.json()
    assert response.headers["location"] == f"/api/v1/ingestions/{job['ingestion_id']}"
    state = await _ended(client, job["ingestion_id"])
    assert (state["status"], state["report"]["totals"]) == ("completed", {"indexed": 1, "failed": 1})
    assert state["progress"] == {"done": 2, "total": 2, "path": "2.md", "status": "indexed", "pages": 0}
    assert services.library.ingested[0] in (root, root / "reports")


@pytest.mark.parametrize("path", ["/etc/passwd", "/", "..", "../secret", "link", "link/x", "/proc/self", "~", "a\x00b"])
async def test_other_paths_are_refused_before_anything_is_read(
    client: AsyncTestClient, services: FakeServices, path: str
) -> None:
    response = await client.post("/ingestions", json={"path": path})
    assert response.status_code in ((404,) if path == "~" else (403,))
    assert services.library.ingested == []


async def test_a_missing_folder_is_404_and_an_unknown_field_422(client: AsyncTestClient) -> None:
    assert (await client.post("/ingestions", json={"path": "nothing"})).json()["code"] == "path_not_found"
    assert (await client.post("/ingestions", json={"path": "a" * 300})).status_code in (403, 404)
    assert (await client.post("/ingestions", json={"path": "reports", "force": True})).status_code == 422
    assert (await client.get("/ingestions/none")).status_code == 404


async def test_one_ingestion_at_a_time_and_its_events(client: AsyncTestClient, services: FakeServices) -> None:
    gate = threading.Event()
    services.library.gate = lambda: gate.wait(5) and None
    job = (await client.post("/ingestions", json={"path": "reports"})).json()
    second = await client.post("/ingestions", json={"path": "reports"})
    assert (second.status_code, second.json()["code"]) == (409, "ingestion_running")
    gate.set()
    text = (await client.get(f"/ingestions/{job['ingestion_id']}/events")).text
    assert text.rstrip().splitlines()[-2] == "event: final"
    last = [line for line in text.splitlines() if line.startswith("id: ")][-1][4:]
    again = await client.get(f"/ingestions/{job['ingestion_id']}/events", headers={"Last-Event-ID": last})
    assert again.status_code == 204


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (IndexBusy("Another process has it."), "Another process has it."),
        (ValueError("hunter2"), "Something went wrong"),
    ],
)
async def test_a_failed_ingestion_says_why_and_no_more(
    client: AsyncTestClient, services: FakeServices, error: Exception, message: str
) -> None:
    def fail() -> None:
        raise error

    services.library.gate = fail
    job = (await client.post("/ingestions", json={"path": "reports"})).json()
    state = await _ended(client, job["ingestion_id"])
    assert state["status"] == "failed"
    assert state["error"].startswith(message)
    assert "event: error" in (await client.get(f"/ingestions/{job['ingestion_id']}/events")).text


async def test_a_stopping_server_ends_an_ingestion_between_files(services: FakeServices) -> None:
    entered, gate = threading.Event(), threading.Event()

    def wait() -> None:
        entered.set()
        gate.wait(5)

    services.library.gate = wait
    app = create_app(services)
    async with AsyncTestClient(app, base_url="http://127.0.0.1:8765") as client:
        job = (await client.post("/ingestions", json={"path": "reports"})).json()
        assert await asyncio.to_thread(entered.wait, 5)
        stopping = asyncio.create_task(app.state.stop())
        await asyncio.sleep(0.05)
        gate.set()
        await stopping
        state = await _ended(client, job["ingestion_id"])
        assert (state["status"], state["progress"]) == ("failed", {})


async def test_only_the_holder_of_the_servers_token_may_ingest_outside_the_roots(tmp_path: Path) -> None:
    app = create_app(FakeServices(), owner_token="secret")
    (tmp_path / "a.md").write_text("# A\n", encoding="utf-8")
    body = {"path": str(tmp_path)}
    async with AsyncTestClient(app, base_url="http://127.0.0.1") as client:
        wrong = await client.post("/api/v1/ingestions", json=body, headers={"Authorization": "Bearer wrong"})
        none = await client.post("/api/v1/ingestions", json=body)
        right = await client.post("/api/v1/ingestions", json=body, headers={"Authorization": "Bearer secret"})
    assert [wrong.status_code, none.status_code, right.status_code] == [403, 403, 202]
