"""How is an SQLite file opened?"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy import Engine, MetaData, create_engine, event
from sqlalchemy.exc import DatabaseError

from ingest.errors import IngestError

BUSY_TIMEOUT_MS = 30_000


def open_database(path: Path, metadata: MetaData, version: int) -> Engine:
    """Open or create the file with the tables of `metadata`; WAL, foreign keys, and readable by its owner alone.

    Raises IngestError if the file is damaged or was written by a newer version.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.touch(mode=0o600, exist_ok=True)
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": BUSY_TIMEOUT_MS / 1000})
    event.listen(engine, "connect", _prepare)
    try:
        with engine.begin() as connection:
            found = int(connection.exec_driver_sql("PRAGMA user_version").scalar_one())
            if found > version:
                raise IngestError(f"{path.name} was written by a newer version of citedrag: upgrade citedrag.")
            metadata.create_all(connection)
            connection.exec_driver_sql(f"PRAGMA user_version={version}")
    except DatabaseError as error:
        raise IngestError(
            f"{path} cannot be opened ({error.orig}): restore it, or remove it and ingest again."
        ) from error
    return engine


def _prepare(connection: sqlite3.Connection, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in (
        "journal_mode=WAL",
        "synchronous=NORMAL",
        "foreign_keys=ON",
        f"busy_timeout={BUSY_TIMEOUT_MS}",
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()
