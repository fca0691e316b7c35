"""Which suites, measures and runs are there?"""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console

from eval.measures import MEASURES
from eval.suite import read_suite, suite_names
from eval.workspace import Workspace

Json = dict[str, Any]


def listing(workspace: Workspace) -> Json:
    """Return them as plain data, the newest run first."""
    suites = [read_suite(name)[0] for name in suite_names()]
    paths = sorted(workspace.runs.glob("*.json"), key=lambda one: -one.stat().st_mtime)
    return {
        "suites": [
            {"name": one.name, "about": one.about, "sets": [entry.name for entry in one.sets],
             "variants": [entry.name for entry in one.variants]}
            for one in suites
        ],
        "measures": [
            {"name": one.name, "better": one.better, "says": one.says} for one in MEASURES.values()
        ],
        "runs": [_run(path.read_text(encoding="utf-8")) for path in paths],
    }  # fmt: skip


def _run(text: str) -> Json:
    data = json.loads(text)
    return {
        "id": data["id"], "suite": data["suite"], "model": data["model"], "created": data["created"],
        "questions": sum(cell["questions"] for cell in data["cells"]),
    }  # fmt: skip


def show(found: Json, console: Console) -> None:
    """Print them."""
    console.print("[bold]Suites[/]")
    for one in found["suites"]:
        console.print(f"  {one['name']}: {one['about']} Sets: {', '.join(one['sets'])}.", highlight=False)
    console.print("[bold]Measures[/]")
    for one in found["measures"]:
        console.print(f"  {one['name']} ({one['better']} is better): {one['says']}", highlight=False)
    console.print("[bold]Runs[/]")
    for one in found["runs"]:
        console.print(f"  {one['id']}  {one['questions']} questions, {one['model']}", highlight=False)
    if not found["runs"]:
        console.print("  none yet: citedrag eval run SUITE")
