from __future__ import annotations

import os
from pathlib import Path

import pytest

from ingest.discover import Found, discover, open_regular
from ingest.errors import PathNotAllowed, ReadError, TooLarge, Unsupported
from ingest.types import FileStatus


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)


def names(found: list[Found]) -> list[str]:
    return [file.relative for file in found]


def test_files_come_sorted_and_without_hidden_ones(tmp_path: Path) -> None:
    make(tmp_path, "b.txt", "a/z.md", "a/b/c.txt", ".git/config", "a/.hidden")
    assert names(list(discover([tmp_path], 100))) == ["a/b/c.txt", "a/z.md", "b.txt"]


def test_the_excluded_folder_is_left_out(tmp_path: Path) -> None:
    make(tmp_path, "a.txt", "home/x.txt")
    assert names(list(discover([tmp_path], 100, exclude=[tmp_path / "home"]))) == ["a.txt"]


def test_a_file_as_root_has_its_folder_as_root(tmp_path: Path) -> None:
    make(tmp_path, "a.txt", "b.txt")
    (found,) = discover([tmp_path / "a.txt"], 100)
    assert (found.root, found.relative) == (tmp_path.resolve(), "a.txt")


def test_a_file_under_two_roots_comes_once(tmp_path: Path) -> None:
    make(tmp_path, "in/a.txt")
    assert len(list(discover([tmp_path, tmp_path / "in"], 100))) == 1


def test_a_missing_root_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PathNotAllowed):
        list(discover([tmp_path / "none"], 100))


def test_links_out_of_the_root_are_skipped_with_a_reason(tmp_path: Path) -> None:
    make(tmp_path, "out/secret.txt", "in/a.txt")
    (tmp_path / "in" / "file.txt").symlink_to(tmp_path / "out" / "secret.txt")
    (tmp_path / "in" / "folder").symlink_to(tmp_path / "out")
    found = list(discover([tmp_path / "in"], 100))
    assert names(found) == ["a.txt", "file.txt", "folder"]
    assert [file.skip is None for file in found] == [True, False, False]


def test_loops_of_links_end(tmp_path: Path) -> None:
    make(tmp_path, "a/x.txt")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    found = {file.relative: file.skip for file in discover([tmp_path], 100)}
    assert found["a/x.txt"] is None
    assert found["self"] is not None


def test_a_pipe_and_a_large_file_are_skipped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "large.txt").write_bytes(b"x" * 11)
    skips = {file.relative: file.skip for file in discover([tmp_path], 10)}
    assert {name: skip and skip[0] for name, skip in skips.items()} == {
        "pipe.txt": FileStatus.UNSUPPORTED,
        "large.txt": FileStatus.TOO_LARGE,
    }


def test_names_that_are_not_utf8_are_found(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff\xfe.txt")
    (tmp_path / name).write_bytes(b"x")
    (found,) = discover([tmp_path], 100)
    assert open_regular(found.path, tmp_path, 100)


def test_opening_reads_the_bytes(tmp_path: Path) -> None:
    make(tmp_path, "a.txt")
    assert open_regular(tmp_path / "a.txt", tmp_path, 5) == b"a.txt"


def test_opening_refuses_what_is_no_file_of_the_root(tmp_path: Path) -> None:
    make(tmp_path, "in/a.txt", "out.txt")
    root = tmp_path / "in"
    (root / "link.txt").symlink_to(tmp_path / "out.txt")
    os.mkfifo(root / "pipe")
    with pytest.raises(PathNotAllowed):
        open_regular(root / "link.txt", root, 100)
    with pytest.raises(PathNotAllowed):
        open_regular(root / ".." / "out.txt", root, 100)
    with pytest.raises(Unsupported):
        open_regular(root / "pipe", root, 100)
    with pytest.raises(TooLarge):
        open_regular(root / "a.txt", root, 4)
    with pytest.raises(ReadError):
        open_regular(root / "none.txt", root, 100)
