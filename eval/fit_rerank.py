"""Which coefficients make the reranker's score a probability? A logistic regression on open sets, provisional.

Each candidate of a question is an example: positive if it holds a gold snippet of the question. Every second
question is left out of the fit, and the figures printed are on those.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.retrieval.rerank import Features, LateInteractionReranker
from app.retrieval.search import to_passage
from app.settings import Settings
from app.wiring import open_embedder
from ingest.chunk import chunk_document, searchable_text
from ingest.embed.port import Embedder
from ingest.index.bm25 import document_weights, query_weights
from ingest.index.memory import MemoryIndex
from ingest.read import read
from ingest.settings import IngestSettings
from ingest.tokenize import language
from ingest.types import Chunk, Document, FileStatus, IndexPoint

CANDIDATES = 6
BOTH = "both"
"""Documents of both languages, each paragraph twice: what a passage in the question's own language is worth."""
SETS = (
    ("xquad_en_zh", "en", "en"),
    ("xquad_en_zh", "zh", "zh"),
    ("xquad_en_zh", "en", "zh"),
    ("xquad_en_zh", "zh", "en"),
    ("xquad_en_zh", "en", BOTH),
    ("xquad_en_zh", "zh", BOTH),
    ("cmrc2018_zh", "zh", ""),
    ("clapnq", "en", ""),
    ("squad2_refusal", "en", ""),
)
"""Set, language of the questions, subfolder of the documents; none of them is under a non-commercial licence."""
MAX_DOCUMENTS = 30
NAMES = ("late", "dense", "coverage", "same")


@dataclass(frozen=True, slots=True)
class Fit:
    """Coefficients by name, and figures on the questions left out."""

    coefficients: dict[str, float]
    figures: dict[str, dict[str, float]]

    def summary(self) -> str:
        """Return the coefficients and the figures as text."""
        rows = [json.dumps(self.coefficients)]
        rows += [
            f"{name:28s} " + "  ".join(f"{key} {value:.3f}" for key, value in row.items())
            for name, row in self.figures.items()
        ]
        return "\n".join(rows)


@dataclass(frozen=True, slots=True)
class _Example:
    question: str
    group: str
    held_out: bool
    features: tuple[float, ...]
    positive: bool


def fit(data: Path, questions: int) -> Fit:
    """Fit on `questions` questions of each set under `data`."""
    from sklearn.linear_model import LogisticRegression

    settings = Settings()
    embedder = open_embedder(settings, IngestSettings(home=settings.home))
    examples = [example for name in SETS for example in _examples(data, *name, questions, embedder)]
    train = [one for one in examples if not one.held_out]
    matrix, labels = _matrix(train)
    model = LogisticRegression(C=100.0, max_iter=5000).fit(matrix, labels)
    weights = dict(zip(NAMES, map(float, model.coef_[0]), strict=True)) | {"intercept": float(model.intercept_[0])}
    groups = sorted({one.group for one in examples})
    held = [one for one in examples if one.held_out]
    figures = {group: _figures([one for one in held if one.group == group], model) for group in groups}
    return Fit({name: round(value, 4) for name, value in weights.items()}, figures)


def save(found: Fit) -> None:
    """Replace the committed coefficients."""
    target = Path(str(files("app.retrieval").joinpath("rerank_coefficients.json")))
    body = {"status": "provisional", "made_by": "python -m eval fit-rerank DATA --write", **asdict(found)}
    target.write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")


def _examples(data: Path, name: str, asked: str, folder: str, count: int, embedder: Embedder) -> Iterator[_Example]:
    group = f"{name} {asked}>{folder or asked}"
    rows = [json.loads(line) for line in (data / name / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["lang"] == asked]
    random.Random(7).shuffle(rows)
    wanted: dict[str, None] = {}
    chosen: list[dict[str, Any]] = []
    for row in rows:
        gold = _gold(row, asked, folder)
        if len(chosen) < count and len(wanted) + len(gold) <= MAX_DOCUMENTS:
            chosen.append(row)
            wanted.update(dict.fromkeys(gold))
    chunks = _corpus(data / name / "docs", list(wanted), embedder)
    index = chunks[0]
    reranker = LateInteractionReranker(embedder)
    for number, row in enumerate(chosen):
        hits = index.search(embedder.embed_query(row["question"]), query_weights(row["question"]), CANDIDATES)
        passages = [to_passage(*chunks[1][hit.chunk_id], hit) for hit in hits]
        snippets = _snippets(row, asked, folder)
        for passage, features in zip(passages, reranker.features(row["question"], passages), strict=True):
            positive = bool(row["answerable"]) and _holds(
                passage.text, passage.document.path, snippets, row, folder, asked
            )
            yield _Example(row["id"], group, number % 2 == 1, _vector(features), positive)


def _gold(row: dict[str, Any], asked: str, folder: str) -> list[str]:
    if folder == BOTH:
        return [*row["evidence_doc_ids"], str(row["parallel_doc_id"])]
    if folder and folder != asked:
        return [str(row["parallel_doc_id"])]
    return list(row["evidence_doc_ids"]) or ([row["context_doc_id"]] if row.get("context_doc_id") else [])


def _snippets(row: dict[str, Any], asked: str, folder: str) -> list[str]:
    return [] if folder and folder not in (asked, BOTH) else list(row["evidence_text"])


def _holds(text: str, path: str, snippets: Sequence[str], row: dict[str, Any], folder: str, asked: str) -> bool:
    """Say whether a passage holds the gold; across languages, where there is no snippet, whether it is the document."""
    if folder and folder != asked and not (folder == BOTH and path in row["evidence_doc_ids"]):
        return bool(path == row["parallel_doc_id"])
    squeezed = "".join(text.split())
    return any("".join(snippet.split())[:60] in squeezed for snippet in snippets)


def _corpus(
    folder: Path, names: Sequence[str], embedder: Embedder
) -> tuple[MemoryIndex, dict[str, tuple[Chunk, Document]]]:
    index = MemoryIndex(dimension=embedder.dimension)
    held: dict[str, tuple[Chunk, Document]] = {}
    for name in names:
        path = folder / f"{name}.md"
        if not path.exists():
            continue
        result = read(path.read_bytes(), path.name)
        title = result.title or path.stem
        document = Document(
            name,
            str(folder),
            name,
            title,
            "",
            1,
            result.media_type,
            language(result.text),
            0,
            FileStatus.INDEXED,
        )
        chunks = chunk_document(name, 1, result)
        texts = [searchable_text(chunk, title) for chunk in chunks]
        vectors = embedder.embed_passages(texts)
        index.upsert(
            [
                IndexPoint(c.id, name, "local", v.tolist(), document_weights(t))
                for c, v, t in zip(chunks, vectors, texts, strict=True)
            ]
        )
        held.update((chunk.id, (chunk, document)) for chunk in chunks)
    return index, held


def _vector(features: Features) -> tuple[float, ...]:
    return features.late, features.dense, features.coverage, features.same


def _matrix(examples: Sequence[_Example]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    return np.array([one.features for one in examples]), np.array([int(one.positive) for one in examples])


def _figures(examples: Sequence[_Example], model: Any) -> dict[str, float]:
    """Return MRR of the first gold passage, and how often the best score passes 0.40 with gold there and without."""
    matrix, _ = _matrix(examples)
    scores = model.predict_proba(matrix)[:, 1]
    by_question: dict[str, list[tuple[float, bool]]] = {}
    for one, score in zip(examples, scores, strict=True):
        by_question.setdefault(one.question, []).append((float(score), one.positive))
    ranks, passed, fooled, with_gold = [], 0, 0, 0
    for pairs in by_question.values():
        pairs.sort(reverse=True)
        gold = [rank for rank, (_, positive) in enumerate(pairs, 1) if positive]
        with_gold += bool(gold)
        ranks += [1 / gold[0]] if gold else []
        passed += bool(gold) and pairs[0][0] >= 0.40
        fooled += not gold and pairs[0][0] >= 0.40
    without = len(by_question) - with_gold
    return {
        "questions": float(len(by_question)),
        "mrr": float(np.mean(ranks)) if ranks else 0.0,
        "passed_with_gold": passed / max(1, with_gold),
        "passed_without_gold": fooled / max(1, without),
    }
