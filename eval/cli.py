"""Which measuring commands are there?"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from app.errors import CitedragError
from app.settings import Settings
from eval.errors import EvalError
from ingest.errors import IngestError

verb = typer.Typer(no_args_is_help=True, help="Measure: run suites, compare runs, benchmarks, the gate.")
bench = typer.Typer(no_args_is_help=True, help="Speed and memory beside a reference, in one run.")
verb.add_typer(bench, name="bench")
console = Console()
notes = Console(stderr=True)

EXIT_FAILED = 1
EXIT_USAGE = 2

AsJson = Annotated[bool, typer.Option("--json", help="Print plain data.")]
Data = Annotated[Path | None, typer.Option("--data", help="Folder that the paths of the suite's sets are below.")]
Out = Annotated[Path | None, typer.Option("--out", help="Where corpora, records and runs are kept [HOME/eval].")]


@verb.callback()
def _root() -> None:
    """Measure and fit."""


@verb.command()
def run(
    suite: Annotated[str, typer.Argument(help="A suite's file, or the name of one that comes with the program.")],
    data: Data = None,
    out: Out = None,
    only: Annotated[list[str] | None, typer.Option("--set", help="Only this set; repeatable.")] = None,
    variant: Annotated[list[str] | None, typer.Option("--variant", help="Only this variant; repeatable.")] = None,
    questions: Annotated[int | None, typer.Option(min=1, help="At most so many questions of each set.")] = None,
    intervals: Annotated[bool, typer.Option("--intervals", help="Show the 95 % interval of every mean.")] = False,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables as Markdown to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run a suite: every set under every variant. An interrupted run goes on where it stopped."""
    with _told():
        from eval import report, runs
        from eval.requirements import check, unmet
        from eval.selection import chosen
        from eval.suite import read_suite

        found, beside = read_suite(suite)
        check(found)
        _writable(_workspace(out).runs, markdown)
        found = chosen(found, only or [], variant or [], questions)
        done = _run(found, data or beside or _own_data(), out)
        path = runs.save(done, _workspace(out).runs)
        if markdown is not None:
            markdown.write_text(report.markdown(done), encoding="utf-8")
        missed = unmet(found, done)
        if as_json:
            _print_json({**report.summary(done), "missed": missed})
        else:
            report.show(done, console, intervals=intervals)
            console.print(f"Kept in {path}; every outcome in the files below {_workspace(out).records('x').parent}",
                          soft_wrap=True, markup=False, highlight=False)  # fmt: skip
        for line in missed:
            notes.print(line, style="red", markup=False, soft_wrap=True)
        if missed or any(cell.failed for cell in done.cells):
            raise typer.Exit(EXIT_FAILED)


@verb.command()
def compare(
    left: Annotated[str, typer.Argument(help="A run: its file, or the beginning of its id.")],
    right: Annotated[str | None, typer.Argument(help="The run that is judged; left out with --variants.")] = None,
    variants: Annotated[str | None, typer.Option(help="Two variants of one run: LEFT,RIGHT.")] = None,
    measure: Annotated[list[str] | None, typer.Option("--measure", help="Only this measure; repeatable.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Show also what makes no difference.")] = False,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Say where the right side is better or worse, on the same questions, and where it makes no difference."""
    with _told():
        from eval import comparison, runs
        from eval.measures import known

        names = known(measure or [])
        folder = _workspace(out).runs
        first = runs.read(left, folder)
        if variants is not None:
            one, _, other = variants.partition(",")
            rows = comparison.compare_variants(first, one.strip(), other.strip(), names)
        elif right is not None:
            second = runs.read(right, folder)
            rows = comparison.compare_runs(first, second, names)
            if alone := comparison.left_out(first, second):
                _note(f"{alone} questions have no partner with the same text and gold, and are left out.")
        else:
            raise typer.BadParameter("give two runs, or one run and --variants LEFT,RIGHT")
        if as_json:
            _print_json([row.to_json() for row in rows])
        else:
            comparison.show(rows, console, every=every)


@verb.command("list")
def list_(out: Out = None, as_json: AsJson = False) -> None:
    """List the suites that come with the program, the measures, and the runs that were made."""
    with _told():
        from eval.listing import listing, show

        found = listing(_workspace(out))
        if as_json:
            _print_json(found)
        else:
            show(found, console)


@verb.command()
def new(
    target: Annotated[Path, typer.Argument(help="Folder for the suite and its table of questions.")],
    documents: Annotated[Path, typer.Argument(help="Folder of the documents that the questions are about.")],
) -> None:
    """Start a suite of your own: a CSV of questions to fill in, and the suite that runs them."""
    with _told():
        from eval.scaffold import scaffold

        suite, questions = scaffold(target, documents)
        told = f"Fill in {questions}, then: citedrag eval run {shlex.quote(str(suite))}"
        console.print(told, soft_wrap=True, markup=False, highlight=False)


@verb.command()
def gate(
    update: Annotated[bool, typer.Option("--update", help="Make the present figures the baseline.")] = False,
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Run the project's own questions against the committed baseline; exit code 1 if something became worse."""
    with _told():
        from eval import comparison
        from eval import gate as gates
        from eval.suite import read_suite

        suite, _ = read_suite(gates.SUITE)
        done = _run(suite, gates.own_data(), out, default=True)
        if update:
            gates.write_baseline(done)
            console.print(f"Written to {gates.baseline_path()}", soft_wrap=True)
            return
        verdict = gates.judge(done, gates.read_baseline())
        if as_json:
            rows = [row.to_json() for row in verdict.rows]
            _print_json({"passed": verdict.passed, "worse": verdict.worse, "rows": rows})
        else:
            comparison.show(verdict.rows, console, every=True)
            for line in verdict.worse:
                notes.print(line, style="red", markup=False, soft_wrap=True)
            console.print("The gate is passed." if verdict.passed else "The gate is not passed.")
        if not verdict.passed:
            raise typer.Exit(EXIT_FAILED)


@verb.command("fit-rerank")
def fit_rerank(
    data: Annotated[Path, typer.Argument(help="Folder with the evaluation sets.")],
    questions: Annotated[int, typer.Option(min=10, help="Questions taken from each set.")] = 120,
    write: Annotated[bool, typer.Option("--write", help="Replace the committed coefficients.")] = False,
) -> None:
    """Fit the provisional reranker on open sets, and print how it ranks and separates on questions left out."""
    from eval.fit_rerank import fit, save

    found = fit(data, questions)
    typer.echo(found.summary())
    if write:
        save(found)


@bench.command("ingest")
def bench_ingest(
    folder: Annotated[Path | None, typer.Argument(help="Folder to ingest; left out, one is made.")] = None,
    files: Annotated[int, typer.Option(min=1, help="Files of the folder that is made.")] = 60,
    repeats: Annotated[int, typer.Option(min=1, help="Times that everything is measured.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Ingestion: each stage, memory, a second run; beside embedding alone and beside reading with pypdf."""
    with _told():
        from eval import bench as benches

        _show_bench(benches.bench_ingest(Settings(), folder, files=files, repeats=repeats, progress=_note), as_json)


@bench.command("search")
def bench_search(
    chunks: Annotated[list[int] | None, typer.Option(min=10, help="Sizes of the corpus; repeatable.")] = None,
    queries: Annotated[int, typer.Option(min=1, help="Queries at each size.")] = 200,
    as_json: AsJson = False,
) -> None:
    """Search by size of the corpus: p50, p95, memory; beside NumPy brute force and rank-bm25."""
    with _told():
        from eval import bench as benches

        _show_bench(benches.bench_search(chunks or (1_000, 10_000), queries=queries, progress=_note), as_json)


@bench.command("answer")
def bench_answer(
    folder: Annotated[Path | None, typer.Argument(help="Folder to ask; left out, the demonstration corpus.")] = None,
    count: Annotated[int, typer.Option(min=1, help="Questions.")] = 8,
    repeats: Annotated[int, typer.Option(min=1, help="Times that each is asked.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Answers whole, with checkpoints: what is the model's time and what is ours; beside a bare model call."""
    with _told():
        from eval import bench as benches

        _show_bench(benches.bench_answer(Settings(), folder, count=count, repeats=repeats, progress=_note), as_json)


def _show_bench(found: Any, as_json: bool) -> None:
    from eval import bench as benches

    _print_json(found.to_json()) if as_json else benches.show(found, console)


def _note(text: str) -> None:
    notes.print(text, highlight=False)


@contextmanager
def _told() -> Iterator[None]:
    """End with a message: exit code 2 where a suite, a set or a run cannot be used as it is, else 1."""
    try:
        yield
    except (CitedragError, IngestError, OSError) as error:
        told = f"{error.filename}: {error.strerror}." if isinstance(error, OSError) else str(error)
        notes.print(told, style="red", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(EXIT_USAGE if isinstance(error, EvalError) else EXIT_FAILED) from error


def _writable(runs: Path, markdown: Path | None) -> None:
    """Raise before the work, not after it, where its results could not be written."""
    runs.mkdir(parents=True, exist_ok=True)
    if markdown is not None and (markdown.is_dir() or not markdown.resolve().parent.is_dir()):
        raise EvalError(f"{markdown} cannot be written: it is a folder, or its folder is missing.")


def _run(suite: Any, data: Path, out: Path | None, *, default: bool = False) -> Any:
    from eval.progress import shown
    from eval.runner import Runner
    from eval.runs import measured

    settings = Settings()
    if default:
        plain = {name: Settings.model_fields[name].default for name in ("embedder", "reranker", "openai_api_key")}
        settings = settings.model_copy(update=plain)
    with shown(notes) as progress:
        cells = Runner(_workspace(out), settings, progress).run(suite, data)
    return measured(cells, suite.name, settings.model if settings.uses_model else "extractive")


def _workspace(out: Path | None) -> Any:
    from eval.workspace import Workspace

    return Workspace(out or Settings().home / "eval")


def _own_data() -> Path:
    from eval.gate import own_data

    return own_data()


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2))
