"""Who may call? Programs and pages of this machine, and no page of another site.

The service has no accounts: it listens on the loopback address. A web page elsewhere can still make a
browser send requests here, so the name by which the server is called, the origin of a change and the type
of its body are checked.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit

from litestar.datastructures import Headers
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Receive, ReceiveMessage, Scope, Send

from app.api.errors import ApiError

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_WILDCARD = frozenset({"0.0.0.0", "::", ""})
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_JSON = "application/json"


class Guard:
    """ASGI middleware that refuses foreign hosts and origins, and bodies that are not JSON or never come."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str], listening_on: str, body_timeout: float) -> None:
        self._app = app
        self._hosts = LOOPBACK | {host.lower() for host in hosts} | ({listening_on.lower()} - _WILDCARD)
        self._any_address = listening_on in _WILDCARD
        self._body_timeout = body_timeout

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then hand it on."""
        if scope["type"] == ScopeType.HTTP:
            headers = Headers.from_scope(scope)
            self._check_host(headers.get("host", ""))
            if scope.get("method", "GET") not in _READING:
                check_origin(headers)
                check_media_type(headers)
            receive = timed_body(receive, self._body_timeout)
        await self._app(scope, receive, send)

    def _check_host(self, value: str) -> None:
        host, _ = split_host(value)
        if host in self._hosts or (self._any_address and _is_address(host)):
            return
        raise ApiError(421, "host_not_allowed", "This server does not answer under that host name.")


def split_host(value: str) -> tuple[str, str]:
    """Return a Host header's name, lower-case, bare and without trailing dot, and its port, '' if none."""
    try:
        parts = urlsplit(f"//{value.strip()}")
        port = parts.port
    except ValueError:
        return "", ""
    if parts.username is not None or parts.path or parts.query or parts.fragment:
        return "", ""
    return (parts.hostname or "").removesuffix("."), "" if port is None else str(port)


def check_origin(headers: Headers) -> None:
    """Refuse a change that a page of another origin asked for."""
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        raise ApiError(403, "cross_site", "A page of another site may not change anything here.")
    origin = headers.get("origin")
    if origin is None:
        return
    scheme, _, place = origin.partition("://")
    standard = {"http": "80", "https": "443"}.get(scheme, "")
    name, port = split_host(place)
    own_name, own_port = split_host(headers.get("host", ""))
    if not name or name != own_name or (port or standard) != (own_port or standard):
        raise ApiError(403, "cross_site", "A page of another site may not change anything here.")


def check_media_type(headers: Headers) -> None:
    """Refuse a body that is not declared as JSON: a browser sends others across sites without asking."""
    declared = headers.get("content-type")
    empty = headers.get("content-length", "0") == "0" and "transfer-encoding" not in headers
    if declared is None and empty:
        return
    if (declared or "").split(";")[0].strip().lower() != _JSON:
        raise ApiError(415, "media_type", "Send the body as application/json.")


def timed_body(receive: Receive, seconds: float) -> Receive:
    """Wrap `receive` so that the whole body must come within `seconds`; a disconnect may take for ever."""
    deadline: float | None = None
    complete = False

    async def timed() -> ReceiveMessage:
        nonlocal deadline, complete
        if complete:
            return await receive()
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds if deadline is None else deadline
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            raise ApiError(408, "body_timeout", "The request body did not come in time.") from None
        complete = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    return timed


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
