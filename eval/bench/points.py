"""What does a synthetic library hold? Documents cut into chunks, in the real catalog and the real index."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eval.bench.corpus import Language, ZipfText
from ingest.catalog import Catalog
from ingest.chunk import NAMESPACE, searchable_text
from ingest.embed.port import Vectors
from ingest.index.bm25 import document_weights
from ingest.index.edge import EdgeIndex
from ingest.index.port import ChunkIndex
from ingest.types import Chunk, Document, FileStatus, IndexPoint, Page, Span

CHUNKS = 20
"""In a document; two of them make a page."""
WORDS = {"en": 115, "zh": 130}
"""Of a chunk: about 180 model tokens."""
CHINESE_EVERY = 3
NEAR = 0.6
"""How much of a vector is its topic: two of one topic have a cosine of about 0.7, two of different ones about 0."""
GAP = "\n\n"
MODEL = "synthetic"


@dataclass(frozen=True, slots=True)
class Points:
    """Chunks with the text that is searched and the vector of each, row by row."""

    chunks: tuple[Chunk, ...]
    texts: tuple[str, ...]
    vectors: Vectors
    documents: tuple[str, ...]


def near(vectors: Vectors, random: np.random.Generator, share: float = NEAR) -> Vectors:
    """Return unit vectors that are partly those given (unit vectors too) and partly noise of the same length."""
    noise = random.standard_normal(vectors.shape).astype(np.float32)
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    made = share * vectors + (1 - share) * noise
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def topical(count: int, dimension: int, random: np.random.Generator) -> Vectors:
    """Return unit vectors around as many topics as the root of their number."""
    topics = random.standard_normal((max(1, int(count**0.5)), dimension)).astype(np.float32)
    topics /= np.linalg.norm(topics, axis=1, keepdims=True)
    return near(topics[random.integers(0, len(topics), count)], random)


def fill(catalog: Catalog, index: ChunkIndex, count: int, dimension: int, seed: int) -> Points:
    """Write `count` chunks into an empty catalog and index, the same for the same seed."""
    vectors = topical(count, dimension, np.random.default_rng(seed))
    chunks: list[Chunk] = []
    texts: list[str] = []
    documents: list[str] = []
    for document, text, pages, own in _documents(count, seed):
        catalog.store(document, (len(text), 0, 0), text=text, pages=pages, chunks=own)
        searched = [searchable_text(chunk, document.title) for chunk in own]
        rows = vectors[len(chunks) : len(chunks) + len(own)]
        index.upsert(
            [
                IndexPoint(chunk.id, document.id, document.tenant, row.tolist(), document_weights(words))
                for chunk, words, row in zip(own, searched, rows, strict=True)
            ]
        )
        chunks += own
        texts += searched
        documents.append(document.id)
    index.flush()
    return Points(tuple(chunks), tuple(texts), vectors, tuple(documents))


def open_index(path: Path, dimension: int) -> EdgeIndex:
    """Open an embedded index for synthetic vectors."""
    return EdgeIndex.open(path, model=MODEL, dimension=dimension)


def _documents(count: int, seed: int) -> Iterator[tuple[Document, str, Sequence[Page], list[Chunk]]]:
    writers = {language: ZipfText(language, seed) for language in ("en", "zh")}
    for number, first in enumerate(range(0, count, CHUNKS)):
        language: Language = "zh" if number % CHINESE_EVERY == CHINESE_EVERY - 1 else "en"
        writer = writers[language]
        parts = [writer.paragraph(WORDS[language]) for _ in range(min(CHUNKS, count - first))]
        document = _document(number, writer.title(), language, (len(parts) + 1) // 2)
        chunks, start = [], 0
        for ordinal, part in enumerate(parts):
            chunks.append(_chunk(document.id, ordinal, start, part))
            start += len(part) + len(GAP)
        yield document, GAP.join(parts), _pages(chunks), chunks


def _document(number: int, title: str, language: Language, pages: int) -> Document:
    name = f"{number:06d}.pdf"
    return Document(
        id=str(uuid.uuid5(NAMESPACE, name)), root="/synthetic", path=name, title=title, sha256=f"{number:064x}",
        version=1, media_type="application/pdf", language=language, pages=pages, status=FileStatus.INDEXED,
    )  # fmt: skip


def _chunk(document_id: str, ordinal: int, start: int, text: str) -> Chunk:
    page = 1 + ordinal // 2
    return Chunk(
        id=str(uuid.uuid5(NAMESPACE, f"{document_id}/{ordinal}")), document_id=document_id, version=1,
        ordinal=ordinal, span=Span(start, start + len(text)), text=text, page=page, page_end=page,
    )  # fmt: skip


def _pages(chunks: Sequence[Chunk]) -> list[Page]:
    pairs = [chunks[start : start + 2] for start in range(0, len(chunks), 2)]
    return [
        Page(number, str(number), Span(pair[0].span.start, pair[-1].span.end)) for number, pair in enumerate(pairs, 1)
    ]
