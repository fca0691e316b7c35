"""Who is let in: host names, origins, body types and bodies that never come (PITFALLS H1, H2, H15)."""

from __future__ import annotations

import asyncio

import pytest
from litestar.testing import AsyncTestClient

from app.api.application import create_app
from app.api.auth import split_host, timed_body
from app.api.errors import ApiError
from app.settings import Settings
from tests.api.fakes import FakeServices

OWN = "127.0.0.1:8765"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.0.0.1:8765", "LOCALHOST:1", "localhost.", "localhost.:8765", "[::1]", "[::1]:8765"],
)
async def test_loopback_names_are_answered(client: AsyncTestClient, host: str) -> None:
    assert (await client.get("/runs", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "localhost.evil.example", "127.0.0.1.evil.example", "10.0.0.1",
     "user@localhost", "localhost:x", "", "[::1", "0.0.0.0", "testserver.local"],
)  # fmt: skip
async def test_other_names_are_refused(client: AsyncTestClient, host: str) -> None:
    for path in ("/", "/health", "/runs"):
        response = await client.get(path, headers={"Host": host, "X-Forwarded-Host": "localhost"})
        assert (response.status_code, response.json()["code"]) == (421, "host_not_allowed")


async def test_configured_names_are_answered() -> None:
    services = FakeServices(settings=Settings(_env_file=None, host="box.lan"))
    async with AsyncTestClient(create_app(services, hosts=["testserver.local"])) as client:
        assert (await client.get("/health")).status_code == 200
        assert (await client.get("/health", headers={"Host": "Box.LAN:80"})).status_code == 200


async def test_a_wildcard_address_answers_to_addresses_but_to_no_names() -> None:
    services = FakeServices(settings=Settings(_env_file=None, host="0.0.0.0"))
    async with AsyncTestClient(create_app(services), base_url=f"http://{OWN}") as client:
        assert (await client.get("/health", headers={"Host": "192.168.1.5:8765"})).status_code == 200
        assert (await client.get("/health", headers={"Host": "evil.example"})).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"Origin": "https://evil.example"}, id="another site"),
        pytest.param({"Origin": "null"}, id="sandboxed frame"),
        pytest.param({"Origin": "http://127.0.0.1:9999"}, id="another port"),
        pytest.param({"Origin": "http://localhost:8765"}, id="another name of this machine"),
        pytest.param({"Origin": f"http://{OWN}.evil.example"}, id="prefix"),
        pytest.param({"Sec-Fetch-Site": "cross-site"}, id="cross-site"),
        pytest.param({"Sec-Fetch-Site": "same-site"}, id="same-site"),
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/runs"), ("POST", "/api/v1/runs/r/approval"), ("POST", "/runs/r/cancel"), ("DELETE", "/documents/d1"),
     ("POST", "/ingestions")],
)  # fmt: skip
async def test_no_change_is_made_for_a_foreign_page(
    client: AsyncTestClient, services: FakeServices, headers: dict[str, str], method: str, path: str
) -> None:
    response = await client.request(method, path, json={"question": "x"}, headers=headers)
    assert (response.status_code, response.json()["code"]) == (403, "cross_site")
    assert services.runs.requests == []
    assert "d1" in services.library.all


@pytest.mark.parametrize("origin", [f"http://{OWN}", "http://127.0.0.1:8765"])
async def test_the_own_page_may_change(client: AsyncTestClient, origin: str) -> None:
    headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    assert (await client.post("/runs", json={"question": "x"}, headers=headers)).status_code == 201


@pytest.mark.parametrize(
    "media_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "text/json"],
)
async def test_only_json_is_taken(client: AsyncTestClient, services: FakeServices, media_type: str) -> None:
    response = await client.post("/runs", content=b'{"question":"x"}', headers={"Content-Type": media_type})
    assert response.status_code == 415
    assert response.headers["content-type"] == "application/problem+json"
    assert services.runs.requests == []


async def test_a_body_without_a_type_is_refused_and_parameters_of_the_type_are_not(client: AsyncTestClient) -> None:
    assert (await client.post("/runs", content=b'{"question":"x"}')).status_code == 415
    headers = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert (await client.post("/runs", content=b'{"question":"x"}', headers=headers)).status_code == 201


async def test_a_body_that_never_comes_times_out() -> None:
    async def receive() -> dict[str, object]:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b"x", "more_body": True}

    timed = timed_body(receive, 0.1)

    async def drain() -> None:
        for _ in range(100):
            await timed()

    with pytest.raises(ApiError) as caught:
        await drain()
    assert caught.value.status == 408


def test_hosts_are_split() -> None:
    assert split_host("[::1]:80") == ("::1", "80")
    assert split_host("A.B.") == ("a.b", "")
    assert split_host("a:b:c") == ("", "")
