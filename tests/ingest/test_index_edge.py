"""The embedded index alone: what a crash leaves, what damage looks like, threads, and who may open it."""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ingest.embed.hashing import HashingEmbedder
from ingest.errors import IndexBusy, IngestError
from ingest.index.bm25 import document_weights, query_weights
from ingest.index.edge import EdgeIndex
from ingest.types import IndexPoint

EMBEDDER = HashingEmbedder()
ROOT = Path(__file__).parents[2]

WRITER = """
import sys, time
from pathlib import Path
from tests.ingest.test_index_edge import opened, point
index = opened(Path(sys.argv[1]))
index.upsert([point(f"text number{n} alpha") for n in range(int(sys.argv[2]))])
print("written", flush=True)
time.sleep(60)
"""


def opened(path: Path) -> EdgeIndex:
    return EdgeIndex.open(path, model=EMBEDDER.name, dimension=EMBEDDER.dimension)


def point(text: str) -> IndexPoint:
    vector = EMBEDDER.embed_passages([text])[0].tolist()
    return IndexPoint(str(uuid.uuid5(uuid.NAMESPACE_URL, text)), "d", "local", vector, document_weights(text))


def search(index: EdgeIndex, query: str) -> list[str]:
    return [hit.chunk_id for hit in index.search(EMBEDDER.embed_query(query), query_weights(query), 5)]


def start_writer(path: Path, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WRITER, str(path), str(count)]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline().strip() == "written"
    return child


def stop(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.communicate()


def test_what_is_written_survives_a_kill_without_a_flush(tmp_path: Path) -> None:
    stop(start_writer(tmp_path / "index", 450))
    index = opened(tmp_path / "index")
    assert index.count() == 450
    assert search(index, "number7")[0] == point("text number7 alpha").id
    index.close()


def test_another_process_is_told_and_a_killed_one_holds_nothing(tmp_path: Path) -> None:
    child = start_writer(tmp_path / "index", 1)
    try:
        with pytest.raises(IndexBusy, match="stop that process"):
            opened(tmp_path / "index")
    finally:
        stop(child)
    opened(tmp_path / "index").close()


def test_a_reopened_index_holds_the_same(tmp_path: Path) -> None:
    index = opened(tmp_path / "index")
    index.upsert([point(f"number{n}") for n in range(3)])
    index.delete([point("number1").id])
    index.flush()
    held = index.ids()
    index.close()
    index.close()
    index = opened(tmp_path / "index")
    assert index.ids() == held == {point("number0").id, point("number2").id}
    index.close()


def lose_shard(path: Path) -> None:
    shutil.rmtree(path / "shard")


def lose_segments(path: Path) -> None:
    shutil.rmtree(path / "shard" / "segments")


def lose_stamp(path: Path) -> None:
    (path / "stamp.json").unlink()


def break_stamp(path: Path) -> None:
    (path / "stamp.json").write_text("{", encoding="utf-8")


def replace_stamp(path: Path) -> None:
    (path / "stamp.json").write_text("[]", encoding="utf-8")


def break_shard(path: Path) -> None:
    for file in (path / "shard").rglob("*"):
        if file.is_file():
            file.write_bytes(b"x")


@pytest.mark.parametrize(
    "damage", [lose_shard, lose_segments, lose_stamp, break_stamp, replace_stamp, break_shard], ids=lambda f: f.__name__
)
def test_a_damaged_index_says_what_to_do_and_frees_the_folder(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    path = tmp_path / "index"
    index = opened(path)
    index.upsert([point("alpha")])
    index.close()
    damage(path)
    for _ in range(2):
        with pytest.raises(IngestError, match="citedrag reindex") as raised:
            opened(path)
        assert not isinstance(raised.value, IndexBusy)


def test_a_creation_that_was_interrupted_is_begun_again(tmp_path: Path) -> None:
    opened(tmp_path / "index").close()
    lose_stamp(tmp_path / "index")
    index = opened(tmp_path / "index")
    index.upsert([point("alpha")])
    assert index.count() == 1
    index.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no such permissions")
def test_the_folder_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "index"
    path.mkdir(mode=0o755)
    opened(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_threads_write_and_search_at_once(tmp_path: Path) -> None:
    index = opened(tmp_path / "index")

    def work(worker: int) -> None:
        for n in range(10):
            index.upsert([point(f"worker{worker} number{n}")])
            assert len(search(index, f"worker{worker}")) >= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert index.count() == 80
    index.close()
