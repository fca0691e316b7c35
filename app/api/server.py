"""How is the application run, and how does it end without cutting anybody off?"""

from __future__ import annotations

import socket

import uvicorn
from litestar import Litestar

GRACE = 5
"""Seconds that open requests have once the server was told to stop."""


class Server(uvicorn.Server):
    """A server that ends live runs before it waits for connections: their streams then end with an event."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell the application first, then close."""
        app = self.config.app
        if isinstance(app, Litestar):
            await app.state.stop()
        await super().shutdown(sockets)


def make_server(app: Litestar, host: str, port: int) -> Server:
    """Return a server for one process; the caller runs it."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        lifespan="on",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=30,
        h11_max_incomplete_event_size=64 * 1024,
    )
    return Server(config)
