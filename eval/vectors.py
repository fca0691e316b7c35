"""How is a passage embedded only once, whatever corpus it is in? An embedder in front of another, with a file."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ingest.embed.port import Embedder, Vectors

_LOOKED_UP = 500
"""Keys in one query: SQLite takes up to 32,766 parameters, older builds 999."""


class CachedEmbedder:
    """Keeps passage vectors by model and text; everything else is passed on."""

    def __init__(self, inner: Embedder, path: Path) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(path, check_same_thread=False)
        self._file.execute("pragma journal_mode=wal")
        self._file.execute("create table if not exists vectors (key blob primary key, vector blob not null)")

    @property
    def name(self) -> str:
        """See `Embedder`."""
        return self._inner.name

    @property
    def dimension(self) -> int:
        """See `Embedder`."""
        return self._inner.dimension

    def embed_query(self, text: str) -> Vectors:
        """See `Embedder`."""
        return self._inner.embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`; only what is not in the file is embedded."""
        keys = [hashlib.sha256(f"{self.name}\0{text}".encode()).digest() for text in texts]
        known = self._read(keys)
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if fresh:
            made = self._inner.embed_passages(list(fresh.values()))
            new = {key: np.asarray(row, dtype=np.float32) for key, row in zip(fresh, made, strict=True)}
            self._write(new)
            known |= new
        if not keys:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([known[key] for key in keys])

    def query_tokens(self, text: str) -> Vectors:
        """See `Embedder`."""
        return self._inner.query_tokens(text)

    def passage_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        """See `Embedder`."""
        return self._inner.passage_tokens(texts)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        found: dict[bytes, Vectors] = {}
        for part in _parts(keys, _LOOKED_UP):
            marks = ",".join("?" * len(part))
            with self._lock:
                rows = self._file.execute(f"select key, vector from vectors where key in ({marks})", part).fetchall()
            found.update((key, np.frombuffer(vector, dtype=np.float32)) for key, vector in rows)
        return found

    def _write(self, vectors: dict[bytes, Vectors]) -> None:
        rows = [(key, vector.tobytes()) for key, vector in vectors.items()]
        with self._lock, self._file:
            self._file.executemany("insert or replace into vectors values (?, ?)", rows)


def _parts(keys: Sequence[bytes], size: int) -> list[Sequence[bytes]]:
    return [keys[start : start + size] for start in range(0, len(keys), size)]
