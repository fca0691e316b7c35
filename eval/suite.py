"""What is to be measured? A suite, written in TOML: sets of questions, and variants of the settings."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from app.core.budget import DONE_THRESHOLD, Limits
from app.retrieval.search import RetrievalOptions
from eval.errors import EvalError
from ingest.chunk import TARGET_TOKENS


class SetSpec(BaseModel):
    """Which questions over which documents. `path` is relative to the folder of data.

    `documents` is a folder below the set's documents (reader `citedrag`), or the folder of documents (`table`).
    `gold` is the field with the gold documents, `ask` the field that is asked. `answers` false measures retrieval
    alone; `questions` is how many are drawn (all if absent, unless the suite says).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[\w.-]+$")
    reader: Literal["citedrag", "beir", "table"] = "citedrag"
    path: str
    documents: str | None = None
    language: str | None = None
    kinds: tuple[str, ...] = ()
    gold: str = "evidence_doc_ids"
    ask: str = "question"
    answers: bool = True
    questions: int | None = Field(None, ge=1)


class Variant(BaseModel):
    """Settings that a suite is run with. What is absent is as the program has it.

    `chunk_tokens` closes a chunk, `chunking` is how a text is cut (see `eval.cutting`); `dense`, `lexical` and
    `reranked` (0: none) choose the stages of retrieval; `done` and `writer` are the thresholds on the reranker's
    probability; `answers` false measures retrieval alone. `seed` changes only the order of the questions.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field("default", pattern=r"^[\w.-]+$")
    embedder: str | None = None
    reranker: str | None = None
    chunk_tokens: int = Field(TARGET_TOKENS, ge=16, le=100_000)
    chunking: Literal["structure", "fixed", "recursive", "semantic"] = "structure"
    dense: bool = True
    lexical: bool = True
    candidates: int = Field(60, ge=1, le=1000)
    reranked: int = Field(20, ge=0, le=1000)
    done: float = Field(DONE_THRESHOLD, ge=0, le=1)
    writer: float = Field(Limits().writer_threshold, ge=0, le=1)
    mode: Literal["auto", "direct", "research"] = "auto"
    answers: bool = True
    seed: int = 0

    def retrieval(self) -> RetrievalOptions:
        """Return how this variant searches."""
        return RetrievalOptions(self.dense, self.lexical, self.candidates, self.reranked)

    def limits(self) -> Limits:
        """Return this variant's limits."""
        return Limits(done_threshold=self.done, writer_threshold=self.writer)


class Suite(BaseModel):
    """Sets by variants. `require` names the least value of a mean, `SET/VARIANT/MEASURE = 0.5`, or `most` its limit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[\w.-]+$")
    about: str = ""
    seed: int = 7
    questions: int | None = Field(None, ge=1)
    concurrency: int = Field(2, ge=1, le=64)
    sets: tuple[SetSpec, ...] = Field(min_length=1)
    variants: tuple[Variant, ...] = (Variant.model_construct(),)
    require: dict[str, float] = Field(default_factory=dict)
    most: dict[str, float] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _distinct(self) -> Suite:
        for names in ([one.name for one in self.sets], [one.name for one in self.variants]):
            if len(set(names)) < len(names):
                raise ValueError(f"a name stands twice among {', '.join(names)}")
        return self


def suite_names() -> list[str]:
    """Return the suites that come with the program."""
    folder = files("eval").joinpath("suites")
    return sorted(one.name.removesuffix(".toml") for one in folder.iterdir() if one.name.endswith(".toml"))


def read_suite(given: str) -> tuple[Suite, Path | None]:
    """Return a suite by name or file, and the folder of its file (None: it came with the program). Raises EvalError."""
    path = Path(given)
    if path.is_file():
        return _parse(path.read_bytes(), str(path)), path.resolve().parent
    if given in suite_names():
        return _parse(files("eval").joinpath("suites", f"{given}.toml").read_bytes(), given), None
    raise EvalError(f"There is no suite {given!r}: give a TOML file, or one of {', '.join(suite_names())}.")


def _parse(text: bytes, name: str) -> Suite:
    try:
        return Suite.model_validate(tomllib.loads(text.decode("utf-8-sig")))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise EvalError(f"The suite {name} is no TOML: {error}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        what = "is no key that a suite has" if first["type"] == "extra_forbidden" else first["msg"]
        raise EvalError(f"The suite {name}: {where}: {what}.") from error
