"""Health, readiness, metrics, meta, the OpenAPI document and the page."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from litestar.testing import AsyncTestClient

from app.api.application import create_app
from app.api.page import POLICY
from tests.api.fakes import FakeServices

WEB = Path(__file__).parents[2] / "app" / "web"
PATHS = {
    "/api/v1/runs": {"get", "post"},
    "/api/v1/runs/{run_id}": {"get"},
    "/api/v1/runs/{run_id}/events": {"get"},
    "/api/v1/runs/{run_id}/approval": {"post"},
    "/api/v1/runs/{run_id}/resume": {"post"},
    "/api/v1/runs/{run_id}/cancel": {"post"},
    "/api/v1/runs/{run_id}/trace": {"get"},
    "/api/v1/runs/{run_id}/evidence": {"get"},
    "/api/v1/runs/{run_id}/bundle": {"get"},
    "/api/v1/runs/{run_id}/verify": {"get"},
    "/api/v1/graph": {"get"},
    "/api/v1/search": {"get"},
    "/api/v1/documents": {"get"},
    "/api/v1/documents/{document_id}": {"get", "delete"},
    "/api/v1/documents/{document_id}/text": {"get"},
    "/api/v1/ingestions": {"post"},
    "/api/v1/ingestions/{ingestion_id}": {"get"},
    "/api/v1/ingestions/{ingestion_id}/events": {"get"},
    "/api/v1/meta": {"get"},
    "/health": {"get"},
    "/ready": {"get"},
    "/metrics": {"get"},
}


async def test_health_and_readiness(client: AsyncTestClient) -> None:
    assert (await client.get("/health")).json() == {"status": "ok"}
    ready = await client.get("/ready")
    assert ready.status_code == 200
    assert ready.json()["corpus"] == {"documents": 3, "chunks": 7}
    assert ready.json()["models"]["embedder"] == "multilingual-e5-small"


async def test_a_stopping_server_is_not_ready_and_starts_nothing(services: FakeServices) -> None:
    closed = []

    async def on_close() -> None:
        closed.append(services.runs.closed)

    app = create_app(services, on_close)
    async with AsyncTestClient(app, base_url="http://127.0.0.1:8765") as client:
        await app.state.stop()
        assert (await client.get("/ready")).status_code == 503
        response = await client.post("/runs", json={"question": "x"})
        assert (response.status_code, response.json()["code"]) == (503, "stopping")
    assert closed == [2]


async def test_metrics_are_lines_that_prometheus_reads(client: AsyncTestClient) -> None:
    await client.get("/nothing")
    await client.get("/health")
    response = await client.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain")
    line = re.compile(r'^(# (HELP|TYPE) .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? \d+)$')
    assert all(line.match(text) for text in response.text.splitlines())
    assert 'citedrag_http_requests_total{method="GET",status="200"}' in response.text
    assert "citedrag_streams_open 0" in response.text


async def test_meta(client: AsyncTestClient) -> None:
    found = (await client.get("/meta")).json()
    assert found["limits"]["question_characters"] == 4000
    assert found["limits"]["budgets"]["searches"] == {"minimum": 1, "maximum": 100}
    assert {"plan_rejected", "answer_incomplete", "plan_truncated"} <= {*found["warnings"]}
    assert found["versions"]["litestar"]


async def test_the_openapi_document_lists_every_route_once(client: AsyncTestClient) -> None:
    for path in ("/schema", "/schema/openapi.json"):
        document = (await client.get(path)).json()
        assert {path: set(item) for path, item in document["paths"].items()} == PATHS
    operations = [item["operationId"] for paths in document["paths"].values() for item in paths.values()]
    assert len(operations) == len(set(operations))
    assert {"RunRequest", "ApprovalRequest", "IngestionRequest"} <= set(document["components"]["schemas"])
    assert set(document["paths"]["/api/v1/runs"]["post"]["responses"]) >= {"200", "201", "422"}


@pytest.mark.parametrize(("path", "methods"), PATHS.items())
async def test_every_documented_path_exists_also_without_the_prefix(
    client: AsyncTestClient, path: str, methods: set[str]
) -> None:
    for address in {path, path.removeprefix("/api/v1")}:
        for method in methods:
            response = await client.request(method, re.sub(r"\{\w+\}", "none", address))
            assert (response.status_code, response.json().get("code") if response.status_code == 404 else "") not in (
                (404, "not_found"),
                (405, "method_not_allowed"),
            )


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("PUT", "/runs", 405),
        ("GET", "/web/none.js", 404),
        ("GET", "/web/..%2Fsettings.py", 404),
    ],
)
async def test_wrong_addresses_are_problems(client: AsyncTestClient, method: str, path: str, status: int) -> None:
    response = await client.request(method, path)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["status"] == status


async def test_the_page_and_its_files_come_with_the_policy(client: AsyncTestClient) -> None:
    names = sorted(path.name for path in WEB.iterdir() if path.is_file())
    for path in ("/", *(f"/web/{name}" for name in names)):
        response = await client.get(path)
        assert response.status_code == 200
        assert response.headers["content-security-policy"] == POLICY
        assert response.headers["x-content-type-options"] == "nosniff"
    assert POLICY.startswith("default-src 'self'; img-src 'self' data:")


class _Inline(HTMLParser):
    """Collects what the policy would block: inline scripts, styles and handlers, and foreign addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "style" or (tag == "script" and not values.get("src")):
            self.found.append(tag)
        for name, value in values.items():
            if name == "style" or name.startswith("on") or (name in ("src", "href") and "//" in (value or "")):
                self.found.append(f"{tag} {name}")


def test_the_page_needs_nothing_that_the_policy_forbids() -> None:
    parser = _Inline()
    parser.feed((WEB / "index.html").read_text(encoding="utf-8"))
    assert parser.found == []
    for script in WEB.glob("*.js"):
        code = script.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|\.style\b|https?://", code)


def test_every_word_of_the_page_is_there_in_both_languages() -> None:
    words = (WEB / "text.js").read_text(encoding="utf-8")
    english, chinese = words.split("\n  zh: {")
    keys = re.findall(r"(?<![\w.$])(\w+): (?=[\"({])", english.split("\n  en: {")[1])
    assert keys
    missing = [key for key in keys if not re.search(rf"\b{key}: ", chinese)]
    assert missing == []
    used = re.findall(r'data-text="(\w+)"', (WEB / "index.html").read_text(encoding="utf-8"))
    assert set(used) <= set(keys)
