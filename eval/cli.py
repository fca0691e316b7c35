"""Which measuring commands are there?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

verb = typer.Typer(no_args_is_help=True, help="Measure and fit.")


@verb.callback()
def _root() -> None:
    """Measure and fit."""


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
