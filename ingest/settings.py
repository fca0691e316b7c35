"""What does ingestion need to know?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ingest.chunk import TARGET_TOKENS, Cut, structure


@dataclass(frozen=True, slots=True)
class IngestSettings:
    """Where things are kept and how large and slow a file may be. `max_bytes` per file; `read_timeout` in seconds.

    `chunk_tokens` is the size at which a chunk is closed, in model tokens; `cut` is how a text is cut.
    `ocr` is off (empty), `on`, or the languages that Tesseract is to read, joined by `+`.
    """

    home: Path
    embedder: str = "multilingual-e5-small"
    qdrant_url: str | None = None
    qdrant_api_key: str | None = None
    max_bytes: int = 200 * 1024 * 1024
    read_timeout: float = 120.0
    tenant: str = "local"
    chunk_tokens: int = TARGET_TOKENS
    cut: Cut = structure
    ocr: str = ""

    @property
    def catalog_path(self) -> Path:
        """Return where the catalog is."""
        return self.home / "catalog.db"

    @property
    def index_path(self) -> Path:
        """Return where the embedded index is."""
        return self.home / "index"

    @property
    def models_path(self) -> Path:
        """Return where converted models are."""
        return self.home / "models"

    @property
    def unfinished_path(self) -> Path:
        """Return the mark of an ingestion that has not ended: index and catalog may differ while it stands."""
        return self.home / "ingesting"
