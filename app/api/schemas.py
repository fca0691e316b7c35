"""What does a client send and get, beyond what `app.runs.requests` says of runs?"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from litestar.openapi.datastructures import ResponseSpec
from pydantic import BaseModel, ConfigDict, Field


class IngestionRequest(BaseModel):
    """A folder or file to make searchable: absolute, or relative to one of the allowed roots."""

    model_config = ConfigDict(extra="forbid")

    path: str = Field(min_length=1, max_length=4096)


class Problem(BaseModel):
    """An error (RFC 9457). Some codes add fields: `errors`, `index`, `stored`."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    code: str


def problems(*statuses: int) -> dict[int, ResponseSpec]:
    """Return what the OpenAPI document says of these errors."""
    return {
        status: ResponseSpec(
            data_container=Problem,
            media_type="application/problem+json",
            description=HTTPStatus(status).phrase,
            generate_examples=False,
        )
        for status in statuses
    }


def listing(items: list[dict[str, Any]], total: int, limit: int, offset: int) -> dict[str, Any]:
    """Return a page of a list; `next` is the offset of the following page, None at the end."""
    following = offset + limit
    return {"items": items, "total": total, "next": following if following < total else None}
