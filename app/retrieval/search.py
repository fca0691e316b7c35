"""Which passages answer a query? One hybrid query, live chunks only, reranked, each with its scores."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from app.core.budget import DONE_THRESHOLD
from app.core.types import DocumentRef, Passage, Scores
from app.retrieval.rerank import Reranker
from ingest.index.bm25 import query_weights
from ingest.library import Library
from ingest.types import Chunk, Document, Hit


@dataclass(frozen=True, slots=True)
class RetrievalOptions:
    """How a search is made; one side, or the reranking, can be left out to measure what it is worth.

    `candidates` hits are taken from the index; the first `reranked` of them are reranked: 20 passages cost about half
    a second in torch, and the 21st is rarely the answer. `reranked` 0 keeps the order of the fusion, without a
    probability.
    """

    dense: bool = True
    lexical: bool = True
    candidates: int = 60
    reranked: int = 20


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage with its rank from 1 and, if it fell, the stage at which it did."""

    passage: Passage
    rank: int
    cut: str | None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found; `timings` are seconds by stage."""

    query: str
    candidates: tuple[Candidate, ...]
    timings: Mapping[str, float]

    @property
    def passages(self) -> list[Passage]:
        """Return the reranked passages, best first, those below the threshold included."""
        return [one.passage for one in self.candidates if one.cut in (None, "threshold")]

    def to_json(self) -> dict[str, Any]:
        """Return the `search` object of the interface."""
        return {
            "query": self.query,
            "passages": [{**passage_json(one.passage), "rank": one.rank, "cut": one.cut} for one in self.candidates],
            "timings": dict(self.timings),
        }


class Retriever:
    """Searches a library. Safe to use from several threads; every call blocks."""

    def __init__(self, library: Library, reranker: Reranker, options: RetrievalOptions | None = None) -> None:
        self._library = library
        self._options = options or RetrievalOptions()
        self.reranker = reranker

    def search(self, query: str, limit: int = 10, document_ids: Collection[str] | None = None) -> SearchResult:
        """Return at most `limit` reranked passages and what fell on the way; a blank query finds nothing."""
        if not query.strip():
            return SearchResult(query, (), {})
        options = self._options
        marks = [time.perf_counter()]
        dense = self._library.embedder.embed_query(query) if options.dense else None
        marks.append(time.perf_counter())
        sparse = query_weights(query) if options.lexical else None
        hits = self._library.index.search(dense, sparse, options.candidates, document_ids)
        passages = self._passages(hits, document_ids)
        marks.append(time.perf_counter())
        ranked = self.reranker.rerank(query, passages[: options.reranked])
        marks.append(time.perf_counter())
        ordered = [*ranked, *passages[options.reranked :]]
        candidates = tuple(
            Candidate(passage, rank, _cut(passage, rank, limit)) for rank, passage in enumerate(ordered, 1)
        )
        names = ("embed", "index", "rerank")
        spent = {name: end - start for name, start, end in zip(names, marks, marks[1:], strict=False)}
        return SearchResult(query, candidates, spent)

    def _passages(self, hits: Sequence[Hit], document_ids: Collection[str] | None) -> list[Passage]:
        live = self._library.chunks([hit.chunk_id for hit in hits], document_ids)
        return [to_passage(*live[hit.chunk_id], hit) for hit in hits if hit.chunk_id in live]


def to_passage(chunk: Chunk, document: Document, hit: Hit | None) -> Passage:
    """Join a chunk with its document and its scores."""
    return Passage(
        chunk_id=chunk.id,
        document=DocumentRef(document.id, document.title, document.path, document.sha256, document.version),
        text=chunk.text,
        start=chunk.span.start,
        end=chunk.span.end,
        page=chunk.page,
        page_label=chunk.page_label,
        headings=chunk.headings,
        scores=Scores() if hit is None else Scores(dense=hit.dense, bm25=hit.bm25, fused=hit.fused),
        language=document.language,
        table_header=chunk.table_header,
    )


def passage_json(passage: Passage) -> dict[str, Any]:
    """Return a passage as the interface shows it."""
    return {
        "chunk_id": passage.chunk_id,
        "document": asdict(passage.document),
        "page": passage.page,
        "page_label": passage.page_label,
        "headings": list(passage.headings),
        "span": {"start": passage.start, "end": passage.end},
        "text": passage.text,
        "language": passage.language,
        "table_header": passage.table_header,
        "scores": asdict(passage.scores),
    }


def passage_from_json(data: Mapping[str, Any]) -> Passage:
    """Return the passage that `passage_json` wrote."""
    return Passage(
        chunk_id=data["chunk_id"],
        document=DocumentRef(**data["document"]),
        text=data["text"],
        start=data["span"]["start"],
        end=data["span"]["end"],
        page=data["page"],
        page_label=data["page_label"],
        headings=tuple(data["headings"]),
        scores=Scores(**data["scores"]),
        language=data["language"],
        table_header=data.get("table_header", ""),
    )


def _cut(passage: Passage, rank: int, limit: int) -> str | None:
    if passage.scores.rerank is None:
        return "fusion"
    if rank > limit:
        return "limit"
    return None if passage.scores.rerank >= DONE_THRESHOLD else "threshold"
