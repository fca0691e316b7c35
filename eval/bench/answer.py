"""What does an answer cost beside the bare model call that it contains, and where does the rest go?

The endpoint is a scripted one on the loopback, asked through the real client. Every question is answered with
checkpoints (as a run whose events are followed) and without, searched alone, and its own prompt is sent once more as a
bare call: these take turns, question by question. The time that is neither the model's, nor the reranker's, nor the
embedding's is the overhead.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from app.core.sentences import split_sentences
from app.demo import demo_corpus
from app.llm.model_roles import ModelRoles
from app.llm.openai_chat import OpenAIChat
from app.llm.simulate import Reply, SimulatedEndpoint
from app.ports import ChatModel, Completion, Message, Role
from app.retrieval.rerank import LateInteractionReranker, Reranker
from app.runs.requests import RunRequest
from app.settings import Settings
from app.wiring import EmbeddingScorer, Services, close_services, open_embedder, open_library, open_services
from eval.bench.measure import OTHER, Spent, Stages, Timed
from eval.bench.result import MILLISECONDS, BenchResult, Row, median, percentile, ratio
from eval.errors import EvalError
from ingest.embed.port import Embedder
from ingest.library import Library
from ingest.settings import IngestSettings
from ingest.tokenize import query_terms

Json = dict[str, Any]

WITH, WITHOUT, SEARCH, BARE = "with checkpoints", "without checkpoints", "retrieval alone", "bare model call"
STAGES = ("model", "rerank", "embed")
EMBEDDER = dict.fromkeys(("embed_query", "embed_passages", "query_tokens", "passage_tokens"), "embed")
LIMIT = 10
CITED = 2
"""Passages of which the scripted model states one sentence each."""
PLAIN_KINDS = ("fact", "table")
"""Kinds of the corpus's own questions that one search answers: they take the usual way."""
PASSAGE = re.compile(r'<passage key="([^"]+)">\nFrom: [^\n]*\n(.*?)\n</passage', re.DOTALL)
PLAN = re.compile(r"^Question: (.*)\nJSON list:", re.MULTILINE)
"""The end of a request for a plan."""
TERMS = 4
"""Of a passage, in a question that is made from it."""


@dataclass(slots=True)
class _Taken:
    """What each way took: seconds as a whole, and by stage; and how the answers ended.

    `unasked` counts questions that were refused before the model was asked: they are in none of the figures.
    """

    wholes: dict[str, list[float]] = field(default_factory=lambda: {WITH: [], WITHOUT: [], SEARCH: [], BARE: []})
    stages: dict[str, list[dict[str, Spent]]] = field(default_factory=lambda: {WITH: [], WITHOUT: [], SEARCH: []})
    calls: list[int] = field(default_factory=list)
    refused: int = 0
    unasked: int = 0

    def add(self, other: _Taken) -> None:
        """Join what another question took."""
        for way, seconds in other.wholes.items():
            self.wholes[way] += seconds
        for way, spent in other.stages.items():
            self.stages[way] += spent
        self.calls += other.calls
        self.refused += other.refused

    def part(self, way: str, stage: str) -> list[float]:
        """Return the milliseconds that a stage took in each answer."""
        return [spent.get(stage, Spent()).wall * MILLISECONDS for spent in self.stages[way]]

    def whole(self, way: str) -> list[float]:
        """Return the milliseconds of each answer."""
        return [seconds * MILLISECONDS for seconds in self.wholes[way]]


class _TimedChat:
    """A chat model whose time is counted: waiting for a piece is the model's, what is done with it is not.

    `last` is the latest request for a streamed reply.
    """

    def __init__(self, inner: ChatModel, stages: Stages) -> None:
        self._inner, self._stages = inner, stages
        self.last: tuple[tuple[Message, ...], Role] | None = None

    @property
    def name(self) -> str:
        """See `ChatModel`."""
        return self._inner.name

    async def complete(self, messages: Sequence[Message], role: Role) -> Completion:
        """See `ChatModel`."""
        with self._stages.running("model"):
            return await self._inner.complete(messages, role)

    async def stream(self, messages: Sequence[Message], role: Role) -> AsyncIterator[str | Completion]:
        """See `ChatModel`."""
        self.last = (tuple(messages), role)
        pieces = self._inner.stream(messages, role)
        while True:
            with self._stages.running("model"):
                try:
                    piece = await anext(pieces)
                except StopAsyncIteration:
                    return
            yield piece


class _FreshScorer:
    """A scorer that begins every answer with an empty cache, as an answer to a new question does."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.renew()

    def renew(self) -> None:
        """Forget every sentence."""
        self._inner = EmbeddingScorer(self._embedder)

    def scores(self, text: str, sentences: Sequence[str]) -> list[float]:
        """See `SentenceScorer`."""
        return self._inner.scores(text, sentences)


def bench_answer(
    settings: Settings,
    folder: Path | None = None,
    *,
    questions: Sequence[str] | None = None,
    count: int = 20,
    repeats: int = 1,
    piece_delay: float = 0.0,
    seed: int = 0,
    reranker: Reranker | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> BenchResult:
    """Measure answers over `folder`, or the demonstration corpus, in a temporary home.

    `questions` are asked `repeats` times each; left out, `count` of the corpus's own are, or ones that are made from
    passages. `piece_delay`: seconds before each seven characters of the model's reply; at 0 the endpoint answers at
    once, and everything that the program does shows. `reranker` stands in for that of the settings. Raises EvalError
    where there is nothing to ask about, or no question came as far as the model.
    """
    source, given = _source(folder, questions, count, seed)
    embedder = open_embedder(settings, IngestSettings(home=settings.home, embedder=settings.embedder))
    stages = Stages()
    timed = cast(Embedder, Timed(embedder, stages, EMBEDDER))
    with tempfile.TemporaryDirectory(prefix="citedrag-bench-") as temporary:
        own = settings.model_copy(update={"home": Path(temporary), "qdrant_url": None})
        library = open_library(own, timed)
        try:
            progress("answer: ingesting")
            library.ingest([source])
            asked = given or _made(library, count, seed)
        except BaseException:
            library.close()
            raise
        script = _Script(piece_delay)
        with SimulatedEndpoint(script) as endpoint:
            bench = _Bench(own, library, timed, stages, endpoint.base_url, reranker, progress)
            taken = asyncio.run(bench.run([question for _ in range(repeats) for question in asked]))
    conditions = {
        "folder": str(folder) if folder is not None else "demonstration corpus", "embedder": embedder.name,
        "questions": len(asked), "repeats": repeats, "piece_delay": piece_delay, "refused": taken.refused,
        "not_asked": taken.unasked, "of_several_calls": sum(calls > 1 for calls in taken.calls),
        "seed": seed,
    }  # fmt: skip
    return BenchResult("answer", conditions, tuple(_rows(taken)))


@dataclass(slots=True)
class _Bench:
    """Asks questions in every way, in turns."""

    settings: Settings
    library: Library
    embedder: Embedder
    stages: Stages
    endpoint: str
    reranker: Reranker | None
    progress: Callable[[str], None]

    async def run(self, questions: Sequence[str]) -> _Taken:
        """Ask every question in every way and return what each took; the first question is asked once before."""
        bare = OpenAIChat(model="simulated", api_key="none", base_url=self.endpoint)
        chat, scorer, taken = _TimedChat(bare, self.stages), _FreshScorer(self.embedder), _Taken()
        roles = ModelRoles(chat)
        services = await open_services(self.settings, self.library, lambda: roles, scorer)
        ways: list[tuple[str, Callable[[str], Awaitable[Json | None]]]] = [
            (WITH, lambda question: _followed(services, question)),
            (WITHOUT, lambda question: services.runs.answer(_request(question))),
            (SEARCH, lambda question: _searched(services, question)),
        ]
        plain = self.reranker or services.retriever.reranker
        try:
            for number, question in enumerate([questions[0], *questions]):
                self.progress(f"answer: {number} of {len(questions)}")
                chat.last, one = None, _Taken()
                for name, way in ways:
                    scorer.renew()
                    services.retriever.reranker = self._fresh(plain)
                    await self._one(one, name, way(question))
                    if chat.last is None and name != SEARCH:
                        break
                if chat.last is None:
                    taken.unasked += bool(number)
                    continue
                await _bare(one, bare, *chat.last)
                if number:
                    taken.add(one)
                ways = [*ways[1:], ways[0]]
        finally:
            await bare.aclose()
            await close_services(services)
        if not taken.calls:
            raise EvalError("No question came as far as the model: ask others, or choose another embedding model.")
        return taken

    async def _one(self, taken: _Taken, name: str, work: Awaitable[Json | None]) -> None:
        self.stages.take()
        started = time.perf_counter()
        result = await work
        taken.wholes[name].append(time.perf_counter() - started)
        taken.stages[name].append(self.stages.take())
        if result is not None:
            taken.calls.append(result["usage"]["llm_calls"])
            taken.refused += bool(result["refused"])

    def _fresh(self, plain: Reranker) -> Reranker:
        """Return the reranker, timed; the built-in one with an empty cache."""
        fresh = LateInteractionReranker(self.embedder) if isinstance(plain, LateInteractionReranker) else plain
        return cast(Reranker, Timed(fresh, self.stages, {"rerank": "rerank"}))


def _request(question: str) -> RunRequest:
    return RunRequest.model_validate({"question": question, "approval": "never"})


async def _followed(services: Services, question: str) -> Json:
    created = await services.runs.create(_request(question))
    async for _ in services.runs.events(created["run_id"]):
        pass
    return services.runs.get(created["run_id"])


async def _searched(services: Services, question: str) -> None:
    await asyncio.to_thread(services.retriever.search, question, LIMIT)


async def _bare(taken: _Taken, bare: OpenAIChat, messages: Sequence[Message], role: Role) -> None:
    """Send the prompt of the latest draft once more, and read the whole reply."""
    started = time.perf_counter()
    async with aclosing(cast(Any, bare.stream(messages, role))) as pieces:
        async for _ in pieces:
            pass
    taken.wholes[BARE].append(time.perf_counter() - started)


@dataclass(frozen=True, slots=True)
class _Script:
    """A model that states a sentence of each of the first passages, routes to them, and plans one search."""

    delay: float

    def __call__(self, request: Json) -> Reply:
        """Return the reply to a request."""
        text = str(request["messages"][-1]["content"])
        if planned := PLAN.search(text):
            return Reply(json.dumps([{"query": planned[1]}], ensure_ascii=False), delay=self.delay)
        passages = PASSAGE.findall(text)
        lines = [f"{_longest(passage)} [{key}]" for key, passage in passages[:CITED]]
        return Reply(" ".join(lines) or "ROLE: direct", delay=self.delay)


def _longest(text: str) -> str:
    return max(split_sentences(text), key=len, default=text)


def _source(
    folder: Path | None, questions: Sequence[str] | None, count: int, seed: int
) -> tuple[Path, list[str] | None]:
    if folder is not None:
        return folder, None if questions is None else list(questions)
    corpus = demo_corpus()
    if corpus is None:
        raise EvalError("The demonstration corpus is not installed: name a folder of documents.")
    return corpus / "documents", list(questions) if questions is not None else _own_questions(corpus, count, seed)


def _own_questions(corpus: Path, count: int, seed: int) -> list[str]:
    lines = (corpus / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines if line.strip()]
    plain = [row["question"] for row in rows if row["answerable"] and row["type"] in PLAIN_KINDS]
    return random.Random(seed).sample(plain, min(count, len(plain)))


def _made(library: Library, count: int, seed: int) -> list[str]:
    """Return questions made of the first terms of random passages."""
    ids = sorted(library.catalog.chunk_ids())
    if not ids:
        raise EvalError("The folder has no text: there is nothing to ask about.")
    chosen = random.Random(seed).sample(ids, min(count, len(ids)))
    chunks = [chunk for chunk, _ in library.chunks(chosen).values()]
    return [f"What is said about {' '.join(query_terms(chunk.text)[:TERMS])}?" for chunk in chunks]


def _rows(taken: _Taken) -> list[Row]:
    bare = median(taken.whole(BARE))
    rows = []
    for way in (WITH, WITHOUT):
        whole, overhead = taken.whole(way), taken.part(way, OTHER)
        middle = median(whole)
        rows += [
            Row(f"{way}: whole answer, p50", middle, "ms", ratio(middle, bare), BARE),
            Row(f"{way}: whole answer, p95", percentile(whole, 95), "ms", ratio(percentile(whole, 95), middle), "p50"),
            Row(f"{way}: overhead, p50", median(overhead), "ms", ratio(median(overhead), bare), BARE),
            Row(f"{way}: overhead, p95", percentile(overhead, 95), "ms",
                ratio(percentile(overhead, 95), median(overhead)), "p50"),
            *(_stage_row(taken, way, stage, middle) for stage in STAGES),
        ]  # fmt: skip
    searched, spent = median(taken.whole(SEARCH)), median(taken.part(SEARCH, OTHER))
    return [
        *rows,
        Row(f"{SEARCH}, p50", searched, "ms", ratio(searched, median(taken.whole(WITHOUT))), f"answer {WITHOUT}"),
        Row(f"{SEARCH}, without model and reranker, p50", spent, "ms", ratio(spent, searched), SEARCH),
        Row(f"{BARE}, p50", bare, "ms"),
        Row(f"{BARE}, p95", percentile(taken.whole(BARE), 95), "ms"),
        Row("model calls of an answer, p50", median([float(calls) for calls in taken.calls]), "calls"),
    ]


def _stage_row(taken: _Taken, way: str, stage: str, whole: float) -> Row:
    part = median(taken.part(way, stage))
    return Row(f"{way}: {stage}, p50", part, "ms", ratio(part, whole), "whole answer, p50")
