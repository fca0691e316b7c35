"""Which commands are there?"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from app.cli import show
from app.cli.backend import EXIT_BUSY, EXIT_BY_STATUS, EXIT_FAILED, EXIT_USAGE, Backend, CommandError, running_server
from app.errors import CitedragError
from app.settings import Settings
from ingest.errors import IndexBusy, IngestError

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Cited answers from a folder of documents.")
runs = typer.Typer(no_args_is_help=True, help="Look at runs, approve their plans, resume and verify them.")
documents = typer.Typer(no_args_is_help=True, help="Look at the documents of the corpus.")
app.add_typer(runs, name="runs")
app.add_typer(documents, name="documents")

AsJson = Annotated[bool, typer.Option("--json", help="Print the object that HTTP returns.")]
Home = Annotated[Path | None, typer.Option("--home", help="Where everything is kept [default: .citedrag].")]
Level = Literal["stored", "source"]
RunId = Annotated[str, typer.Argument(help="The run's id.")]


@contextmanager
def _backend(home: Path | None) -> Iterator[Backend]:
    """Open the running server, or this process's own services; errors end the command with a message and a code."""
    settings = Settings() if home is None else Settings(home=home)
    backend: Backend | None = None
    try:
        server = running_server(settings.home)
        if server is not None:
            from app.cli.remote import RemoteBackend

            backend = RemoteBackend(server["url"], server.get("token"))
        else:
            from app.cli.local import LocalBackend

            backend = LocalBackend(settings)
        yield backend
    except CommandError as error:
        show.notes.print(f"[red]{show.escape(str(error))}[/]")
        raise typer.Exit(error.exit_code) from error
    except OSError as error:
        show.notes.print(f"[red]{show.escape(f'{error.filename or settings.home}: {error.strerror}')}[/]")
        raise typer.Exit(EXIT_FAILED) from error
    finally:
        if backend is not None:
            backend.close()


@app.command()
def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Folders or files.")],
    strict: Annotated[bool, typer.Option("--strict", help="Files without text count as failures.")] = False,
    json: AsJson = False,
    home: Home = None,
) -> None:
    """Make documents searchable. A second run costs almost nothing; deleted files are forgotten."""
    for path in paths:
        if not path.exists():
            show.notes.print(f"[red]{path} does not exist.[/]")
            raise typer.Exit(EXIT_USAGE)
    with _backend(home) as backend:
        report = _with_progress(backend, paths)
    show.as_json(report) if json else show.report(report)
    bad = {"failed", "timed_out"} | (
        {"no_text", "partial", "encrypted", "unsupported", "too_large"} if strict else set()
    )
    if bad & set(report["totals"]):
        raise typer.Exit(EXIT_FAILED)


def _with_progress(backend: Backend, paths: list[Path]) -> dict[str, Any]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    counts = (MofNCompleteColumn(), TextColumn("files {task.fields[pages]} {task.fields[rate]}"))
    columns = (BarColumn(), *counts, TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=show.notes, transient=True) as bar:
        task = bar.add_task("opening", total=None, pages="", rate="")
        return backend.ingest(paths, lambda at: bar.update(task, **show.ingesting(at, bar.tasks[0].elapsed or 0.0)))


@app.command()
def ask(
    question: str,
    mode: Annotated[str, typer.Option(help="auto, direct or research.")] = "auto",
    approval: Annotated[str, typer.Option(help="auto, always or never.")] = "auto",
    no_checkpoint: Annotated[bool, typer.Option("--no-checkpoint", help="Keep nothing, never pause.")] = False,
    json: AsJson = False,
    home: Home = None,
) -> None:
    """Answer a question with checked citations, or say what is missing."""
    request = {"question": question, "mode": mode, "approval": approval}
    quiet = json or not sys.stderr.isatty()
    with _backend(home) as backend:
        found = backend.answer(request) if no_checkpoint else backend.ask(request, _listener(quiet))
    _finish(found, json)


def _listener(quiet: bool) -> Any:
    return (lambda kind, data: None) if quiet else show.event


def _finish(found: dict[str, Any], json: bool) -> None:
    show.as_json(found) if json else show.result(found)
    code = EXIT_BY_STATUS.get(found["status"], EXIT_FAILED)
    if code:
        raise typer.Exit(code)


@app.command()
def search(
    query: str,
    limit: Annotated[int, typer.Option(min=1, max=50)] = 10,
    json: AsJson = False,
    home: Home = None,
) -> None:
    """Search without answering, with every score."""
    with _backend(home) as backend:
        found = backend.search(query, limit)
    show.as_json(found) if json else show.search(found)


@app.command()
def demo(
    question: Annotated[str | None, typer.Argument(help="Another question.")] = None,
    json: AsJson = False,
    home: Home = None,
) -> None:
    """Ingest the demonstration corpus and answer a question from it."""
    from app.demo import demo_corpus, demo_question

    folder = demo_corpus()
    if folder is None:
        show.notes.print("[red]The demonstration corpus lies in the project's checkout: run this there.[/]")
        raise typer.Exit(EXIT_USAGE)
    asked = question or demo_question(folder)
    with _backend(home) as backend:
        report = _with_progress(backend, [folder / "documents"])
        if not json:
            show.report(report)
            show.console.print(f"\n[bold]{show.escape(asked)}[/]\n")
        found = backend.ask({"question": asked, "mode": "auto", "approval": "auto"}, _listener(True))
    _finish(found, json)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on [default: 127.0.0.1].")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port [default: 8765]; 0 takes a free one.")
    ] = None,
    root: Annotated[list[Path] | None, typer.Option(help="A folder that HTTP may ingest; repeatable.")] = None,
    home: Home = None,
) -> None:
    """Serve the page and the HTTP interface."""
    from app.server import serve as run_server

    changes = {"home": home, "host": host, "port": port, "ingest_roots": root}
    settings = Settings().model_copy(update={name: value for name, value in changes.items() if value is not None})
    if running_server(settings.home) is not None:
        show.notes.print("[red]A server is running on this home already; see server.json there.[/]")
        raise typer.Exit(EXIT_BUSY)
    try:
        run_server(settings)
    except IndexBusy as error:
        show.notes.print(f"[red]{show.escape(str(error))}[/]")
        raise typer.Exit(EXIT_BUSY) from error
    except (CitedragError, IngestError) as error:
        show.notes.print(f"[red]{show.escape(str(error))}[/]")
        raise typer.Exit(EXIT_FAILED) from error


@app.command()
def reindex(
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Make the index anew, from the kept texts.")] = False,
    home: Home = None,
) -> None:
    """Bring the index in line with the catalog; after another embedding model was set, with `--rebuild`."""
    with _backend(home) as backend:
        show.console.print(f"{backend.reindex(rebuild)} chunks written")


@app.command()
def graph(home: Home = None) -> None:
    """Print the graph as Mermaid."""
    with _backend(home) as backend:
        show.console.print(backend.graph(), markup=False, soft_wrap=True)


@runs.command("list")
def runs_list(
    status: Annotated[str | None, typer.Option(help="Only runs with this status.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 20,
    json: AsJson = False,
    home: Home = None,
) -> None:
    """List the runs, newest first."""
    with _backend(home) as backend:
        found = backend.runs(status, limit)
    show.as_json(found) if json else show.runs(found)


@runs.command("show")
def runs_show(run_id: RunId, json: AsJson = False, home: Home = None) -> None:
    """Show a run's answer, or the plan that waits."""
    with _backend(home) as backend:
        found = backend.run(run_id)
    show.as_json(found) if json else show.result(found)


@runs.command("approve")
def runs_approve(
    run_id: RunId,
    task: Annotated[list[str] | None, typer.Option(help="Replace the plan by these questions; repeatable.")] = None,
    plan_version: Annotated[int | None, typer.Option(help="Only if the plan is still this version.")] = None,
    json: AsJson = False,
    home: Home = None,
) -> None:
    """Approve a waiting plan, with `--task` an edited one, and follow the run."""
    body: dict[str, Any] = {"decision": "edit" if task else "approve", "plan_version": plan_version}
    if task:
        body["tasks"] = [{"question": one, "query": one} for one in task]
    with _backend(home) as backend:
        found = backend.approve(run_id, body, _listener(json or not sys.stderr.isatty()))
    _finish(found, json)


@runs.command("cancel")
def runs_cancel(run_id: RunId, json: AsJson = False, home: Home = None) -> None:
    """Cancel a run, or the plan that waits."""
    with _backend(home) as backend:
        found = backend.cancel(run_id)
    show.as_json(found) if json else show.result(found)


@runs.command("resume")
def runs_resume(run_id: RunId, json: AsJson = False, home: Home = None) -> None:
    """Go on with a run that was interrupted."""
    with _backend(home) as backend:
        found = backend.resume(run_id, _listener(json or not sys.stderr.isatty()))
    _finish(found, json)


@runs.command("verify")
def runs_verify(
    run_id: RunId,
    level: Annotated[Level, typer.Option(help="stored: against the stored text; source: against the file.")] = "stored",
    json: AsJson = False,
    home: Home = None,
) -> None:
    """Check every citation of a run again."""
    with _backend(home) as backend:
        found = backend.verify(run_id, level)
    show.as_json(found) if json else show.verification(found)
    if not found["ok"]:
        raise typer.Exit(EXIT_FAILED)


@documents.command("list")
def documents_list(
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 100,
    offset: Annotated[int, typer.Option(min=0)] = 0,
    json: AsJson = False,
    home: Home = None,
) -> None:
    """List the documents with their statuses."""
    with _backend(home) as backend:
        found = backend.documents(limit, offset)
    show.as_json(found) if json else show.documents(found)


@documents.command("show")
def documents_show(document_id: str, json: AsJson = False, home: Home = None) -> None:
    """Show a document's record and text."""
    with _backend(home) as backend:
        found = backend.document(document_id)
    if json:
        show.as_json(found)
        return
    for name in ("path", "title", "status", "reason", "version", "sha256", "language", "encoding", "pages"):
        show.console.print(f"{name}: {found[name]}", markup=False)
    if found["ocr_pages"]:
        pages = ", ".join(map(str, found["ocr_pages"]))
        show.console.print(f"read by OCR ({found['ocr_languages']}): page {pages}", markup=False)
    show.console.print(f"\n{found.get('text') or ''}", markup=False)


@documents.command("remove")
def documents_remove(document_id: str, home: Home = None) -> None:
    """Take a document out of the corpus; the file stays."""
    with _backend(home) as backend:
        backend.remove(document_id)
    show.console.print("removed")


def main() -> None:
    """Run the command line."""
    os.environ.setdefault("LANGGRAPH_STRICT_MSGPACK", "true")
    for verb in entry_points(group="citedrag.verbs"):
        try:
            app.add_typer(verb.load(), name=verb.name)
        except ImportError as error:
            show.notes.print(f"[yellow]`{verb.name}` is not available: {show.escape(str(error))}[/]")
    app()
