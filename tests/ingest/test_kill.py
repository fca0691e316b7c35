"""An ingestion that is killed at any moment, and the one after it: nothing is lost, doubled or left over."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ingest.catalog import Catalog
from ingest.embed.hashing import HashingEmbedder
from ingest.index.edge import EdgeIndex
from ingest.library import Library
from ingest.settings import IngestSettings

KILLS = 50
FILES = 60
WORDS = ("ferry", "berth", "tide", "lamp", "rope", "deck", "winch", "mast", "hull", "crane", "渡轮", "泊位", "潮汐")

CHILD = """
import sys
from pathlib import Path
from tests.ingest.test_kill import opened
library = opened(Path(sys.argv[1]))
print("ready", flush=True)
library.ingest([Path(sys.argv[2])])
print("done", flush=True)
library.close()
"""


def opened(home: Path) -> Library:
    settings = IngestSettings(home=home)
    home.mkdir(exist_ok=True)
    model = HashingEmbedder()
    index = EdgeIndex.open(settings.index_path, model=model.name, dimension=model.dimension)
    return Library(settings, Catalog(settings.catalog_path), index, model)


def write_folder(folder: Path) -> None:
    folder.mkdir()
    draw = random.Random(3)
    for number in range(FILES):
        lines = [" ".join(draw.choices(WORDS, k=12)) + "." for _ in range(draw.randint(1, 60))]
        (folder / f"{number:03d}.md").write_text(f"# File {number}\n\n" + "\n\n".join(lines), encoding="utf-8")


def change_folder(folder: Path) -> None:
    """Change some files, move one, take one away, add one."""
    for number in range(0, FILES, 4):
        path = folder / f"{number:03d}.md"
        path.write_text(path.read_text(encoding="utf-8") + "\n\nA line that is new.\n", encoding="utf-8")
    (folder / "001.md").rename(folder / "moved.md")
    (folder / "002.md").unlink()
    (folder / "new.md").write_text("# New\n\nA file that is new.\n", encoding="utf-8")


def contents(home: Path) -> Any:
    """Return what the catalog and the index hold, apart from times."""
    library = opened(home)
    try:
        documents, _ = library.documents(limit=1000)
        rows = {
            one.path: (one.id, one.version, one.status, one.sha256, library.text(one.id), library.pages(one.id))
            for one in documents
        }
        ids = library.catalog.chunk_ids()
        assert library.index.ids() == ids
        assert library.index.count() == len(ids)
        hits = library.index.search(library.embedder.embed_query("ferry berth"), None, 500)
        found = sorted((hit.chunk_id, round(hit.dense or 0.0, 4)) for hit in hits)
        return rows, sorted(ids), hashlib.sha256(json.dumps(found).encode()).hexdigest()
    finally:
        library.close()


def ingest(home: Path, folder: Path, *, killed_after: float | None = None) -> tuple[float, bool]:
    """Ingest in another process; return how long it took, and whether it ended."""
    root = Path(__file__).parents[2]
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(home), str(folder)],
        cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(root)},
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stderr is not None
    with child:
        assert child.stdout.readline() == b"ready\n"
        started = time.monotonic()
        if killed_after is not None:
            time.sleep(killed_after)
            child.kill()
        done = b"done" in child.stdout.read()
        if killed_after is None:
            assert done, child.stderr.read().decode()
    return time.monotonic() - started, done


@pytest.mark.parametrize("again", [False, True], ids=["first", "changed"])
def test_killed_at_random_moments_it_ends_as_if_undisturbed(tmp_path: Path, again: bool) -> None:
    folder, calm, before = tmp_path / "folder", tmp_path / "calm", tmp_path / "before"
    write_folder(folder)
    if again:
        ingest(before, folder)
        shutil.copytree(before, calm)
        change_folder(folder)
    duration, _ = ingest(calm, folder)
    wanted = contents(calm)
    draw = random.Random(11)
    interrupted = 0
    for number in range(KILLS // 2):
        home = tmp_path / f"home{number}"
        if again:
            shutil.copytree(before, home)
        _, done = ingest(home, folder, killed_after=draw.uniform(0.0, duration))
        interrupted += not done
        library = opened(home)
        library.ingest([folder])
        library.close()
        assert contents(home) == wanted
    assert interrupted > KILLS // 5


def test_what_was_written_and_never_flushed_is_found_missing(tmp_path: Path) -> None:
    folder, home = tmp_path / "folder", tmp_path / "home"
    write_folder(folder)
    library = opened(home)
    library.ingest([folder])
    ids = sorted(library.catalog.chunk_ids())
    lost = library.index.search(library.embedder.embed_query("ferry"), None, 1)[0].chunk_id
    library.index.delete([lost])
    stray = "00000000-0000-5000-8000-000000000001"
    _add_stray(library, stray)
    library.settings.unfinished_path.touch()
    assert library.index.count() == len(ids)
    library.ingest([folder])
    assert library.index.ids() == set(ids)
    assert not library.settings.unfinished_path.exists()
    library.close()


def _add_stray(library: Library, chunk_id: str) -> None:
    from ingest.index.bm25 import document_weights
    from ingest.types import IndexPoint

    vector = library.embedder.embed_passages(["stray"])[0].tolist()
    library.index.upsert([IndexPoint(chunk_id, "nobody", "local", vector, document_weights("stray"))])
