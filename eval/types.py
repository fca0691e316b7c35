"""What is a question with its gold, and what came of it?"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier turn of a conversation; `role` is `user` or `assistant`."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its gold.

    `documents` are the gold documents by relative path without suffix. `relevance` grades them where the set does
    (BEIR), else each counts 1. `snippets` are gold sentences, verbatim apart from white space. Any one of `answers`
    is right, unless `parts` is not empty: then one of each inner tuple is wanted. `pages` are the gold pages by
    document, from 1. `answerable` says whether the documents hold the answer.
    """

    id: str
    text: str
    language: str = "en"
    kind: str = ""
    answerable: bool = True
    answers: tuple[str, ...] = ()
    parts: tuple[tuple[str, ...], ...] = ()
    documents: tuple[str, ...] = ()
    relevance: tuple[int, ...] = ()
    snippets: tuple[str, ...] = ()
    pages: tuple[tuple[str, int], ...] = ()
    history: tuple[Turn, ...] = ()

    def grades(self) -> dict[str, int]:
        """Return the relevance of each gold document."""
        if not self.relevance:
            return dict.fromkeys(self.documents, 1)
        return dict(zip(self.documents, self.relevance, strict=True))


@dataclass(frozen=True, slots=True)
class Cited:
    """One quotation of an answer.

    `claim` is the index of the sentence that leans on it, `document` a path without suffix, `page` counts from 1 (None
    without pages), `passage` is the text of the passage it stands in, `verified` whether it stands in the stored text.
    """

    claim: int
    number: int
    document: str
    page: int | None
    quote: str
    passage: str
    verified: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question. `error` is set if nothing did; then every measure that applies counts zero.

    `ranked` are the retrieved documents, best first, each once. `answered` is None where no answer was asked for,
    else whether there is one (False: refused). `claims` are the sentences of the answer. `seconds` is wall time.
    """

    question_id: str
    ranked: tuple[str, ...] = ()
    answered: bool | None = None
    answer: str = ""
    claims: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    cited: tuple[Cited, ...] = ()
    best_score: float | None = None
    warnings: tuple[str, ...] = ()
    llm_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    searches: int = 0
    seconds: float = 0.0
    error: str | None = None
    delegation: tuple[str, ...] = field(default=())
