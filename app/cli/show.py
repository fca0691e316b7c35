"""How do answers, plans and reports look in a terminal?"""

from __future__ import annotations

import json
import sys
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

__all__ = ["as_json", "console", "documents", "escape", "event", "notes"]
__all__ += ["plan", "report", "result", "runs", "search", "verification"]

Json = dict[str, Any]

console = Console(highlight=False)
notes = Console(stderr=True, highlight=False)


def as_json(value: Any) -> None:
    """Print an object for programs."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def result(found: Json) -> None:
    """Print an answer with its numbered citations, or a refusal with what is missing, or the plan that waits."""
    if found["status"] == "awaiting_approval":
        plan(found)
        return
    console.print(escape(found["answer"] or ""), style=None if not found["refused"] else "yellow")
    if found["citations"]:
        console.print()
    for citation in found["citations"]:
        _citation(citation)
    _gaps(found["gaps"])
    for warning in found["warnings"]:
        notes.print(f"[yellow]! {escape(warning['code'])}[/]: {escape(warning['message'])}")
    notes.print(f"[dim]run {found['run_id']} · {found['status']} · {' > '.join(found['delegation_path'])}[/]")


def _citation(citation: Json) -> None:
    document = citation["document"]
    place = [escape(document["path"])]
    if citation["page"] is not None:
        place.append(f"page {escape(str(citation['page_label'] or citation['page']))}")
    if any(quote.get("ocr") for quote in citation["quotes"]):
        place.append("read by OCR")
    if citation["headings"]:
        place.append(escape(" > ".join(citation["headings"])))
    console.print(
        f"[bold cyan]\\[{citation['number']}][/] [bold]{escape(document['title'])}[/] [dim]{', '.join(place)}[/]"
    )
    for text in dict.fromkeys(quote["text"] for quote in citation["quotes"]):
        console.print(f"    “{escape(' '.join(text.split()))}”", style="dim")


def _gaps(gaps: list[Json]) -> None:
    for gap in gaps:
        console.print(f"[yellow]Missing:[/] {escape(gap['missing'])} [dim]({gap['reason']})[/]")
        for near in gap["nearest"][:3]:
            page = f", page {near['page']}" if near["page"] is not None else ""
            console.print(
                f"    [dim]nearest: {escape(near['document']['path'])}{page}, score {near['score']:.2f}:"
                f" {escape(near['why_not'])}[/]"
            )


def plan(found: Json) -> None:
    """Print a plan with its price and how to decide."""
    table = Table(title=f"Plan {found['plan_version']} waits for approval", title_justify="left")
    table.add_column("Task")
    table.add_column("Question")
    table.add_column("Query")
    for task in found["research_tasks"]:
        table.add_row(escape(task["id"]), escape(task["question"]), escape(task["query"]))
    console.print(table)
    price = found["estimate"]
    console.print(
        "Price: "
        + ", ".join(
            f"{name.replace('_', ' ')} {price[name]['low']:g} to {price[name]['high']:g}"
            for name in ("llm_calls", "tokens_in", "tokens_out")
            if name in price
        )
    )
    run_id = found["run_id"]
    notes.print(f"[bold]citedrag runs approve {run_id}[/]   or   [bold]citedrag runs cancel {run_id}[/]")
    notes.print(f"[dim]to edit: citedrag runs approve {run_id} --task 'QUESTION' --task 'QUESTION'[/]")


def event(kind: str, data: Json) -> None:
    """Print one line about what a run is doing, to the error stream."""
    lines = {
        "route": lambda: f"{data['role']} ({data['reason']})",
        "task_started": lambda: f"searching: {data['query']}",
        "task_finished": lambda: f"{data['task_id']}: {data['status']}, {data['found']} passages",
        "claim_removed": lambda: f"removed: {data['text']} ({data['reason']})",
    }
    if kind in lines:
        notes.print(f"[dim]· {escape(lines[kind]())}[/]")


def search(found: Json) -> None:
    """Print passages with their scores."""
    table = Table("#", "rerank", "dense", "bm25", "where", "text")
    for passage in found["passages"]:
        if passage["cut"] not in (None, "threshold"):
            continue
        scores = passage["scores"]
        page = f" p. {passage['page']}" if passage["page"] is not None else ""
        table.add_row(
            str(passage["rank"]),
            *(("" if scores[name] is None else f"{scores[name]:.2f}") for name in ("rerank", "dense", "bm25")),
            escape(passage["document"]["path"] + page),
            escape(" ".join(passage["text"].split())[:160]),
        )
    console.print(table)


def report(found: Json) -> None:
    """Print what happened to each file that is not simply unchanged, and the totals."""
    for file in found["files"]:
        if file["status"] != "unchanged":
            colour = "green" if file["status"] in ("indexed", "removed", "duplicate") else "yellow"
            chunks = f", {file['chunks']} chunks" if file["chunks"] else ""
            chunks += ", read by OCR" if file["ocr"] else ""
            reason = f" ({escape(file['reason'])})" if file["reason"] else ""
            console.print(f"[{colour}]{file['status']:>12}[/] {escape(file['path'])}{chunks}{reason}")
    totals = ", ".join(f"{count} {status}" for status, count in sorted(found["totals"].items())) or "no files"
    spent = f"{found['embedded']} texts embedded, {found['written']} chunks written"
    console.print(f"{totals} in {found['seconds']:.1f} s; {spent}")


def _table(first: str, *others: str) -> Table:
    """Return a table whose first column, an id that is copied into the next command, is never cut."""
    table = Table()
    table.add_column(first, no_wrap=True, overflow="ignore", min_width=36)
    for name in others:
        table.add_column(name)
    return table


def documents(found: Json) -> None:
    """Print the documents."""
    table = _table("id", "status", "pages", "language", "path", "title")
    for item in found["items"]:
        table.add_row(
            item["id"], item["status"], str(item["pages"] or ""), item["language"], escape(item["path"]),
            escape(item["title"]),
        )  # fmt: skip
    console.print(table)
    console.print(f"{len(found['items'])} of {found['total']}")


def runs(found: Json) -> None:
    """Print the runs."""
    table = _table("run", "status", "question")
    for item in found["items"]:
        table.add_row(item["run_id"], item["status"], escape(item["question"]))
    console.print(table)


def verification(found: Json) -> None:
    """Print the outcome of each check."""
    for citation in found["citations"]:
        mark = "[green]ok[/]" if citation["ok"] else "[red]failed[/]"
        console.print(f"\\[{citation['number']}] {mark} {escape(citation['reason'] or '')}")
    console.print(f"{'every citation verifies' if found['ok'] else 'NOT verified'} (level {found['level']})")


def ingesting(at: Json, elapsed: float) -> Json:
    """Return what a bar shows of an ingestion: files, pages, files a second, the file at hand."""
    rate = f"{at['done'] / elapsed:.1f}/s" if elapsed >= 1.0 else ""
    pages = f"{at['pages']} pages" if at.get("pages") else ""
    return {
        "total": at["total"], "completed": at["done"], "description": escape(at["path"]), "pages": pages, "rate": rate,
    }  # fmt: skip
