"""What is asked of which documents? Readers of data sets: the project's form, BEIR's, and a table that a user writes.

A reader gives the questions with their gold and the corpus. Documents are named by their path without suffix, below
the folder of documents; a gold name with its suffix works too, so that two files of one stem can be told apart.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from eval.errors import EvalError
from eval.suite import SetSpec
from eval.types import Question, Turn
from ingest.errors import ReadError
from ingest.read.encoding import decode
from ingest.tokenize import language

Row = Mapping[str, Any]
LIST_SEPARATOR = "|"
"""Between several values in one cell of a CSV."""


@dataclass(frozen=True, slots=True)
class Record:
    """A document that is held in a table instead of a file of its own."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents: those below `folder`, or `records`. `prefix` comes before the path of each, for its name."""

    folder: Path | None = None
    records: tuple[Record, ...] = ()
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class DataSet:
    """Questions over a corpus."""

    name: str
    questions: tuple[Question, ...]
    corpus: Corpus

    def namer(self) -> Callable[[str], str]:
        """Return what gives a document's name as the gold has it, from its path below the ingested folder."""
        gold = {name for question in self.questions for name in question.documents}
        gold |= {name for question in self.questions for name, _ in question.pages}

        def name(path: str) -> str:
            whole = self.corpus.prefix + path
            return whole if whole in gold else str(PurePosixPath(whole).with_suffix(""))

        return name

    def unknown_gold(self) -> list[str]:
        """Return the gold documents that the corpus does not have: a name misspelt, or a file that is gone."""
        if self.corpus.folder is None:
            here = {record.id for record in self.corpus.records}
        else:
            files, name = (one for one in self.corpus.folder.rglob("*") if one.is_file()), self.namer()
            here = {name(one.relative_to(self.corpus.folder).as_posix()) for one in files}
        return sorted({name for question in self.questions for name in question.documents} - here)


def load(spec: SetSpec, root: Path) -> DataSet:
    """Read a set; paths are relative to `root`. Raises EvalError where something is missing or malformed."""
    folder = root / spec.path
    if not folder.exists():
        raise EvalError(f"The set {spec.name} wants {folder}, which is not there: give its folder with --data.")
    readers = {"citedrag": _citedrag, "beir": _beir, "table": _table}
    questions, corpus = readers[spec.reader](spec, folder)
    kept = [one for one in questions if _wanted(spec, one)]
    if not kept:
        raise EvalError(f"The set {spec.name} has no question after its filters: look at {folder}.")
    twice = [name for name, count in Counter(one.id for one in kept).items() if count > 1]
    if twice:
        raise EvalError(f"{folder}: the id {twice[0]!r} stands twice: give every question an id of its own.")
    return DataSet(spec.name, tuple(kept), corpus)


def sample(questions: Sequence[Question], most: int | None, seed: int) -> tuple[Question, ...]:
    """Return at most `most` questions, drawn by `seed`, in the order of the set."""
    if most is None or len(questions) <= most:
        return tuple(questions)
    chosen = set(random.Random(seed).sample(range(len(questions)), most))
    return tuple(question for number, question in enumerate(questions) if number in chosen)


def _wanted(spec: SetSpec, question: Question) -> bool:
    language = spec.language is None or question.language.split("-")[0] == spec.language
    return language and (not spec.kinds or question.kind in spec.kinds)


# -- the project's own form: questions.jsonl, and docs/ or docs.jsonl


def _citedrag(spec: SetSpec, folder: Path) -> tuple[list[Question], Corpus]:
    rows = list(_jsonl(folder / "questions.jsonl"))
    bad = next((number for number, row in enumerate(rows, 1) if not ({"id", "question"} <= set(row))), None)
    if bad is not None:
        raise EvalError(f"{folder / 'questions.jsonl'}: line {bad} has no `id` or no `question`.")
    grades = _qrels(folder / "qrels.tsv") if (folder / "qrels.tsv").exists() else {}
    return [_question(row, spec, grades) for row in rows], _corpus(spec, folder)


def _question(row: Row, spec: SetSpec, grades: Mapping[str, Mapping[str, int]]) -> Question:
    """Return a question; with gold of another field (a parallel document) the snippets of its own do not count."""
    own = spec.gold == "evidence_doc_ids"
    documents = _strings(row.get(spec.gold))
    graded = grades.get(str(row["id"]), {})
    pages = row.get("evidence_pages") or {}
    return Question(
        id=str(row["id"]),
        text=str(row[spec.ask] if row.get(spec.ask) else row["question"]),
        language=str(row.get("lang", "en")),
        kind=str(row.get("type", "")),
        answerable=bool(row.get("answerable", True)),
        answers=_strings(row.get("answers")),
        parts=tuple(_strings(part) for part in row.get("answer_parts") or ()),
        documents=documents,
        relevance=tuple(graded.get(name, 1) for name in documents) if graded else (),
        snippets=_strings(row.get("evidence_text")) if own else (),
        pages=tuple((name, int(page)) for name, numbers in pages.items() for page in numbers),
        history=tuple(Turn(turn["role"], turn["text"]) for turn in row.get("history") or ()),
    )


def _corpus(spec: SetSpec, folder: Path) -> Corpus:
    below = spec.documents
    table = folder / "docs.jsonl"
    if below is None and table.exists():
        return Corpus(records=tuple(_record(row) for row in _jsonl(table)))
    documents = folder / "docs" if (folder / "docs").is_dir() else folder / "documents"
    if not (documents / (below or "")).is_dir():
        raise EvalError(f"The set {spec.name} has no documents at {documents / (below or '')}.")
    return Corpus(folder=documents / (below or ""), prefix=f"{below}/" if below else "")


def _record(row: Row) -> Record:
    text = row.get("text") or "\n".join(row.get("sentences") or ())
    return Record(str(row.get("id", row.get("_id"))), str(row.get("title") or ""), str(text))


# -- BEIR: corpus.jsonl, queries.jsonl, qrels/test.tsv (Thakur et al. 2021)


def _beir(spec: SetSpec, folder: Path) -> tuple[list[Question], Corpus]:
    found = sorted((folder / "qrels").glob("*.tsv")) or sorted(folder.glob("qrels*.tsv"))
    if not found:
        raise EvalError(f"The BEIR set {spec.name} has no qrels below {folder}.")
    chosen = next((path for path in found if path.stem == "test"), found[0])
    grades = _qrels(chosen)
    questions = []
    for row in _jsonl(folder / "queries.jsonl"):
        relevant = {name: grade for name, grade in grades.get(str(row["_id"]), {}).items() if grade > 0}
        if relevant:
            names, values = tuple(relevant), tuple(relevant.values())
            questions.append(
                Question(id=str(row["_id"]), text=str(row["text"]), documents=names, relevance=values, kind="query")
            )
    return questions, Corpus(records=tuple(_record(row) for row in _jsonl(folder / "corpus.jsonl")))


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    """Read query, document and grade, with or without a header and TREC's second column."""
    grades: dict[str, dict[str, int]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = line.split("\t") if "\t" in line else line.split()
        if len(cells) >= 3 and cells[-1].lstrip("-").isdigit():
            grades.setdefault(cells[0], {})[cells[-2]] = int(cells[-1])
    return grades


# -- a table that a user writes: CSV or JSONL beside a folder of documents


def _table(spec: SetSpec, path: Path) -> tuple[list[Question], Corpus]:
    if spec.documents is None:
        raise EvalError(f"The set {spec.name} needs `documents`: the folder that its questions are about.")
    folder = path.parent / Path(spec.documents).expanduser()
    if not folder.is_dir():
        raise EvalError(f"The set {spec.name} has no folder of documents at {folder}.")
    rows: Iterable[Row] = _jsonl(path) if path.suffix.lower() in (".jsonl", ".json", ".ndjson") else _csv(path)
    return [_user_question(number, row, path) for number, row in enumerate(rows, 1)], Corpus(folder=folder)


def _user_question(number: int, row: Row, path: Path) -> Question:
    """Return a question; its id, if it has none, follows from its text, so that a row may be moved."""
    unknown = sorted(set(row) - _COLUMNS)
    if unknown or "question" not in row:
        told = f"unknown column {unknown[0]!r}" if unknown else "there is no column `question`"
        raise EvalError(f"{path}: {told}; known are {', '.join(sorted(_COLUMNS))}.")
    text = str(row["question"] or "").strip()
    if not text or text in PLACEHOLDERS:
        raise EvalError(f"{path}: row {number} has no question of yours yet.")
    answers, documents, sentences = (_strings(row.get(name)) for name in ("answers", "documents", "sentences"))
    return Question(
        id=str(row.get("id") or "") or f"q-{hashlib.sha256(text.encode()).hexdigest()[:8]}",
        text=text,
        language=str(row.get("language") or language(text)),
        kind=str(row.get("kind") or ""),
        answerable=_answerable(row.get("answerable"), bool(answers or documents or sentences), f"{path}: row {number}"),
        answers=answers,
        documents=documents,
        snippets=sentences,
    )


def _answerable(given: Any, has_gold: bool, where: str) -> bool:
    """Read yes or no; nothing means yes where there is gold. Raises EvalError for any other word: a guess misleads."""
    word = str("" if given is None else given).strip().lower()
    if word in YES or (not word and has_gold):
        return True
    if word in NO:
        return False
    told = f"`answerable` is {word!r}" if word else "there is neither gold nor `answerable`"
    raise EvalError(f"{where}: {told}: say yes or no.")


YES, NO = {"yes", "y", "true", "1", "是", "能", "有"}, {"no", "n", "false", "0", "否", "不能", "无"}
PLACEHOLDERS = {"Replace this by a question of yours", "And this by one that the documents do not answer"}
_COLUMNS = {"id", "question", "answers", "documents", "sentences", "answerable", "language", "kind"}


def _csv(path: Path) -> Iterator[Row]:
    """Yield the rows of a table in any encoding, with commas, semicolons or tabs, as spreadsheets write them."""
    text = _text(path)
    if not text.strip():
        return
    separator = max(",;\t", key=text.split("\n", 1)[0].count)
    csv.field_size_limit(MOST_CHARACTERS)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        head = [name.strip().lower() for name in next(reader)]
        for number, cells in enumerate((one for one in reader if any(one)), 1):
            if len(cells) > len(head):
                told = f"row {number} has {len(cells)} cells, the header has {len(head)}"
                raise EvalError(f"{path}: {told}: put a cell with a {separator!r} in it into quotation marks.")
            yield dict(zip(head, cells, strict=False))
    except csv.Error as error:
        raise EvalError(f"{path} is no table: {error}.") from error


MOST_CHARACTERS = 1_000_000
"""In one cell; Python's own limit is 131,072."""


def _text(path: Path) -> str:
    try:
        return decode(path.read_bytes()).text.removeprefix("\ufeff")
    except OSError as error:
        raise EvalError(f"{path} cannot be read: {error.strerror}.") from error
    except ReadError as error:
        raise EvalError(f"{path} is no text: {error}") from error


def _strings(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(LIST_SEPARATOR) if part.strip())
    return tuple(str(one) for one in value)


def _jsonl(path: Path) -> Iterator[Row]:
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise EvalError(f"{path}: line {number} is no JSON: {error}.") from error
        if not isinstance(row, dict):
            raise EvalError(f"{path}: line {number} is no JSON object.")
        yield row
