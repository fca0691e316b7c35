"""Run the measuring commands with `python -m eval`."""

from eval.cli import verb

verb()
