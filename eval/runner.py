"""How is a suite run? Set by set and variant by variant: ingest, ask what was not asked before, keep every outcome."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.settings import Settings
from app.wiring import Services, close_services, open_embedder, open_library, open_services
from eval.cutting import cutter
from eval.datasets import Corpus, DataSet, load, sample
from eval.errors import EvalError
from eval.outcomes import Namer, ask, from_json, to_json
from eval.suite import SetSpec, Suite, Variant
from eval.types import Outcome, Question
from eval.vectors import CachedEmbedder
from eval.workspace import Workspace, cell_key, corpus_key, question_key
from ingest.embed.port import Embedder
from ingest.library import Library
from ingest.settings import IngestSettings


@dataclass(frozen=True, slots=True)
class Step:
    """How far a run is: `done` of `total` of one stage (`ingest` or `ask`) of a set under a variant."""

    set: str
    variant: str
    stage: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One set under one variant: its questions, the outcome of each that has one, and what it took.

    `unknown_gold` are gold documents that the corpus does not have. `asked` counts the questions that were asked now,
    the others came from the `records`. Seconds are of this run.
    """

    set: str
    variant: str
    questions: tuple[Question, ...]
    outcomes: Mapping[str, Outcome]
    records: Path
    unknown_gold: tuple[str, ...] = ()
    documents: int = 0
    chunks: int = 0
    asked: int = 0
    ingest_seconds: float = 0.0
    ask_seconds: float = 0.0


@dataclass(slots=True)
class Runner:
    """Runs suites in a workspace. `settings` are the program's; a model is used if they name one."""

    workspace: Workspace
    settings: Settings
    progress: Callable[[Step], None] = lambda _: None
    _embedders: dict[str, CachedEmbedder] = field(default_factory=dict)

    def run(self, suite: Suite, data: Path) -> list[Cell]:
        """Run a suite over the sets under `data`. Raises EvalError for what cannot be read."""
        try:
            sets = [(spec, load(spec, data)) for spec in suite.sets]
            return [self._cell(suite, spec, found, variant) for spec, found in sets for variant in suite.variants]
        finally:
            for embedder in self._embedders.values():
                embedder.close()
            self._embedders.clear()

    def _cell(self, suite: Suite, spec: SetSpec, data: DataSet, variant: Variant) -> Cell:
        questions = sample(data.questions, spec.questions or suite.questions, suite.seed)
        answers = spec.answers and variant.answers
        settings = self._settings(variant, answers=answers)
        key = cell_key(data, variant.model_copy(update={"answers": answers}), settings)
        records = Records(self.workspace.records(key))
        held = {one.id: records.held[question_key(one)] for one in questions if question_key(one) in records.held}
        open_ones = [one for one in questions if one.id not in held]
        if not open_ones:
            return Cell(spec.name, variant.name, questions, held, records.path, tuple(data.unknown_gold()))
        home = self.workspace.corpus(corpus_key(data, variant, settings))
        settings = settings.model_copy(update={"home": home})
        started = time.perf_counter()
        embedder = self._embedder(settings)
        library = open_library(settings, embedder, variant.chunk_tokens, cutter(variant.chunking, embedder))
        try:
            namer = self._ingest(library, data, spec, variant, home)
            counts, ingested = library.stats(), time.perf_counter()
            random.Random(variant.seed).shuffle(open_ones)
            asking = Asking(suite.concurrency, answers, variant, spec.name, self.progress)
            fresh = asyncio.run(asking.all(open_ones, settings, library, namer, records))
        finally:
            library.close()
        return Cell(
            spec.name, variant.name, questions, held | fresh, records.path, tuple(data.unknown_gold()),
            counts["documents"], counts["chunks"], len(fresh), round(ingested - started, 2),
            round(time.perf_counter() - ingested, 2),
        )  # fmt: skip

    def _settings(self, variant: Variant, *, answers: bool) -> Settings:
        """Return the variant's settings; where no vector is asked for, no model is made to embed every passage."""
        lexical_alone = not (variant.dense or variant.reranked or answers)
        named = {"embedder": "hashing" if lexical_alone else variant.embedder, "reranker": variant.reranker}
        return self.settings.model_copy(update={key: value for key, value in named.items() if value is not None})

    def _embedder(self, settings: Settings) -> Embedder:
        """Return the model, loaded once for all sets; converted models stay in the program's own home."""
        if settings.embedder not in self._embedders:
            options = IngestSettings(home=self.settings.home, embedder=settings.embedder)
            self._embedders[settings.embedder] = CachedEmbedder(
                open_embedder(settings, options), self.workspace.vectors
            )
        return self._embedders[settings.embedder]

    def _ingest(self, library: Library, data: DataSet, spec: SetSpec, variant: Variant, home: Path) -> Namer:
        folder, names = materialise(data.corpus, home / "documents")
        self.progress(Step(spec.name, variant.name, "ingest", 0, 0))
        report = library.ingest(
            [folder], lambda one: self.progress(Step(spec.name, variant.name, "ingest", one.done, one.total))
        )
        if not library.stats()["documents"]:
            told = ", ".join(f"{count} {status}" for status, count in report.totals().items())
            raise EvalError(f"The set {spec.name} has no document that can be searched: {told or 'it is empty'}.")
        by_gold = data.namer()
        return lambda path: names.get(path) or by_gold(path)


def materialise(corpus: Corpus, target: Path) -> tuple[Path, dict[str, str]]:
    """Return a folder of files with the corpus, and the name of each file that is not its path.

    Records are written once, as Markdown: the title is the heading. Their files are numbered, since an id may be
    anything.
    """
    if corpus.folder is not None:
        return corpus.folder, {}
    target.mkdir(parents=True, exist_ok=True)
    names = {}
    for number, record in enumerate(corpus.records):
        path = target / f"{number:06d}.md"
        names[path.name] = record.id
        if not path.exists():
            head = f"# {' '.join(record.title.split())}\n\n" if record.title.strip() else ""
            draft = path.with_suffix(".part")  # a crash leaves no half document that would pass for a whole one
            draft.write_text(f"{head}{record.text}\n", encoding="utf-8")
            draft.replace(path)
    return target, names


class Records:
    """The outcomes of one set under one variant, a line each, kept as they come.

    A line that was cut by a crash is passed over, and its question asked again; so is a question that failed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.held: dict[str, Outcome] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            text = path.read_text(encoding="utf-8", errors="replace")
            self.held = dict(_outcomes(text.splitlines()))
            if text and not text.endswith("\n"):
                self._append("\n")

    def add(self, question: Question, outcome: Outcome) -> None:
        """Keep an outcome."""
        line = json.dumps({"key": question_key(question), "outcome": to_json(outcome)}, ensure_ascii=False)
        self._append(line + "\n")

    def _append(self, text: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)


def _outcomes(lines: Sequence[str]) -> Iterator[tuple[str, Outcome]]:
    for line in lines:
        try:
            row = json.loads(line)
            outcome = from_json(row["outcome"])
        except (ValueError, KeyError, TypeError):
            continue
        if outcome.error is None:
            yield row["key"], outcome


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks questions side by side."""

    concurrency: int
    answers: bool
    variant: Variant
    set: str
    progress: Callable[[Step], None]

    async def all(
        self, questions: Sequence[Question], settings: Settings, library: Library, namer: Namer, records: Records
    ) -> dict[str, Outcome]:
        """Ask every question and keep its outcome at once; return them by question."""
        services = await open_services(
            settings, library, retrieval=self.variant.retrieval(), limits=self.variant.limits()
        )
        found: dict[str, Outcome] = {}
        gate = asyncio.Semaphore(self.concurrency)
        try:
            total = len(questions)
            await asyncio.gather(*(self._one(one, services, namer, records, gate, found, total) for one in questions))
        finally:
            await close_services(services)
        return found

    async def _one(
        self, question: Question, services: Services, namer: Namer, records: Records, gate: asyncio.Semaphore,
        found: dict[str, Outcome], total: int,
    ) -> None:  # fmt: skip
        async with gate:
            outcome = await ask(services, question, namer, answers=self.answers, mode=self.variant.mode)
        records.add(question, outcome)
        found[question.id] = outcome
        self.progress(Step(self.set, self.variant.name, "ask", len(found), total))
