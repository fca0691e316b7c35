"""Which files of a folder are to be read?

Nothing that is found may lead out of its root: symbolic links are followed only where their target lies
inside, and a file is opened in a way that neither follows a link nor waits for a pipe.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingest.errors import PathNotAllowed, ReadError, TooLarge, Unsupported
from ingest.types import FileStatus

MAX_BYTES = 100_000_000
_READ_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class Found:
    """A file below `root`; `relative` has forward slashes. `skip` says why it is not to be read."""

    root: Path
    path: Path
    relative: str
    size: int
    mtime_ns: int
    inode: int
    skip: tuple[FileStatus, str] | None = None


def discover(roots: Sequence[Path], max_bytes: int = MAX_BYTES, exclude: Collection[Path] = ()) -> Iterator[Found]:
    """Yield the files below each root, sorted, without hidden ones and the folders in `exclude`.

    A root that is a file is yielded alone, with its folder as root. A file below two roots comes once.
    """
    excluded = {path.resolve() for path in exclude}
    seen: set[Path] = set()
    for root in roots:
        resolved = _resolved(root)
        if resolved.is_dir():
            files = _walk(resolved, resolved, max_bytes, set(excluded))
        else:
            files = iter([_found(resolved, resolved.parent, max_bytes)])
        for found in files:
            if found.path not in seen:
                seen.add(found.path)
                yield found


def open_regular(path: Path, root: Path, max_bytes: int = MAX_BYTES) -> bytes:
    """Return the bytes of the regular file `path`, which lies below `root`.

    The checks are made on the open file, so that it cannot be exchanged between check and reading.
    """
    try:
        resolved = path.resolve(strict=True)
        if not resolved.is_relative_to(root.resolve(strict=True)):
            raise PathNotAllowed(f"{os.fspath(path)!r} leads out of its folder.")
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        descriptor = os.open(resolved, flags | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0))
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of symbolic links, before Python 3.13
        raise ReadError(f"The file cannot be opened: {_reason(error)}.") from error
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise Unsupported("This is not a regular file.")
        if status.st_size > max_bytes:
            raise TooLarge(_over(status.st_size, max_bytes))
        return _read_up_to(file.fileno(), max_bytes)


def _read_up_to(descriptor: int, max_bytes: int) -> bytes:
    parts = []
    total = 0
    try:
        while part := os.read(descriptor, _READ_AT_ONCE):
            total += len(part)
            if total > max_bytes:  # it grew after its size was asked
                raise TooLarge(_over(total, max_bytes))
            parts.append(part)
    except OSError as error:
        raise ReadError(f"The file cannot be read: {_reason(error)}.") from error
    return b"".join(parts)


def _resolved(root: Path) -> Path:
    try:
        return root.resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise PathNotAllowed(f"{os.fspath(root)!r} cannot be opened: {_reason(error)}.") from error


def _walk(folder: Path, root: Path, max_bytes: int, visited: set[Path]) -> Iterator[Found]:
    """Yield what is below `folder`. Each real folder is visited once, which breaks loops of links."""
    visited.add(folder.resolve())
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        yield _skipped(folder, root, FileStatus.FAILED, f"The folder cannot be listed: {_reason(error)}.")
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        try:
            real = entry.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            yield _skipped(entry, root, FileStatus.FAILED, f"The link leads nowhere: {_reason(error)}.")
            continue
        if not real.is_relative_to(root):
            yield _skipped(entry, root, FileStatus.UNSUPPORTED, "The link leads out of the folder and is not followed.")
        elif real.is_dir():
            if real not in visited:
                yield from _walk(entry, root, max_bytes, visited)
        else:
            yield _found(entry, root, max_bytes)


def _found(path: Path, root: Path, max_bytes: int) -> Found:
    try:
        status = path.stat()
    except OSError as error:
        return _skipped(path, root, FileStatus.FAILED, f"The file cannot be opened: {_reason(error)}.")
    skip = None
    if not stat.S_ISREG(status.st_mode):
        skip = (FileStatus.UNSUPPORTED, "This is not a regular file.")
    elif status.st_size > max_bytes:
        skip = (FileStatus.TOO_LARGE, _over(status.st_size, max_bytes))
    relative = path.relative_to(root).as_posix()
    return Found(root, path, relative, status.st_size, status.st_mtime_ns, status.st_ino, skip)


def _skipped(path: Path, root: Path, status: FileStatus, reason: str) -> Found:
    return Found(root, path, path.relative_to(root).as_posix(), 0, 0, 0, (status, reason))


def _over(size: int, limit: int) -> str:
    return f"The file has {size:,} bytes; the limit is {limit:,}."


def _reason(error: Exception) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
