from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from litestar.testing import AsyncTestClient

from app.api.application import create_app
from tests.api.fakes import FakeServices


@pytest.fixture
def services() -> FakeServices:
    return FakeServices()


@pytest.fixture
async def client(services: FakeServices) -> AsyncIterator[AsyncTestClient]:
    async with AsyncTestClient(create_app(services), base_url="http://127.0.0.1:8765") as client:
        yield client
