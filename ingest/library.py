"""How is a corpus opened, filled and looked at? One object for the command line, the service and the tests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from ingest.catalog import SEARCHABLE, Catalog
from ingest.embed.port import Embedder
from ingest.index.port import ChunkIndex
from ingest.pipeline import Progress, ingest, remove_document
from ingest.read import sandbox
from ingest.settings import IngestSettings
from ingest.types import Chunk, Document, FileStatus, IngestReport, Page, Word
from ingest.write import ChunkWriter


class Library:
    """The catalog, the index and the embedder together. Safe to use from several threads; writes are serialised."""

    def __init__(self, settings: IngestSettings, catalog: Catalog, index: ChunkIndex, embedder: Embedder) -> None:
        self.settings = settings
        self.catalog = catalog
        self.index = index
        self.embedder = embedder
        self._writer = ChunkWriter(catalog, index, embedder)
        self._writing = threading.Lock()

    def ingest(self, paths: Sequence[Path], progress: Callable[[Progress], None] = lambda _: None) -> IngestReport:
        """Make files searchable; see `pipeline.ingest`."""
        with self._writing:
            return ingest(paths, self.settings, self.catalog, self._writer, progress)

    def repair(self) -> int:
        """Give the index back what it lost: wholly, or in an ingestion that was killed; return what was written.

        Costs two counts where nothing was lost. Vectors come from the cache, so nothing is embedded.
        """
        with self._writing:
            before = self._writer.written
            self._writer.reconcile(thorough=self.settings.unfinished_path.exists())
            return self._writer.written - before

    def reindex(self) -> int:
        """Make the index hold exactly the catalog's chunks; return how many points were written."""
        with self._writing:
            before = self._writer.written
            self._writer.reconcile(thorough=True)
            return self._writer.written - before

    def remove(self, document_id: str) -> bool:
        """Take a document out of the corpus; False if there is none."""
        document = self.catalog.document(document_id)
        if document is None or document.status == FileStatus.REMOVED:
            return False
        stat = self.catalog.known(document.root)[document.path][1]
        with self._writing:
            remove_document(document, stat, self.catalog, self._writer)
        return True

    def documents(self, limit: int = 50, offset: int = 0) -> tuple[list[Document], int]:
        """Return a page of the documents and how many there are."""
        return self.catalog.documents(limit, offset)

    def document(self, document_id: str) -> Document | None:
        """Return a document that is in the corpus."""
        document = self.catalog.document(document_id)
        return None if document is None or document.status == FileStatus.REMOVED else document

    def text(self, document_id: str) -> str | None:
        """Return a document's stored text."""
        return self.catalog.text(document_id)

    def pages(self, document_id: str) -> list[Page]:
        """Return a document's pages."""
        return self.catalog.pages(document_id)

    def ocr_words(self, document_id: str, page_number: int) -> tuple[Word, ...]:
        """Return the words of a page that OCR read, with their boxes."""
        return self.catalog.ocr_words(document_id, page_number)

    def chunks(
        self, ids: Sequence[str], document_ids: Collection[str] | None = None
    ) -> dict[str, tuple[Chunk, Document]]:
        """Return the live chunks among `ids`, of searchable documents, optionally of these documents alone."""
        found = self.catalog.chunks(ids)
        return {
            key: (chunk, document)
            for key, (chunk, document) in found.items()
            if document.status in SEARCHABLE and (document_ids is None or document.id in document_ids)
        }

    def stats(self) -> dict[str, int]:
        """Return how many documents and chunks can be searched."""
        documents, chunks = self.catalog.count()
        return {"documents": documents, "chunks": chunks}

    def close(self) -> None:
        """Release the index and the catalog."""
        try:
            self.index.close()
        finally:
            self.catalog.close()
            sandbox.close()
