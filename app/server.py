"""How is the service started, found by the command line, and stopped?"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
from pathlib import Path

from app.api.application import create_app
from app.api.server import make_server
from app.errors import NotConfigured
from app.settings import Settings
from app.wiring import Services, close_services, open_services, server_file
from ingest.errors import IngestError

BACKLOG = 2048
"""Connections that may wait for the server, uvicorn's own number."""


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or Ctrl-C. Raises IndexBusy, or NotConfigured if the port is taken."""
    asyncio.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    listener = _listen(settings)
    try:
        services = await open_services(settings)
    except IngestError:
        listener.close()
        raise
    host, port = listener.getsockname()[:2]
    note = server_file(settings.home)
    token = secrets.token_urlsafe(24)

    async def close() -> None:
        # Not after serving: uvicorn then raises the signal again that stopped it, and the process is gone.
        note.unlink(missing_ok=True)
        await close_services(services)

    app = create_app(services, close, owner_token=token)
    server = make_server(app, host, port)
    listener.listen(BACKLOG)  # before it is announced: who reads the note at once is served, not refused
    _announce(note, services, f"http://{host}:{port}", token)
    try:
        await server.serve(sockets=[listener])
    finally:
        note.unlink(missing_ok=True)


def _listen(settings: Settings) -> socket.socket:
    """Take the port before anything slow is done, so that a taken one is said at once."""
    listener = socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        where = f"{settings.host}:{settings.port}"
        raise NotConfigured(f"{where} cannot be used: {error.strerror}. Try --port 0.") from error
    return listener


def _announce(note: Path, services: Services, url: str, token: str) -> None:
    """Write where the server is, for the command line of the same user alone."""
    content = {"url": url, "pid": os.getpid(), "token": token}
    temporary = note.with_suffix(".tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file)
    temporary.replace(note)
    found = services.library.stats()
    message = f"citedrag serves {found['documents']} documents on {url} (stop with Ctrl-C)"
    print(message, flush=True)  # noqa: T201  # the command's own output
