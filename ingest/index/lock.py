"""How is a folder kept for one process? By a lock that the system releases when the process ends, however it ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO

from ingest.errors import IndexBusy


class FolderLock:
    """An exclusive lock on a folder. Raises IndexBusy if another process, or another opening here, holds it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file: IO[str] | None = (folder / "lock").open("a+", encoding="ascii")
        try:
            _lock(self._file)
        except OSError as error:
            self._file.close()
            raise IndexBusy(
                "The index is open in another process: stop that process, or let the running server do the work "
                "(`citedrag serve`), or set CITEDRAG_QDRANT_URL."
            ) from error
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()

    def release(self) -> None:
        """Give the folder free; a second call does nothing."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _lock(file: IO[str]) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
