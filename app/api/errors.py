"""What does a client see when something goes wrong? One problem document, made in one place."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException, ValidationException
from litestar.status_codes import HTTP_500_INTERNAL_SERVER_ERROR

from app.api.responses import dumps
from app.errors import Conflict, InvalidPlan, RunNotFound
from ingest.errors import IndexBusy

_logger = logging.getLogger(__name__)


class ApiError(Exception):
    """An error that a route finds itself: status, machine code, a sentence, and more fields if need be."""

    def __init__(self, status: int, code: str, detail: str, **fields: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.fields = fields


def problem(status: int, code: str, detail: str, **fields: Any) -> Response[bytes]:
    """Return a problem document."""
    body = {
        "type": f"urn:citedrag:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        **fields,
    }
    return Response(
        dumps(body).encode("ascii"),
        status_code=status,
        media_type="application/problem+json",
        headers={"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"},
    )


def to_response(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """Return the problem document of any exception; what is not foreseen tells nothing of the inside."""
    known = _known(error)
    if known is not None:
        return problem(known.status, known.code, known.detail, **known.fields)
    _logger.error("%s %s failed", request.method, request.scope.get("path_template", ""), exc_info=error)
    return problem(HTTP_500_INTERNAL_SERVER_ERROR, "internal", "Something went wrong on the server; see its log.")


def _known(error: Exception) -> ApiError | None:
    if isinstance(error, ApiError):
        return error
    if isinstance(error, RunNotFound):
        return ApiError(404, "run_not_found", "There is no such run.")
    if isinstance(error, Conflict):
        return ApiError(409, error.code, error.detail, stored=error.stored)
    if isinstance(error, InvalidPlan):
        return ApiError(422, "invalid_plan", str(error), index=error.index)
    return _of_server(error)


def _of_server(error: Exception) -> ApiError | None:
    if isinstance(error, IndexBusy):
        return ApiError(503, "index_busy", "Another process has the index open.")
    if isinstance(error, RecursionError):
        return ApiError(400, "nested_too_deeply", "The request body is nested too deeply.")
    if isinstance(error, ValidationException):
        return ApiError(422, "invalid_request", "The request is not valid.", errors=_details(error.extra))
    if isinstance(error, HTTPException) and error.status_code < HTTP_500_INTERNAL_SERVER_ERROR:
        return _of_framework(error)
    return None


def _details(extra: Any) -> list[dict[str, str]]:
    if not isinstance(extra, list):
        return []
    return [
        {"field": str(item.get("key", "")), "message": str(item.get("message", ""))}
        for item in extra
        if isinstance(item, dict)
    ]


def _of_framework(error: HTTPException) -> ApiError:
    codes = {
        400: "bad_request",
        404: "not_found",
        405: "method_not_allowed",
        413: "too_large",
        415: "media_type",
    }
    details = {400: "The request is malformed: its body must be JSON in UTF-8.", 404: "There is nothing here."}
    status = error.status_code
    return ApiError(status, codes.get(status, "bad_request"), details.get(status, HTTPStatus(status).phrase + "."))
