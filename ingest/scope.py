"""To which root does a file belong, and what has gone from there?

A file belongs to the innermost folder around it that was ever ingested: a part of a root stays that root's, and a
folder around a root leaves the root its files. So a file is one document, however it is reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ingest.catalog import Catalog, Stat
from ingest.discover import Found, discover
from ingest.errors import PathNotAllowed
from ingest.settings import IngestSettings
from ingest.types import Document, FileStatus


@dataclass(slots=True)
class Scope:
    """One root: what the catalog knows of it, and what is being ingested of it.

    `parts` are the paths below it that were asked for ("" is all of it); a root that lies `within` such a path loses
    only files that are gone: what is merely hidden there was given by its own name.
    """

    root: Path
    known: dict[str, tuple[Document, Stat]]
    parts: set[str] = field(default_factory=set)
    within: bool = False
    seen: set[str] = field(default_factory=set)

    def gone(self, unlisted: Sequence[Path]) -> list[tuple[Document, Stat]]:
        """Return what the catalog has here and the folder no longer, except below folders that could not be listed."""
        return [
            entry
            for path, entry in self.known.items()
            if entry[0].status != FileStatus.REMOVED
            and path not in self.seen
            and self._looked_for(path)
            and not any((self.root / path).is_relative_to(folder) for folder in unlisted)
        ]

    def _looked_for(self, path: str) -> bool:
        if any(part in ("", path) or path.startswith(part + "/") for part in self.parts):
            return True
        return self.within and not (self.root / path).exists()


class Scopes:
    """The roots that an ingestion touches. Raises PathNotAllowed for a path that is missing or cannot be named."""

    def __init__(self, paths: Sequence[Path], settings: IngestSettings, catalog: Catalog) -> None:
        self._settings = settings
        self._catalog = catalog
        self._scopes: dict[Path, Scope] = {}
        self._paths = sorted({_checked(path) for path in paths}, key=lambda path: (len(path.parts), path))
        self._unlisted: list[Path] = []
        roots = {Path(root) for root in catalog.roots()}
        for path in self._paths:
            folder = path if path.is_dir() else path.parent
            owner = _innermost(folder, roots) or folder
            roots.add(owner)
            self._at(owner).parts.add("" if path == owner else path.relative_to(owner).as_posix())
            for root in roots:
                if root != path and root.is_relative_to(path):
                    self._at(root).within = True

    def files(self) -> list[tuple[Scope, Found]]:
        """Return every file to look at, once, each with its scope."""
        return list(self._files())

    def gone(self) -> list[tuple[Document, Stat]]:
        """Return the documents whose files `files` did not meet again."""
        return [entry for scope in self._scopes.values() for entry in scope.gone(self._unlisted)]

    def _at(self, root: Path) -> Scope:
        if root not in self._scopes:
            self._scopes[root] = Scope(root, self._catalog.known(str(root)))
        return self._scopes[root]

    def _files(self) -> Iterator[tuple[Scope, Found]]:
        for file in discover(self._paths, self._settings.max_bytes, exclude=[self._settings.home.resolve()]):
            if file.skip is not None and file.skip[0] == FileStatus.FAILED:
                self._unlisted.append(file.path)
            root = _innermost(file.path, self._scopes)
            assert root is not None, "every path has its scope"
            scope = self._scopes[root]
            named = _named(replace(file, root=root, relative=file.path.relative_to(root).as_posix()))
            if named.relative not in scope.seen:
                scope.seen.add(named.relative)
                yield scope, named


def _innermost(path: Path, roots: Iterable[Path]) -> Path | None:
    around = [root for root in roots if path.is_relative_to(root)]
    return max(around, key=lambda root: len(root.parts), default=None)


def _checked(path: Path) -> Path:
    if not path.exists():
        raise PathNotAllowed(f"{path} does not exist: give a folder or a file.")
    resolved = path.resolve()
    folder = str(resolved if resolved.is_dir() else resolved.parent)
    if _spelled(folder) != folder:
        raise PathNotAllowed(f"{_spelled(str(resolved))} has a name that is not valid UTF-8: rename it.")
    return resolved


def _named(file: Found) -> Found:
    """Give a file whose name no database can hold a name that one can, and the reason why it is not read."""
    spelled = _spelled(file.relative)
    if spelled == file.relative:
        return file
    return replace(file, relative=spelled, skip=(FileStatus.FAILED, "its name is not valid UTF-8: rename it"))


def _spelled(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
