"""Where does measuring keep its corpora, records and runs, and what makes one of them stale?

Everything is named by a hash of what it follows from: documents, settings, and the sources of the program. So an
interrupted run goes on where it stopped, an unchanged question is never asked twice, and a changed program asks anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from app.settings import Settings
from eval.datasets import Corpus, DataSet
from eval.suite import Variant
from eval.types import Question

SOURCES = (".py", ".md", ".json")
ENGINES = ("qdrant-edge-py", "sentence-transformers", "openvino", "torch", "rank-bm25")


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder of measuring."""

    root: Path

    def corpus(self, key: str) -> Path:
        """Return the home of an ingested corpus."""
        return self.root / "corpora" / key

    def records(self, key: str) -> Path:
        """Return the file with the outcomes of one set under one variant."""
        return self.root / "records" / f"{key}.jsonl"

    @property
    def runs(self) -> Path:
        """Return the folder of finished runs."""
        return self.root / "runs"

    @property
    def vectors(self) -> Path:
        """Return the file of cached vectors."""
        return self.root / "vectors.db"


def digest(value: Any) -> str:
    """Return a short hash of plain data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:20]


def corpus_key(data: DataSet, variant: Variant, settings: Settings) -> str:
    """Return what an ingested corpus follows from: its documents, the chunking, the model, the program's reading."""
    way = [variant.chunk_tokens, variant.chunking, settings.ocr, settings.max_file_mb, settings.read_timeout]
    return digest([corpus_digest(data.corpus), way, settings.embedder, program("ingest"), _file("cutting.py")])


def cell_key(data: DataSet, variant: Variant, settings: Settings) -> str:
    """Return what the outcomes of a set under a variant follow from; the variant's name is no part of it.

    `settings` are those that the set is run with: what they name outside the variant (a reranker, a model and its
    endpoint) makes other outcomes too.
    """
    chosen = variant.model_dump(mode="json", exclude={"name"})
    model = [settings.model, settings.openai_base_url] if settings.uses_model else "extractive"
    named = [settings.reranker, model, settings.refusal_en, settings.refusal_zh]
    return digest(
        [corpus_key(data, variant, settings), data.corpus.prefix, chosen, named, program("app"), engines()]
    )  # fmt: skip


def question_key(question: Question) -> str:
    """Return what the outcome of a question follows from; its gold is no part of it."""
    return digest([question.id, question.text, [[turn.role, turn.text] for turn in question.history]])


def corpus_digest(corpus: Corpus) -> str:
    """Return the hash of all documents, by their names and bytes."""
    total = hashlib.sha256()
    for record in corpus.records:
        total.update(json.dumps([record.id, record.title, record.text]).encode())
    if corpus.folder is not None:
        for path in sorted(one for one in corpus.folder.rglob("*") if one.is_file()):
            total.update(f"{path.relative_to(corpus.folder)}\0".encode("utf-8", "surrogateescape"))
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:20]


@cache
def program(package: str) -> str:
    """Return the hash of a package's sources."""
    total = hashlib.sha256()
    for name, data in _sources(files(package), package):
        total.update(name.encode() + b"\0" + hashlib.sha256(data).digest())
    return total.hexdigest()[:20]


def _sources(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for child in sorted(folder.iterdir(), key=lambda one: one.name):
        if child.is_dir():
            yield from _sources(child, f"{name}/{child.name}")
        elif child.name.endswith(SOURCES):
            yield f"{name}/{child.name}", child.read_bytes()


@cache
def _file(name: str) -> str:
    return hashlib.sha256(files("eval").joinpath(name).read_bytes()).hexdigest()[:20]


@cache
def engines() -> tuple[str, ...]:
    """Return the versions of the libraries that compute scores."""
    return tuple(f"{name}=={_version(name)}" for name in ENGINES)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
