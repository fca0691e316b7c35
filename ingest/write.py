"""How do chunks get into the index? With vectors from the cache where it has them, embedded otherwise."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence

import numpy as np

from ingest.catalog import Catalog
from ingest.chunk import searchable_text
from ingest.embed.port import Embedder, Vectors
from ingest.index.bm25 import document_weights
from ingest.index.port import ChunkIndex
from ingest.types import Chunk, Document, IndexPoint

_BATCH = 200
"""Points in one upsert: more hold the interpreter for too long (Qdrant Edge, 500 points: 9 ms)."""
_EMBEDDED = 256
"""Texts embedded at once: their vectors are cached then, so that a crash costs no more than these."""


class ChunkWriter:
    """Writes chunks into the index. `embedded` and `written` count texts and points since it was made."""

    def __init__(self, catalog: Catalog, index: ChunkIndex, embedder: Embedder) -> None:
        self._catalog = catalog
        self._index = index
        self._embedder = embedder
        self._warm: dict[str, Vectors] = {}
        self.embedded = 0
        self.written = 0

    def warm(self, texts: Sequence[str]) -> None:
        """Embed together what will be written next, and keep it until the next call."""
        keys = [self._key(text) for text in texts]
        known = self._catalog.cached_vectors(list(dict.fromkeys(keys)))
        self._warm = known | self._embed({key: text for key, text in zip(keys, texts, strict=True) if key not in known})

    def write(self, document: Document, chunks: Sequence[Chunk]) -> None:
        """Write the points of these chunks; nothing is removed, and nothing is flushed."""
        for start in range(0, len(chunks), _BATCH):
            part = chunks[start : start + _BATCH]
            texts = [searchable_text(chunk, document.title) for chunk in part]
            points = [
                IndexPoint(chunk.id, document.id, document.tenant, vector.tolist(), document_weights(text))
                for chunk, text, vector in zip(part, texts, self._vectors(texts), strict=True)
            ]
            self._index.upsert(points)
            self.written += len(points)

    def delete(self, chunk_ids: Collection[str]) -> None:
        """Remove points."""
        if chunk_ids:
            self._index.delete(chunk_ids)

    def flush(self) -> None:
        """Make everything written survive a crash."""
        self._index.flush()

    def reconcile(self, *, thorough: bool = False) -> None:
        """Make the index hold exactly the catalog's chunks, after a crash or a lost index.

        Equal counts are taken for equal contents, as an interrupted ingestion leaves none, unless it is `thorough`.
        """
        if not thorough and self._index.count() == self._catalog.count()[1]:
            return
        held, wanted = self._index.ids(), self._catalog.chunk_ids()
        self.delete(held - wanted)
        missing = sorted(wanted - held)
        for start in range(0, len(missing), _BATCH):
            by_document: dict[str, tuple[Document, list[Chunk]]] = {}
            for chunk, document in self._catalog.chunks(missing[start : start + _BATCH]).values():
                by_document.setdefault(document.id, (document, []))[1].append(chunk)
            for document, chunks in by_document.values():
                self.write(document, chunks)
        self.flush()

    def _vectors(self, texts: Sequence[str]) -> list[Vectors]:
        keys = [self._key(text) for text in texts]
        known = {key: self._warm[key] for key in keys if key in self._warm}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if missing:
            known |= self._catalog.cached_vectors(list(missing))
            known |= self._embed({key: text for key, text in missing.items() if key not in known})
        return [known[key] for key in keys]

    def _embed(self, texts: dict[str, str]) -> dict[str, Vectors]:
        """Embed texts and cache their vectors, by key."""
        new: dict[str, Vectors] = {}
        keys = list(texts)
        for start in range(0, len(keys), _EMBEDDED):
            part = keys[start : start + _EMBEDDED]
            made = self._embedder.embed_passages([texts[key] for key in part])
            fresh = {key: np.asarray(vector, dtype=np.float32) for key, vector in zip(part, made, strict=True)}
            self._catalog.cache_vectors(fresh)
            self.embedded += len(part)
            new |= fresh
        return new

    def _key(self, text: str) -> str:
        return hashlib.sha256(f"{self._embedder.name}\0{text}".encode()).hexdigest()
