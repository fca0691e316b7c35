"""How are the parts put together? The only place that knows which adapter stands behind which port."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from app.agent.graph import build
from app.core.budget import Limits
from app.llm.extractive import ExtractiveRoles
from app.llm.model_roles import ModelRoles
from app.llm.openai_chat import OpenAIChat
from app.ports import Roles, SentenceScorer
from app.retrieval.cross_encoder import CrossEncoderReranker
from app.retrieval.rerank import LateInteractionReranker, Reranker
from app.retrieval.search import RetrievalOptions, Retriever
from app.runs.checkpoints import open_checkpoints
from app.runs.driver import Driver
from app.runs.service import RunService, process_alive
from app.runs.source import CatalogSource
from app.runs.store import RunStore
from app.runs.stream import Stream
from app.settings import Settings
from ingest.catalog import Catalog
from ingest.chunk import TARGET_TOKENS, Cut, structure
from ingest.embed.export import ensure_default_model
from ingest.embed.hashing import HashingEmbedder
from ingest.embed.openvino import OpenVinoEmbedder
from ingest.embed.openvino_export import ensure_openvino_model
from ingest.embed.port import Embedder, Vectors
from ingest.embed.sentence_transformers import SentenceTransformerEmbedder
from ingest.index.edge import EdgeIndex
from ingest.index.lock import FolderLock
from ingest.index.port import ChunkIndex
from ingest.index.server import ServerIndex
from ingest.library import Library
from ingest.settings import IngestSettings

__all__ = [
    "Services",
    "close_services",
    "open_library",
    "open_services",
    "process_alive",
    "put_index_back",
    "remove_old_indexes",
    "server_file",
    "set_index_aside",
]

LOW_MEMORY_BYTES = 4 * 1024**3
CONCURRENCY = 3
DEFAULT_EMBEDDER = "multilingual-e5-small"


@dataclass(frozen=True, slots=True)
class Services:
    """What every surface works with."""

    settings: Settings
    library: Library
    retriever: Retriever
    runs: RunService
    store: RunStore
    checkpoints: AsyncSqliteSaver
    chat: OpenAIChat | None = None


SENTENCE_CACHE = 4000
"""Sentence vectors that are kept: 1.5 kB each. The same sentences come back in every step of a run."""


class EmbeddingScorer:
    """Nearness of sentences by the embedding model, passage against passage."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._cache: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def scores(self, text: str, sentences: Sequence[str]) -> list[float]:
        """Return the cosine of each sentence with `text`."""
        if not sentences:
            return []
        vectors = self._vectors([text, *sentences])
        return [float(vectors[sentence] @ vectors[text]) for sentence in sentences]

    def _vectors(self, texts: Sequence[str]) -> dict[str, Vectors]:
        with self._lock:
            held = {text: self._cache[text] for text in texts if text in self._cache}
        fresh = [text for text in dict.fromkeys(texts) if text not in held]
        made = dict(zip(fresh, self._embedder.embed_passages(fresh), strict=True)) if fresh else {}
        with self._lock:
            self._cache.update(made)
            while len(self._cache) > SENTENCE_CACHE:
                self._cache.popitem(last=False)
        return held | made


def server_file(home: Path) -> Path:
    """Return where a running server says how to reach it."""
    return home / "server.json"


def open_library(
    settings: Settings, embedder: Embedder | None = None, chunk_tokens: int = TARGET_TOKENS, cut: Cut = structure
) -> Library:
    """Open catalog and index; the model is loaded when it is first used. Raises IndexBusy, IndexMismatch."""
    settings.home.mkdir(parents=True, exist_ok=True, mode=0o700)
    options = IngestSettings(
        home=settings.home, embedder=settings.embedder, qdrant_url=settings.qdrant_url,
        qdrant_api_key=None if settings.qdrant_api_key is None else settings.qdrant_api_key.get_secret_value(),
        max_bytes=settings.max_file_mb * 1024 * 1024, read_timeout=settings.read_timeout, cut=cut,
        chunk_tokens=chunk_tokens, ocr=settings.ocr,
    )  # fmt: skip
    model = embedder or open_embedder(settings, options)
    return Library(options, Catalog(options.catalog_path), _index(options, model), model)


def set_index_aside(settings: Settings) -> Path | None:
    """Move the embedded index away, so that the next opening makes a new one. Raises IndexBusy if it is in use."""
    folder = settings.home / "index"
    if settings.qdrant_url is not None or not folder.exists():
        return None
    FolderLock(folder).release()
    aside = settings.home / f"index.old-{uuid.uuid4().hex}"
    folder.rename(aside)
    return aside


def put_index_back(settings: Settings, aside: Path) -> None:
    """Undo `set_index_aside`: what was half made in its place goes."""
    folder = settings.home / "index"
    shutil.rmtree(folder, ignore_errors=True)
    aside.rename(folder)


def remove_old_indexes(settings: Settings) -> None:
    """Remove what was set aside, also by a rebuild that was killed."""
    for aside in settings.home.glob("index.old-*"):
        shutil.rmtree(aside, ignore_errors=True)


def open_embedder(settings: Settings, options: IngestSettings) -> Embedder:
    """Return the embedding model that the settings name; a packaged one is converted first, once."""
    if settings.embedder == "hashing":
        return HashingEmbedder()
    if settings.embedder == DEFAULT_EMBEDDER:
        folder = ensure_openvino_model(options.models_path)
        if folder is not None:
            return OpenVinoEmbedder(folder, DEFAULT_EMBEDDER)
        return SentenceTransformerEmbedder(ensure_default_model(options.models_path), name=DEFAULT_EMBEDDER)
    return SentenceTransformerEmbedder(settings.embedder, name=settings.embedder)


def _reranker(settings: Settings, embedder: Embedder) -> Reranker:
    if settings.reranker == "late-interaction":
        return LateInteractionReranker(embedder)
    return CrossEncoderReranker(settings.reranker)


def _index(options: IngestSettings, model: Embedder) -> ChunkIndex:
    if options.qdrant_url is not None:
        return ServerIndex(options.qdrant_url, "citedrag", model.name, model.dimension, api_key=options.qdrant_api_key)
    return EdgeIndex.open(options.index_path, model=model.name, dimension=model.dimension)


async def open_services(
    settings: Settings,
    library: Library | None = None,
    roles: Callable[[], Roles] | None = None,
    scorer: SentenceScorer | None = None,
    retrieval: RetrievalOptions | None = None,
    limits: Limits | None = None,
) -> Services:
    """Open everything; what is handed in is used as it is. Raises what `open_library` raises."""
    if library is None:
        library = await asyncio.to_thread(open_library, settings)
    if settings.qdrant_url is None:  # answers from half an index would be refusals that lie
        await asyncio.to_thread(library.repair)
    retriever = Retriever(library, _reranker(settings, library.embedder), retrieval)
    scorer = scorer or EmbeddingScorer(library.embedder)
    store = RunStore(settings.home / "runs.db")
    stream = Stream(store)
    checkpoints = await open_checkpoints(settings.home / "checkpoints.db")
    chat = _chat(settings) if roles is None else None
    driver = Driver(
        store=store, stream=stream, graph=build(checkpoints), library=library, retriever=retriever, scorer=scorer,
        source=CatalogSource(library), roles=roles or _roles(chat, scorer), limits=limits or Limits(),
        researchers=asyncio.Semaphore(concurrency(settings)), refusals=_refusals(settings),
    )  # fmt: skip
    runs = RunService(store, driver, stream, build)
    await runs.open()
    return Services(settings, library, retriever, runs, store, checkpoints, chat)


async def close_services(services: Services) -> None:
    """Interrupt what runs, and close every file."""
    await services.runs.close()
    if services.chat is not None:
        await services.chat.aclose()
    await services.checkpoints.conn.close()
    services.store.close()
    services.library.close()


def _chat(settings: Settings) -> OpenAIChat | None:
    """Return the model, None if there is no key. Key and endpoint are those of now: a resumed run uses no old ones."""
    key = settings.openai_api_key
    if key is None:
        return None
    return OpenAIChat(
        model=settings.model, api_key=key.get_secret_value(), base_url=settings.openai_base_url,
        timeout=settings.model_timeout,
    )  # fmt: skip


def _roles(chat: OpenAIChat | None, scorer: SentenceScorer) -> Callable[[], Roles]:
    roles: Roles = ExtractiveRoles(scorer) if chat is None else ModelRoles(chat)
    return lambda: roles


def _refusals(settings: Settings) -> Mapping[str, str]:
    given = {"en": settings.refusal_en, "zh": settings.refusal_zh}
    return {language: text for language, text in given.items() if text}


def concurrency(settings: Settings) -> int:
    """Return how many research tasks may search at a time: 3, or 1 where less than 4 GiB is left."""
    if settings.research_concurrency is not None:
        return settings.research_concurrency
    free = available_memory()
    return 1 if free is not None and free < LOW_MEMORY_BYTES else CONCURRENCY


def available_memory() -> int | None:
    """Return the bytes this process may still take: the machine's, or what its control group allows if less."""
    found = [value for value in (_meminfo(), _cgroup_limit()) if value is not None]
    return min(found) if found else None


def _meminfo() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def _cgroup_limit() -> int | None:
    try:
        text = Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii").strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
