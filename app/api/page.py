"""How is the web page served? As packaged files, under a policy by which nothing foreign runs or loads."""

from __future__ import annotations

from importlib.resources import files

from litestar import Response, get

from app.api.errors import ApiError

POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def _load() -> dict[str, bytes]:
    folder = files("app").joinpath("web")
    return {item.name: item.read_bytes() for item in folder.iterdir() if item.name.rpartition(".")[2] in _TYPES}


_FILES = _load()


@get("/", sync_to_thread=False, include_in_schema=False)
def index() -> Response[bytes]:
    """Return the page."""
    return _file("index.html")


@get("/web/{name:str}", sync_to_thread=False, include_in_schema=False)
def asset(name: str) -> Response[bytes]:
    """Return a file of the page."""
    return _file(name)


def _file(name: str) -> Response[bytes]:
    content = _FILES.get(name)
    if content is None:
        raise ApiError(404, "not_found", "There is nothing here.")
    media_type = f"{_TYPES[name.rpartition('.')[2]]}; charset=utf-8"
    return Response(content, media_type=media_type, headers=_HEADERS)


ROUTES = (index, asset)
