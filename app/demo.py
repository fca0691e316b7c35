"""Where is the demonstration corpus, and what is asked of it first?"""

from __future__ import annotations

import json
from pathlib import Path


def demo_corpus() -> Path | None:
    """Return the folder `corpus` of the checkout, or None where the program is installed without it."""
    folder = Path(__file__).resolve().parent.parent / "corpus"
    return folder if (folder / "documents").is_dir() else None


def demo_question(folder: Path) -> str:
    """Return the corpus's first question."""
    found: dict[str, str] = json.loads((folder / "demo.json").read_text(encoding="utf-8"))
    return found["question"]
