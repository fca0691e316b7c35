"""How are checkpoints opened? SQLite in WAL, and a serializer that builds plain types only."""

from __future__ import annotations

import os
from pathlib import Path

import aiosqlite
from langgraph.checkpoint.serde import _msgpack
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from app.errors import NotConfigured

BUSY_TIMEOUT_MS = 30_000


async def open_checkpoints(path: Path) -> AsyncSqliteSaver:
    """Open the checkpoint file, made readable by its owner alone. Raises NotConfigured if strict mode is off."""
    if not _msgpack.STRICT_MSGPACK_ENABLED:
        raise NotConfigured("Set LANGGRAPH_STRICT_MSGPACK=true before the program is imported.")
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = await aiosqlite.connect(path)
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", f"busy_timeout={BUSY_TIMEOUT_MS}"):
        await connection.execute(f"PRAGMA {pragma}")
    saver = AsyncSqliteSaver(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    await saver.setup()
    return saver
