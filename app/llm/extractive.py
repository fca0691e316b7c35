"""How are the roles played without a model? By rules, and by sentences quoted from the passages.

A sentence's score is half lexical (BM25+ over the sentences at hand, scaled to what one mention of each word
of the question would give) and half semantic (cosine, scaled to the range the embedder uses). For a sentence
in another language than the question only the cosine says anything.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

import numpy as np
from rank_bm25 import BM25Plus

from app.core.heuristics import opening_route
from app.core.missing import speaks_to
from app.core.planparse import split_question
from app.core.refusal import refusal_text
from app.llm.text import CJK
from app.llm.units import Unit, units_of
from app.ports import Completion, DraftRequest, Message, SentenceScorer
from ingest.tokenize import query_terms, tokens

__all__ = ["ExtractiveRoles", "Limits"]

COSINE_FLOOR, COSINE_CEILING = 0.75, 0.92
"""Where multilingual-e5-small puts unrelated and equal sentences."""

K1, B = 1.5, 0.75
"""BM25's usual constants, those of rank-bm25."""

DUPLICATE = 0.75
"""Two sentences that share so much of the shorter one's words say the same."""

WORD = re.compile(r"\w[\w'./:+#-]*")
QUESTION_WORDS = re.compile(
    r"请问|为什么|什么时候|什么|怎么样|怎样|怎么|如何|多少|哪[里个些年一种]?|是谁|谁|何时|是否|[吗呢]|"
    r"什麼|怎麼|哪裡|嗎"
)
"""Chinese words that only ask; English ones are stop words of the terms."""

IDENTIFIER = re.compile(r"[a-z]")
IDENTIFIER_WEIGHT = 3
"""In a Chinese question a name such as `umask` is one term, where a Chinese word of its weight is several."""

NEVER = 2.0
"""More than any score: the cosine alone says too little of the few words in a table's row."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When is a sentence good enough, and how many are? Scores are in [0, 1].

    Chosen on XQuAD, 60 questions a language with four paragraphs each: of questions without an answer in them
    (paragraphs of other articles) at most 2 in 100 get one in their language, and 8 in 100 across languages.
    """

    direct: int = 4
    writer: int = 8
    least: float = 0.40
    least_across: float = 0.22
    margin: float = 0.15


class ExtractiveRoles:
    """The roles without a model: costs nothing, invents nothing, answers in the documents' own sentences."""

    def __init__(self, scorer: SentenceScorer, limits: Limits | None = None) -> None:
        self._scorer, self._limits = scorer, limits or Limits()

    @property
    def name(self) -> str:
        """What stands for the model's name: `extractive`."""
        return "extractive"

    @property
    def uses_model(self) -> bool:
        """Whether a reply costs a model call: it does not."""
        return False

    async def route(self, history: Sequence[Message], situation: str) -> Completion:
        """Return `ROLE: planner` for a question with several parts, else `ROLE: direct`."""
        question = next((m.content for m in reversed(history) if m.role == "user"), situation)
        route = opening_route(question)
        several = route is None or route.role == "planner" or len(split_question(question)) > 1
        return _free("ROLE: planner" if several else "ROLE: direct")

    async def plan(self, question: str, max_tasks: int, avoid: Sequence[str]) -> Completion:
        """Return a JSON plan of the question's parts; a query to avoid gives way to its bare words."""
        avoided = {_squeezed(query) for query in avoid}
        tasks = []
        for part in split_question(question, max_tasks):
            queries = (part, _bare_words(part))
            query = next((q for q in queries if q and _squeezed(q) not in avoided), part)
            tasks.append({"question": part, "query": query})
        return _free(json.dumps(tasks, ensure_ascii=False))

    async def draft(self, request: DraftRequest) -> AsyncIterator[str | Completion]:
        """Yield the sentences that answer the question, each with its key, and last the `Completion`."""
        chosen = await asyncio.to_thread(self._choose, request)
        pieces = [f"{unit.text} [{unit.key}]\n" for unit in chosen] or [refusal_text(request.language)]
        for piece in pieces:
            yield piece
        yield _free("".join(pieces))

    def _choose(self, request: DraftRequest) -> list[Unit]:
        units = units_of(request.passages)
        if not units:
            return []
        questions = request.tasks if request.role == "writer" and request.tasks else (request.question,)
        limit = self._limits.writer if request.role == "writer" else self._limits.direct
        share = max(1, limit // len(questions))
        places = {one.key: " ".join((one.passage.document.title, *one.passage.headings)) for one in request.passages}
        chosen: list[Unit] = []
        for question in questions:
            near = [unit for unit in units if speaks_to(question, f"{places[unit.key]}\n{unit.text}")]
            for unit in self._best(question, request.language, near)[:share]:
                if len(chosen) < limit and not any(_alike(unit.text, other.text) for other in chosen):
                    chosen.append(unit)
        return chosen

    def _best(self, question: str, language: str, units: Sequence[Unit]) -> list[Unit]:
        """Return the units that answer `question`, the best first, down to a margin below the best."""
        if not units:
            return []
        scored = sorted(self._scores(question, language, units), key=lambda pair: -pair[0])
        enough = [(score, unit) for score, unit in scored if score >= self._least(unit, language)]
        return [unit for score, unit in enough if score >= enough[0][0] - self._limits.margin]

    def _least(self, unit: Unit, language: str) -> float:
        if _same_language(unit, language):
            return self._limits.least
        if unit.is_row:
            return NEVER
        return self._limits.least_across

    def _scores(self, question: str, language: str, units: Sequence[Unit]) -> list[tuple[float, Unit]]:
        texts = [unit.text for unit in units]
        cosines = self._scorer.scores(question, texts)
        lexical = _lexical(_weighted_terms(question), [tokens(text) for text in texts])
        scores = []
        for unit, cosine, words in zip(units, cosines, lexical, strict=True):
            near = min(1.0, max(0.0, (cosine - COSINE_FLOOR) / (COSINE_CEILING - COSINE_FLOOR)))
            scores.append(((near + words) / 2 if _same_language(unit, language) else near, unit))
        return scores


def _weighted_terms(question: str) -> list[str]:
    terms = list(query_terms(question))
    if not CJK.search(question):
        return terms
    return terms + [term for term in terms if IDENTIFIER.match(term)] * (IDENTIFIER_WEIGHT - 1)


def _lexical(terms: Sequence[str], corpus: Sequence[Sequence[str]]) -> list[float]:
    """Return BM25+ in [0, 1]: 1 is one mention, in a sentence of mean length, of every term."""
    if not terms or not any(corpus):
        return [0.0] * len(corpus)
    bm25 = BM25Plus([list(words) for words in corpus], k1=K1, b=B, delta=1)
    wanted = [term for term in terms if term in bm25.idf]
    # BM25+ gives delta x idf for a term even where it is absent; an unseen term has the highest idf there is.
    absent = sum(float(bm25.idf[term]) for term in wanted)
    whole = absent + (len(terms) - len(wanted)) * math.log(len(corpus) + 1)
    found = np.asarray(bm25.get_scores(wanted), dtype=float) - absent
    return [min(1.0, max(0.0, float(score) / whole)) if whole else 0.0 for score in found]


def _same_language(unit: Unit, language: str) -> bool:
    return unit.language.lower().partition("-")[0] == language.lower().partition("-")[0]


def _alike(one: str, other: str) -> bool:
    first, second = set(query_terms(one)), set(query_terms(other))
    return len(first & second) >= DUPLICATE * max(1, min(len(first), len(second)))


def _bare_words(question: str) -> str:
    """Return the words of a question that say what it is about, as they stand in it."""
    terms = set(query_terms(question))
    words = WORD.findall(QUESTION_WORDS.sub(" ", question))
    return " ".join(word for word in words if terms & set(tokens(word)))


def _squeezed(text: str) -> str:
    return " ".join(text.casefold().split())


def _free(text: str) -> Completion:
    return Completion(text, calls=0)
