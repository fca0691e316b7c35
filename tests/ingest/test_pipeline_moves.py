"""What makes ingestion lose or keep the wrong thing: moves, swaps, nested folders, crashes, unreadable names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.retrieval.rerank import LateInteractionReranker
from app.retrieval.search import Retriever
from ingest.catalog import Catalog
from ingest.embed.hashing import HashingEmbedder
from ingest.errors import PathNotAllowed
from ingest.index.memory import MemoryIndex
from ingest.library import Library
from ingest.settings import IngestSettings

LEAVE, OIL, PORT = "Every employee has 24 days of leave.", "Oil is changed every 500 hours.", "The port is closed."

OpenLibrary = Callable[[str], Library]


@pytest.fixture
def opening(tmp_path: Path) -> Iterator[OpenLibrary]:
    opened: list[Library] = []

    def make(name: str) -> Library:
        settings, embedder = IngestSettings(home=tmp_path / name), HashingEmbedder()
        opened.append(Library(settings, Catalog(settings.catalog_path), MemoryIndex(embedder.dimension), embedder))
        return opened[-1]

    yield make
    for library in opened:
        library.close()


@pytest.fixture
def library(opening: OpenLibrary) -> Library:
    return opening("home")


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write(tmp_path / "docs", {"a/leave.txt": LEAVE, "b/oil.txt": OIL})


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def statuses(library: Library, *paths: Path) -> dict[str, str]:
    return {file.path: file.status.value for file in library.ingest(list(paths)).files}


def searchable(library: Library) -> dict[str, str]:
    """Return by path the text of what is found through the index."""
    found = library.chunks(list(library.index.ids()))
    return {document.path: chunk.text for chunk, document in found.values()}


def test_a_file_moved_between_two_given_folders_is_kept(library: Library, docs: Path) -> None:
    library.ingest([docs])
    (docs / "a" / "leave.txt").rename(docs / "b" / "leave.txt")
    library.ingest([docs / "a", docs / "b"])
    assert searchable(library) == {"b/leave.txt": LEAVE, "b/oil.txt": OIL}


def test_a_new_file_where_a_moved_one_was_is_another_document(library: Library, docs: Path) -> None:
    library.ingest([docs])
    (docs / "a" / "leave.txt").rename(docs / "a" / "moved.txt")
    library.ingest([docs])
    write(docs, {"a/leave.txt": PORT})
    library.ingest([docs])
    assert searchable(library) == {"a/leave.txt": PORT, "a/moved.txt": LEAVE, "b/oil.txt": OIL}
    assert len({document.id for document in library.documents()[0]}) == 3


@pytest.mark.parametrize(("first", "second"), [("d.txt", "c.txt"), ("c.txt", "d.txt")], ids=["before", "after"])
def test_a_twin_whose_file_has_just_changed_is_no_twin(library: Library, docs: Path, first: str, second: str) -> None:
    library.ingest([write(docs, {first: "Ferries run daily."})])
    write(docs, {first: PORT, second: "Ferries run daily."})
    library.ingest([docs])
    assert searchable(library)[first] == PORT
    assert searchable(library)[second] == "Ferries run daily."


def test_a_twin_whose_file_was_only_touched_is_still_one(library: Library, docs: Path) -> None:
    library.ingest([write(docs, {"d.txt": PORT})])
    os.utime(docs / "d.txt", (1, 1))
    write(docs, {"c.txt": PORT})
    assert statuses(library, docs)["c.txt"] == "duplicate"


def test_swapped_files_are_both_found(library: Library, docs: Path) -> None:
    library.ingest([docs])
    write(docs, {"a/leave.txt": OIL, "b/oil.txt": LEAVE})
    library.ingest([docs])
    assert searchable(library) == {"a/leave.txt": OIL, "b/oil.txt": LEAVE}


@pytest.mark.parametrize("order", [1, -1], ids=["outer first", "inner first"])
def test_a_file_in_two_given_folders_is_one_document(library: Library, docs: Path, order: int) -> None:
    report = library.ingest([docs, docs / "a", docs / "a" / "leave.txt", docs][::order])
    assert report.totals() == {"indexed": 2}
    assert set(searchable(library)) == {"a/leave.txt", "b/oil.txt"}


def test_a_folder_around_a_known_one_leaves_it_its_files(library: Library, docs: Path) -> None:
    library.ingest([docs / "a"])
    (before,) = library.documents()[0]
    assert statuses(library, docs) == {"leave.txt": "unchanged", "b/oil.txt": "indexed"}
    (docs / "a" / "leave.txt").unlink()
    assert statuses(library, docs) == {"leave.txt": "removed", "b/oil.txt": "unchanged"}
    assert library.document(before.id) is None
    assert set(searchable(library)) == {"b/oil.txt"}


def test_a_hidden_folder_that_was_given_itself_stays(library: Library, docs: Path) -> None:
    write(docs, {".hidden/port.txt": PORT})
    library.ingest([docs / ".hidden"])
    library.ingest([docs])
    assert "port.txt" in searchable(library)


def test_a_file_outside_stays(library: Library, docs: Path, tmp_path: Path) -> None:
    outside = write(tmp_path / "other", {"port.txt": PORT})
    library.ingest([docs, outside])
    (outside / "port.txt").unlink()
    library.ingest([docs])
    assert "port.txt" in searchable(library)
    assert statuses(library, outside) == {"port.txt": "removed"}


def test_a_folder_that_cannot_be_listed_keeps_its_documents(
    library: Library, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.ingest([docs])
    listed = Path.iterdir

    def refuse(folder: Path) -> Iterator[Path]:
        if folder.name == "a":
            raise PermissionError(13, "Permission denied")
        return listed(folder)

    with monkeypatch.context() as broken:
        broken.setattr(Path, "iterdir", refuse)
        assert statuses(library, docs) == {"a": "failed", "b/oil.txt": "unchanged"}
    assert set(searchable(library)) == {"a/leave.txt", "b/oil.txt"}
    assert statuses(library, docs) == {"a": "removed", "a/leave.txt": "unchanged", "b/oil.txt": "unchanged"}


@pytest.mark.skipif(os.name == "nt", reason="names are Unicode there")
def test_a_name_that_is_not_utf8_fails_alone(library: Library, docs: Path) -> None:
    (docs / os.fsdecode(b"\xff.txt")).write_text(PORT, encoding="utf-8")
    for expected in ("indexed", "unchanged"):
        found = statuses(library, docs)
        assert found["\\udcff.txt"] == "failed"
        assert found["a/leave.txt"] == expected


def test_a_file_that_leads_out_by_the_time_it_is_opened_fails_alone(
    library: Library, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, root: Path, max_bytes: int) -> bytes:
        if path.name == "leave.txt":
            raise PathNotAllowed("leads out")
        return path.read_bytes()

    with monkeypatch.context() as broken:
        broken.setattr("ingest.ahead.open_regular", refuse)
        assert statuses(library, docs) == {"a/leave.txt": "failed", "b/oil.txt": "indexed"}
    assert statuses(library, docs) == {"a/leave.txt": "indexed", "b/oil.txt": "unchanged"}


def crash(*_: object, **__: object) -> None:
    raise SystemError("the process ends here")


@pytest.mark.parametrize("place", ["store", "cache_vectors", "delete", "upsert"])
def test_an_ingestion_that_a_crash_cut_equals_an_uninterrupted_one(
    opening: OpenLibrary, docs: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    cut, whole = opening("cut"), opening("whole")
    for library in (cut, whole):
        library.ingest([docs])
    write(docs, {"a/leave.txt": PORT, "c.txt": "Something new."})
    with monkeypatch.context() as broken:
        broken.setattr(cut.index if place in ("delete", "upsert") else cut.catalog, place, crash)
        with pytest.raises(SystemError):
            cut.ingest([docs])
    for library in (cut, whole):
        library.ingest([docs])
    assert cut.documents() == whole.documents()
    assert cut.index.ids() == whole.index.ids() == cut.catalog.chunk_ids() == whole.catalog.chunk_ids()
    assert searchable(cut) == searchable(whole)


def test_points_that_the_catalog_does_not_know_are_never_found_and_go(library: Library, docs: Path) -> None:
    library.ingest([docs])
    (document,) = [one for one in library.documents()[0] if one.path == "b/oil.txt"]
    orphans = library.catalog.chunk_ids(document.id)
    library.catalog.store(document, (0, 0, 0))
    assert library.chunks(list(orphans)) == {}
    retriever = Retriever(library, LateInteractionReranker(library.embedder))
    assert not [one for one in retriever.search("oil hours").passages if one.chunk_id in orphans]
    library.reindex()
    assert not orphans & library.index.ids()


def test_a_reindex_sees_an_orphan_and_a_loss_that_even_out(library: Library, docs: Path) -> None:
    library.ingest([docs])
    held = library.index.ids()
    (document,) = [one for one in library.documents()[0] if one.path == "b/oil.txt"]
    (text,) = library.catalog.chunk_ids(document.id)
    library.catalog.store(document, (0, 0, 0))
    library.index.delete(held - {text})
    assert library.reindex() == 1
    assert library.index.ids() == held - {text}


def test_known_texts_are_not_embedded_again(library: Library, docs: Path) -> None:
    assert library.ingest([docs]).embedded == 2
    (document,) = [one for one in library.documents()[0] if one.path == "b/oil.txt"]
    library.remove(document.id)
    again = library.ingest([docs])
    assert (again.embedded, again.written) == (0, 1)
