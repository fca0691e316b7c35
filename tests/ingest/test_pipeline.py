"""A folder is ingested, changed and ingested again: every file has a true status, and nothing old is found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.catalog import Catalog
from ingest.embed.hashing import HashingEmbedder
from ingest.errors import PathNotAllowed
from ingest.index.memory import MemoryIndex
from ingest.library import Library
from ingest.pipeline import Progress
from ingest.settings import IngestSettings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    (docs / "sub").mkdir(parents=True)
    (docs / "leave.md").write_text("# Leave\n\nEvery employee has 24 days of leave.\n", encoding="utf-8")
    (docs / "sub" / "oil.txt").write_text("The oil change interval is 500 hours.\n", encoding="utf-8")
    (docs / "空.md").write_text("年休假为七天。\n", encoding="utf-8")
    return docs


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    embedder = HashingEmbedder()
    settings = IngestSettings(home=tmp_path / "home")
    opened = Library(settings, Catalog(settings.catalog_path), MemoryIndex(embedder.dimension), embedder)
    yield opened
    opened.close()


def statuses(library: Library, *paths: Path) -> dict[str, str]:
    return {file.path: file.status.value for file in library.ingest(list(paths)).files}


def test_a_second_run_embeds_and_writes_nothing(library: Library, folder: Path) -> None:
    first = library.ingest([folder])
    assert first.totals() == {"indexed": 3}
    again = library.ingest([folder])
    assert (again.totals(), again.embedded, again.written) == ({"unchanged": 3}, 0, 0)


def test_a_changed_file_replaces_its_chunks(library: Library, folder: Path) -> None:
    library.ingest([folder])
    (document,) = [one for one in library.documents()[0] if one.path == "leave.md"]
    old = library.catalog.chunk_ids(document.id)
    (folder / "leave.md").write_text("# Leave\n\nEvery employee has 30 days of leave.\n", encoding="utf-8")
    assert statuses(library, folder)["leave.md"] == "indexed"
    new = library.document(document.id)
    assert new is not None
    assert new.version == document.version + 1
    assert not old & library.index.ids()
    assert "30 days" in (library.text(document.id) or "")


def test_a_deleted_file_loses_its_chunks_and_is_reported(library: Library, folder: Path) -> None:
    library.ingest([folder])
    (folder / "leave.md").unlink()
    assert statuses(library, folder)["leave.md"] == "removed"
    assert library.stats()["documents"] == 2
    assert library.index.ids() == library.catalog.chunk_ids()


def test_a_moved_file_keeps_its_id_and_embeds_nothing(library: Library, folder: Path) -> None:
    library.ingest([folder])
    (before,) = [one.id for one in library.documents()[0] if one.path == "leave.md"]
    (folder / "leave.md").rename(folder / "sub" / "moved.md")
    report = library.ingest([folder])
    assert report.embedded == 0
    assert [one.id for one in library.documents()[0] if one.path == "sub/moved.md"] == [before]


def test_a_duplicate_is_named_and_takes_over_when_the_original_goes(library: Library, folder: Path) -> None:
    (folder / "twin.md").write_bytes((folder / "leave.md").read_bytes())
    assert statuses(library, folder)["twin.md"] == "duplicate"
    (folder / "leave.md").unlink()
    statuses(library, folder)
    assert {one.path: one.status.value for one in library.documents()[0]}["twin.md"] == "indexed"


def test_a_bad_file_has_its_status_and_stops_nothing(library: Library, folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    (folder / "empty.md").write_bytes(b"")
    (folder / "program.bin").write_bytes(bytes(range(256)) * 20)
    found = statuses(library, folder)
    assert found["broken.pdf"] == "failed"
    assert found["program.bin"] == "unsupported"
    assert found["empty.md"] in ("failed", "no_text")
    assert found["leave.md"] == "indexed"


def test_a_part_of_a_folder_stays_the_folders(library: Library, folder: Path) -> None:
    library.ingest([folder])
    (folder / "leave.md").unlink()
    assert statuses(library, folder / "sub") == {"sub/oil.txt": "unchanged"}
    assert library.stats()["documents"] == 3


def test_a_missing_path_removes_nothing(library: Library, folder: Path) -> None:
    library.ingest([folder])
    with pytest.raises(PathNotAllowed):
        library.ingest([folder / "gone"])
    assert library.stats()["documents"] == 3


def test_a_crash_before_the_catalog_leaves_nothing_to_see_and_is_made_good(
    library: Library, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(library.catalog, "store", _crash)
        with pytest.raises(SystemError):
            library.ingest([folder])
    assert library.chunks(list(library.index.ids())) == {}
    library.ingest([folder])
    assert library.stats()["documents"] == 3
    assert library.index.ids() == library.catalog.chunk_ids()


def _crash(*_: object, **__: object) -> None:
    raise SystemError("the process ends here")


def test_progress_is_told_once_a_file(library: Library, folder: Path) -> None:
    told: list[Progress] = []
    library.ingest([folder], told.append)
    assert [one.done for one in told] == [1, 2, 3]
    assert {one.total for one in told} == {3}


def test_a_lost_index_is_filled_again_from_the_catalog_and_the_kept_vectors(library: Library, folder: Path) -> None:
    library.ingest([folder])
    held = library.index.ids()
    library.index.delete(held)
    assert library.reindex() == len(held)
    assert library.index.ids() == held


def test_chunks_are_pieces_of_the_stored_text(library: Library, folder: Path) -> None:
    library.ingest([folder])
    for chunk, document in library.chunks(list(library.index.ids())).values():
        assert chunk.span.of(library.text(document.id) or "") == chunk.text
