"""What can be set, and what is it when nobody sets it?"""

from __future__ import annotations

from pathlib import Path

from pydantic import AliasChoices, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Settings from the environment (`CITEDRAG_*`) or a `.env` file; no request can change the model endpoint."""

    model_config = SettingsConfigDict(env_prefix="CITEDRAG_", env_file=".env", extra="ignore", populate_by_name=True)

    home: Path = Field(Path(".citedrag"), description="Everything the program writes.")
    embedder: str = Field("multilingual-e5-small", description="Embedding model: the packaged one, or any by name.")
    reranker: str = Field("late-interaction", description="Reranker: the built-in one, or a CrossEncoder by name.")
    qdrant_url: str | None = Field(None, description="A Qdrant server, instead of the embedded engine.")
    qdrant_api_key: SecretStr | None = Field(None, description="Key of that server.")
    ingest_roots: list[Path] = Field(default_factory=list, description="Folders that HTTP may ingest.")
    max_file_mb: int = Field(200, ge=1, description="A larger file is reported as too_large.")
    read_timeout: float = Field(120.0, gt=0, description="Seconds that reading one file may take.")
    ocr: str = Field("", description="Read scans by Tesseract: `on`, or languages such as eng+chi_sim.")
    openai_api_key: SecretStr | None = Field(
        None, validation_alias=AliasChoices("CITEDRAG_OPENAI_API_KEY", "OPENAI_API_KEY"), description="Key."
    )
    openai_base_url: str | None = Field(
        None, validation_alias=AliasChoices("CITEDRAG_OPENAI_BASE_URL", "OPENAI_BASE_URL"), description="Endpoint."
    )
    model: str = Field("gpt-5-mini", description="Name of the chat model at the endpoint.")
    model_timeout: float = Field(120.0, gt=0, description="Seconds that one model call may take.")
    research_concurrency: int | None = Field(None, ge=1, description="Research tasks at a time in the process.")
    host: str = Field("127.0.0.1", description="Where the server listens.")
    port: int = Field(8765, ge=0, le=65535, description="Port of the server.")
    refusal_en: str | None = Field(None, description="The refusal, in English.")
    refusal_zh: str | None = Field(None, description="The refusal, in Chinese.")

    @property
    def uses_model(self) -> bool:
        """Whether a chat model is configured; without one answers are extracts."""
        return self.openai_api_key is not None
