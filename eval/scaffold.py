"""How does someone start measuring on documents of their own? A suite and a table of questions to fill in."""

from __future__ import annotations

from pathlib import Path

from eval.errors import EvalError

_SUITE = """\
# What is measured: `citedrag eval run {suite}`
name = "{name}"

[[sets]]
name = "{name}"
reader = "table"
path = "questions.csv"
documents = {documents}

[[variants]]
name = "default"

# Another variant changes one thing; `citedrag eval compare RUN --variants default,larger-chunks` says if it matters.
# [[variants]]
# name = "larger-chunks"
# chunk_tokens = 400

# `citedrag eval run` ends with exit code 1 if a mean is below what is required.
# [require]
# "{name}/default/answered_correct" = 0.6
# [most]
# "{name}/default/false_answer" = 0.15
"""

_QUESTIONS = """\
question,answers,documents,sentences,answerable
"Replace this by a question of yours","an answer|another way to write it","folder/name","the sentence that holds it",yes
"And this by one that the documents do not answer","","","",no
"""


def scaffold(target: Path, documents: Path) -> list[Path]:
    """Write a suite and its questions into the folder `target`. Raises EvalError rather than overwrite a file."""
    if not documents.is_dir():
        raise EvalError(f"There is no folder of documents at {documents}.")
    suite, questions = target / "suite.toml", target / "questions.csv"
    for path in (suite, questions):
        if path.exists():
            raise EvalError(f"{path} is there already: choose another folder.")
    if target.exists() and not target.is_dir():
        raise EvalError(f"{target} is a file: choose another name for the folder.")
    if not any(one.is_file() for one in documents.rglob("*")):
        raise EvalError(f"There is no file in {documents}.")
    target.mkdir(parents=True, exist_ok=True)
    name = "".join(char if char.isalnum() or char in "-_" else "-" for char in target.resolve().name) or "own"
    place = _toml(str(documents.resolve()))
    suite.write_text(_SUITE.format(suite=suite, name=_ascii(name), documents=place), encoding="utf-8")
    questions.write_text(_QUESTIONS, encoding="utf-8")
    return [suite, questions]


def _toml(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _ascii(name: str) -> str:
    return name if name.isascii() else "own"
