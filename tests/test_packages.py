"""The three packages are those of this checkout, and keep to their layers."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("name", ["app", "ingest", "eval"])
def test_a_package_is_the_one_of_this_checkout(name: str) -> None:
    file = importlib.import_module(name).__file__
    assert file is not None
    assert Path(file).resolve() == ROOT / name / "__init__.py"


def test_the_layers_hold() -> None:
    code = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("app.cli", ["torch", "transformers", "litestar", "langgraph", "openai", "qdrant_client"]),
        ("app.wiring", ["torch", "transformers", "litestar", "openai"]),
    ],
)
def test_what_a_command_does_not_use_is_not_loaded(module: str, heavy: list[str]) -> None:
    code = f"import sys, {module}; print([name for name in {heavy} if name in sys.modules])"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"
