"""What are a passage, a quote, a claim, a citation and a task?"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Verdict(StrEnum):
    """What the evidence says of a claim."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    UNSUPPORTED = "unsupported"
    COMPUTED = "computed"
    GAP = "gap"
    CONNECTIVE = "connective"


class TaskStatus(StrEnum):
    """How a research task stands."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    INSUFFICIENT = "insufficient_evidence"
    FAILED = "failed"
    SKIPPED = "skipped"


class GapReason(StrEnum):
    """Why something is missing from an answer."""

    NO_EVIDENCE = "no_evidence"
    IRRELEVANT = "irrelevant"
    BUDGET = "budget"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Scores:
    """Retrieval scores: `dense` is a cosine, `bm25` >= 0, `fused` RRF, `rerank` a probability. None: not scored."""

    dense: float | None = None
    bm25: float | None = None
    fused: float | None = None
    rerank: float | None = None


@dataclass(frozen=True, slots=True)
class DocumentRef:
    """The document that a passage comes from."""

    id: str
    title: str
    path: str
    sha256: str
    version: int


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk found for a query. `start`/`end`: its span in the document's text; `page` from 1, None without pages.

    `table_header` names the columns of the rows that it begins with, where it does not hold that line itself.
    """

    chunk_id: str
    document: DocumentRef
    text: str
    start: int
    end: int
    page: int | None = None
    page_label: str | None = None
    headings: tuple[str, ...] = ()
    scores: Scores = field(default_factory=Scores)
    language: str = ""
    table_header: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """A verbatim piece of one passage. `start`/`end` are in the document's text; `support` is in [0, 1]."""

    text: str
    start: int
    end: int
    support: float


@dataclass(frozen=True, slots=True)
class Draft:
    """One sentence as a model wrote it: its text without markers, and the evidence keys it cited, in order.

    `dropped` are the keys and numbers that it made up: nothing is cited by them.
    """

    text: str
    keys: tuple[str, ...]
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning of a run: a machine code (see `app.core.warnings`) and a sentence for people."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Task:
    """A research task. `evidence_ids` are chunk ids; `best` is the highest rerank score found, None before."""

    id: str
    question: str
    query: str
    status: TaskStatus = TaskStatus.PENDING
    evidence_ids: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    best: float | None = None
    reason: str | None = None
