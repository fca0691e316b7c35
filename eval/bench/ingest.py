"""What does an ingestion cost beside the embedding that it cannot do without, and where does the rest go?

Every round ingests into a home of its own, then embeds the very same texts in one call, without a cache, and reads the
same PDFs with pypdf alone. The ratios are the medians of the rounds.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from app.settings import Settings
from app.wiring import open_embedder, open_library
from eval.bench.files import write_files
from eval.bench.measure import OTHER, Spent, Stages, Timed, Usage, children_cpu, functions_timed, measured
from eval.bench.result import MEGABYTE, BenchResult, Row, median, ratio
from eval.errors import EvalError
from ingest import ahead, write
from ingest.catalog import Catalog
from ingest.embed.port import Embedder
from ingest.index.port import ChunkIndex
from ingest.library import Library
from ingest.read import sandbox
from ingest.settings import IngestSettings
from ingest.types import FileStatus, IngestReport

STAGES = ("read", "chunk", "embed", "write")
FUNCTIONS = {
    (ahead, "_read"): "read",
    (ahead, "chunk_document"): "chunk",
    (ahead, "searchable_text"): "chunk",
    (write, "searchable_text"): "write",
    (write, "document_weights"): "write",
}
"""What the pipeline calls without a port: by the module that calls it and its name there."""
EMBEDDER = {"embed_passages": "embed"}
INDEX = dict.fromkeys(("upsert", "delete", "flush", "count", "ids"), "write")
CATALOG = dict.fromkeys(
    (
        "store", "move", "cache_vectors", "cached_vectors", "chunk_ids", "with_sha256", "document", "known", "count",
        "chunks",
    ),
    "write",
)  # fmt: skip

ALONE, PYPDF, FIRST = "embedding alone", "pypdf alone", "the first run"


@dataclass(frozen=True, slots=True)
class _Round:
    """One ingestion and its references. `children` is the processor time of the reading processes, in seconds."""

    report: IngestReport
    first: Usage
    again: Usage
    alone: Usage
    stages: dict[str, Spent]
    children: float
    texts: int
    pdfs: int
    pypdf: float | None

    @property
    def cpu(self) -> float:
        """Processor time of the ingestion, its reading processes included."""
        return self.first.cpu + self.children

    @property
    def without_model(self) -> float:
        """Processor time of everything but the model."""
        return max(0.0, self.cpu - self.stages["embed"].cpu)

    def stage(self, name: str) -> Spent:
        """Return what a stage took; reading processes count to reading."""
        found = self.stages.get(name, Spent())
        return replace(found, cpu=found.cpu + self.children) if name == "read" else found

    def cpu_share(self, name: str) -> float:
        """Return the part of a stage of the processor time, in [0, 1]."""
        staged = sum(self.stage(one).cpu for one in STAGES)
        return self.stage(name).cpu / max(self.cpu, staged, 1e-9)

    def wall_share(self, name: str) -> float:
        """Return the part of a stage of the clock, in [0, 1]; `other` is what no stage accounts for."""
        return self.stage(name).wall / max(sum(one.wall for one in self.stages.values()), 1e-9)


class _Kept:
    """An embedder that keeps the texts that were embedded, for the reference."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.texts: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def embed_passages(self, texts: Sequence[str]) -> Any:
        """See `Embedder`."""
        self.texts += texts
        return self._inner.embed_passages(texts)


def bench_ingest(
    settings: Settings,
    folder: Path | None = None,
    *,
    files: int = 36,
    repeats: int = 3,
    seed: int = 0,
    progress: Callable[[str], None] = lambda _: None,
) -> BenchResult:
    """Measure the ingestion of `folder`, or of a synthetic one of `files` files, in a temporary home.

    `settings` name the embedding model; a converted model stays in their home, and nothing else there is touched.
    Raises EvalError where the folder has no text.
    """
    embedder = open_embedder(settings, IngestSettings(home=settings.home, embedder=settings.embedder))
    loading = time.perf_counter()
    embedder.embed_passages(["The model is loaded before anything is measured."])
    loading = time.perf_counter() - loading
    with tempfile.TemporaryDirectory(prefix="citedrag-bench-") as temporary:
        work = Path(temporary)
        source = write_files(work / "documents", files, seed) if folder is None else folder
        rounds = []
        for number in range(1, repeats + 1):
            progress(f"ingest: round {number} of {repeats}")
            home = work / f"home-{number}"
            own = settings.model_copy(update={"home": home, "qdrant_url": None})
            rounds.append(_round(own, source, embedder))
            shutil.rmtree(home)
        size = _size(source, rounds[0].report)
    conditions = {
        "folder": "synthetic" if folder is None else str(folder), "embedder": embedder.name, "rounds": repeats,
        "seed": seed,
    }  # fmt: skip
    return BenchResult("ingest", conditions, tuple(_rows(rounds, size, loading)))


def _round(settings: Settings, source: Path, embedder: Embedder) -> _Round:
    stages, kept = Stages(), _Kept(embedder)
    sandbox.close()  # so that the reading processes of this round, and no others, end with it
    children = children_cpu()
    opened = open_library(settings, cast(Embedder, kept))
    library = Library(
        opened.settings,
        cast(Catalog, Timed(opened.catalog, stages, CATALOG)),
        cast(ChunkIndex, Timed(opened.index, stages, INDEX, threads=True)),
        cast(Embedder, Timed(kept, stages, EMBEDDER, threads=True)),
    )
    try:
        with functions_timed(stages, FUNCTIONS):
            stages.take()
            report, first = measured(lambda: library.ingest([source]))
            spent = stages.take()
            if not kept.texts:
                raise EvalError(f"No text was found in {source}: there is nothing to measure.")
            _, again = measured(lambda: library.ingest([source]))
    finally:
        library.close()
    texts = list(kept.texts)
    _, alone = measured(lambda: embedder.embed_passages(texts))
    pdfs = _pdfs(source, report)
    pypdf = _pypdf_cpu(pdfs) if pdfs else None  # warm caches favour it: it reads the files last
    return _Round(report, first, again, alone, spent, children_cpu() - children, len(texts), len(pdfs), pypdf)


def _pdfs(source: Path, report: IngestReport) -> list[Path]:
    """Return the PDFs of which the pipeline had text."""
    root = source if source.is_dir() else source.parent
    good = [one for one in report.files if one.status in (FileStatus.INDEXED, FileStatus.PARTIAL)]
    return [root / one.path for one in good if one.path.lower().endswith(".pdf")]


def _pypdf_cpu(paths: Sequence[Path]) -> float:
    """Return the seconds of processor time that pypdf takes for the text of these files; a damaged one ends early."""
    started = time.process_time()
    for path in paths:
        try:
            for page in PdfReader(path).pages:
                page.extract_text()
        except (PyPdfError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            continue
    return time.process_time() - started


def _size(source: Path, report: IngestReport) -> int:
    """Return the bytes of all files of a report."""
    root = source if source.is_dir() else source.parent
    return sum(path.stat().st_size for one in report.files if (path := root / one.path).is_file())


def _rows(rounds: Sequence[_Round], size: int, loading: float) -> list[Row]:
    report, first = rounds[0].report, rounds[0]
    wall = median([one.first.wall for one in rounds])
    return [
        Row("files", len(report.files), "files"),
        Row("files with text", sum(one.chunks > 0 for one in report.files), "files"),
        Row("PDFs", first.pdfs, "files"),
        Row("pages", sum(one.pages for one in report.files), "pages"),
        Row("size", size / MEGABYTE, "MB"),
        Row("chunks", report.written, "chunks"),
        Row("texts embedded", first.texts, "texts"),
        Row("model loaded in", loading, "s"),
        _compared("wall", rounds, lambda one: one.first.wall, lambda one: one.alone.wall, ALONE),
        _compared("processor time", rounds, lambda one: one.cpu, lambda one: one.alone.cpu, ALONE),
        Row("chunks per second", report.written / max(wall, 1e-9), "1/s"),
        Row("embedding alone, wall", median([one.alone.wall for one in rounds]), "s"),
        Row("embedding alone, processor time", median([one.alone.cpu for one in rounds]), "s"),
        _compared("second run", rounds, lambda one: one.again.wall, lambda one: one.first.wall, FIRST),
        *_stage_rows(rounds),
        *_pdf_rows(rounds),
        *_memory_rows(first),
    ]


def _stage_rows(rounds: Sequence[_Round]) -> list[Row]:
    rows = []
    for name in STAGES:
        rows += [
            Row(f"{name}, share of the clock", median([one.wall_share(name) for one in rounds]), ""),
            Row(f"{name}, share of processor time", median([one.cpu_share(name) for one in rounds]), ""),
            Row(f"{name}, processor time", median([one.stage(name).cpu for one in rounds]), "s"),
        ]
    return [*rows, Row("other, share of the clock", median([one.wall_share(OTHER) for one in rounds]), "")]


def _pdf_rows(rounds: Sequence[_Round]) -> list[Row]:
    name = "processor time without the model"
    if rounds[0].pypdf is None:
        return [Row(name, median([one.without_model for one in rounds]), "s")]
    return [
        _compared(name, rounds, lambda one: one.without_model, lambda one: one.pypdf or 0.0, PYPDF),
        Row("pypdf alone, processor time", median([one.pypdf or 0.0 for one in rounds]), "s"),
    ]


def _memory_rows(first: _Round) -> list[Row]:
    """Of the first round alone: what it took from the system is not given back before the next one."""
    peak, alone = first.first, first.alone
    return [
        Row("peak memory", peak.peak / MEGABYTE, "MB", ratio(peak.peak, alone.peak), ALONE),
        Row("peak memory above the loaded model", peak.grown / MEGABYTE, "MB"),
        Row("embedding alone, peak memory", alone.peak / MEGABYTE, "MB"),
    ]


def _compared(
    name: str, rounds: Sequence[_Round], value: Callable[[_Round], float], reference: Callable[[_Round], float],
    to: str,
) -> Row:  # fmt: skip
    ratios = [found for one in rounds if (found := ratio(value(one), reference(one))) is not None]
    return Row(name, median([value(one) for one in rounds]), "s", median(ratios) if ratios else None, to)
