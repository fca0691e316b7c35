"""`reindex --rebuild`: the old index goes when the new one is full, and comes back if none can be made."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.cli.backend import EXIT_BUSY, CommandError
from app.cli.local import LocalBackend
from app.settings import Settings
from app.wiring import open_library
from ingest.errors import IngestError
from ingest.write import ChunkWriter


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "leave.md").write_text("Every employee has 24 days of annual leave.\n", encoding="utf-8")
    made = Settings(home=tmp_path / "home", embedder="hashing")
    library = open_library(made)
    library.ingest([tmp_path / "docs"])
    library.close()
    return made


@pytest.fixture
def backend(settings: Settings) -> Iterator[LocalBackend]:
    opened = LocalBackend(settings)
    yield opened
    opened.close()


def change_stamp(index: Path) -> None:
    stamp = index / "stamp.json"
    stamp.write_text(stamp.read_text(encoding="utf-8").replace("hashing-64", "other"), encoding="utf-8")


def lose_segments(index: Path) -> None:
    shutil.rmtree(index / "shard" / "segments")


def leave_an_older_one(index: Path) -> None:
    shutil.copytree(index, index.with_name("index.old-1"))


@pytest.mark.parametrize(
    "damage", [change_stamp, lose_segments, leave_an_older_one], ids=lambda damage: damage.__name__
)
def test_a_rebuild_fills_a_new_index(settings: Settings, backend: LocalBackend, damage: Callable[[Path], None]) -> None:
    damage(settings.home / "index")
    assert backend.reindex(True) == 1
    assert [path.name for path in settings.home.glob("index*")] == ["index"]
    assert backend.search("annual leave", 5)["passages"][0]["document"]["path"] == "leave.md"


def test_a_rebuild_embeds_nothing_that_it_has_vectors_for(settings: Settings, backend: LocalBackend) -> None:
    assert backend.reindex(True) == 1
    assert backend._library._writer.embedded == 0


def test_a_rebuild_that_fails_puts_the_old_index_back(
    settings: Settings, backend: LocalBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise IngestError("no room")

    with monkeypatch.context() as broken:
        broken.setattr(ChunkWriter, "write", fail)
        with pytest.raises(CommandError, match="no room"):
            backend.reindex(True)
    assert [path.name for path in settings.home.glob("index*")] == ["index"]
    library = open_library(settings)
    assert library.index.count() == 1
    library.close()


def test_an_index_in_use_is_not_moved(settings: Settings, backend: LocalBackend) -> None:
    library = open_library(settings)
    with pytest.raises(CommandError, match="another process") as raised:
        backend.reindex(True)
    assert raised.value.exit_code == EXIT_BUSY
    assert library.index.count() == 1
    library.close()
