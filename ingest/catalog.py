"""What documents are there, and what is their text? The catalog is the truth about the corpus."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Column, Connection, Engine, Row, delete, func, insert, select, update
from sqlalchemy.dialects.sqlite import insert as upsert
from sqlalchemy.schema import CreateColumn

from ingest import schema
from ingest.database import open_database
from ingest.embed.port import Vectors
from ingest.types import Box, ByteRun, Chunk, Document, FileStatus, OcrPage, Page, Span, Word

_BATCH = 500
"""Well under SQLite's limit of variables in one statement."""

Stat = tuple[int, int, int]
"""A file's size, time of change in nanoseconds and inode."""

SEARCHABLE = (FileStatus.INDEXED, FileStatus.PARTIAL)


class Catalog:
    """Documents, their texts, pages and chunks, in one SQLite file. Safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._engine = open_database(path, schema.metadata, schema.SCHEMA_VERSION)
        _add_columns(self._engine)

    def close(self) -> None:
        """Close the file."""
        self._engine.dispose()

    # -- documents

    def known(self, root: str) -> dict[str, tuple[Document, Stat]]:
        """Return by path every file once seen under `root`, with its (size, mtime_ns, inode) at that time."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(schema.documents).where(schema.documents.c.root == root))
            return {row.path: (_document(row), _stat(row)) for row in rows}

    def roots(self) -> list[str]:
        """Return the folders that were ingested."""
        with self._engine.connect() as connection:
            return list(connection.execute(select(schema.documents.c.root).distinct()).scalars())

    def documents(self, limit: int, offset: int) -> tuple[list[Document], int]:
        """Return a page of the documents that were not removed, by path, and how many there are."""
        alive = schema.documents.c.status != FileStatus.REMOVED
        query = select(schema.documents).where(alive).order_by(schema.documents.c.root, schema.documents.c.path)
        with self._engine.connect() as connection:
            total = connection.execute(select(func.count()).select_from(schema.documents).where(alive)).scalar_one()
            return [_document(row) for row in connection.execute(query.limit(limit).offset(offset))], total

    def document(self, document_id: str) -> Document | None:
        """Return one document, also a removed one."""
        with self._engine.connect() as connection:
            row = connection.execute(select(schema.documents).where(schema.documents.c.id == document_id)).first()
            return None if row is None else _document(row)

    def with_sha256(self, sha256: str) -> list[tuple[Document, Stat]]:
        """Return the searchable documents with these bytes, with what their files were like."""
        query = select(schema.documents).where(
            schema.documents.c.sha256 == sha256, schema.documents.c.status.in_(SEARCHABLE)
        )
        with self._engine.connect() as connection:
            return [(_document(row), _stat(row)) for row in connection.execute(query)]

    def text(self, document_id: str) -> str | None:
        """Return the stored text of a document."""
        with self._engine.connect() as connection:
            return connection.execute(
                select(schema.texts.c.text).where(schema.texts.c.document_id == document_id)
            ).scalar()

    def byte_runs(self, document_id: str) -> tuple[ByteRun, ...] | None:
        """Return the map from the text back to the bytes of the file, where the format has one."""
        with self._engine.connect() as connection:
            runs = connection.execute(
                select(schema.texts.c.byte_runs).where(schema.texts.c.document_id == document_id)
            ).scalar()
        return None if runs is None else tuple(ByteRun(*run) for run in json.loads(runs))

    def pages(self, document_id: str) -> list[Page]:
        """Return the pages of a document, in order."""
        query = select(schema.pages).where(schema.pages.c.document_id == document_id).order_by(schema.pages.c.number)
        with self._engine.connect() as connection:
            return [Page(row.number, row.label, Span(row.start, row.end)) for row in connection.execute(query)]

    def ocr_words(self, document_id: str, number: int) -> tuple[Word, ...]:
        """Return the words of a page that OCR read, in order; none for other pages."""
        table = schema.ocr_words
        query = select(table.c.words).where(table.c.document_id == document_id, table.c.number == number)
        with self._engine.connect() as connection:
            rows = json.loads(connection.execute(query).scalar() or "[]")
        return tuple(Word(start, end, line, Box(number, *corners)) for start, end, line, *corners in rows)

    # -- writing

    def store(
        self,
        document: Document,
        stat: Stat,
        *,
        text: str | None = None,
        byte_runs: Sequence[ByteRun] | None = None,
        pages: Iterable[Page] = (),
        chunks: Sequence[Chunk] = (),
        ocr_pages: Iterable[OcrPage] = (),
        seconds: float = 0.0,
    ) -> None:
        """Replace a document whole, in one transaction: what was there before is gone when the new stands."""
        values = _values(document, stat, seconds)
        with self._engine.begin() as connection:
            statement = upsert(schema.documents).values(values)
            connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=values))
            for table in (schema.texts, schema.pages, schema.ocr_words, schema.chunks):
                connection.execute(delete(table).where(table.c.document_id == document.id))
            if text is not None:
                runs = None if byte_runs is None else json.dumps([_run_row(run) for run in byte_runs])
                connection.execute(insert(schema.texts).values(document_id=document.id, text=text, byte_runs=runs))
            page_rows = [_page_row(document.id, page) for page in pages]
            if page_rows:
                connection.execute(insert(schema.pages), page_rows)
            word_rows = [_words_row(document.id, page) for page in ocr_pages]
            if word_rows:
                connection.execute(insert(schema.ocr_words), word_rows)
            if chunks:
                connection.execute(insert(schema.chunks), [_chunk_row(chunk) for chunk in chunks])

    def move(self, document_id: str, path: str, stat: Stat, ocr_languages: str = "") -> None:
        """Record that a document's file now has another path, and under which OCR setting it was read again."""
        size, mtime_ns, inode = stat
        with self._engine.begin() as connection:
            connection.execute(
                update(schema.documents)
                .where(schema.documents.c.id == document_id)
                .values(path=path, size=size, mtime_ns=mtime_ns, inode=inode, ocr_languages=ocr_languages)
            )

    # -- chunks

    def chunk_ids(self, document_id: str | None = None) -> set[str]:
        """Return the ids of all live chunks, or of one document's."""
        query = select(schema.chunks.c.id)
        if document_id is not None:
            query = query.where(schema.chunks.c.document_id == document_id)
        with self._engine.connect() as connection:
            return set(connection.execute(query).scalars())

    def count(self) -> tuple[int, int]:
        """Return how many searchable documents and how many chunks there are."""
        searchable = schema.documents.c.status.in_(SEARCHABLE)
        with self._engine.connect() as connection:
            found = connection.execute(select(func.count()).select_from(schema.documents).where(searchable))
            documents = found.scalar_one()
            return documents, connection.execute(select(func.count()).select_from(schema.chunks)).scalar_one()

    def chunks(self, ids: Sequence[str]) -> dict[str, tuple[Chunk, Document]]:
        """Return the live chunks among `ids`, each with its document."""
        text = func.substr(
            schema.texts.c.text, schema.chunks.c.start + 1, schema.chunks.c.end - schema.chunks.c.start
        ).label("text")
        query = (
            select(schema.chunks, text, schema.documents, schema.pages.c.label)
            .join(schema.documents, schema.documents.c.id == schema.chunks.c.document_id)
            .join(schema.texts, schema.texts.c.document_id == schema.chunks.c.document_id)
            .outerjoin(
                schema.pages,
                (schema.pages.c.document_id == schema.chunks.c.document_id)
                & (schema.pages.c.number == schema.chunks.c.page),
            )
        )
        found: dict[str, tuple[Chunk, Document]] = {}
        with self._engine.connect() as connection:
            for start in range(0, len(ids), _BATCH):
                rows = connection.execute(query.where(schema.chunks.c.id.in_(ids[start : start + _BATCH])))
                for row in rows.mappings():
                    chunk = _chunk(row)
                    found[chunk.id] = (chunk, _document_from(row))
        return found

    # -- vector cache

    def cached_vectors(self, keys: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors known for these keys."""
        found: dict[str, Vectors] = {}
        with self._engine.connect() as connection:
            for start in range(0, len(keys), _BATCH):
                rows = connection.execute(
                    select(schema.vectors).where(schema.vectors.c.key.in_(keys[start : start + _BATCH]))
                )
                found.update((row.key, np.frombuffer(row.vector, dtype=np.float32)) for row in rows)
        return found

    def cache_vectors(self, vectors: Mapping[str, Vectors]) -> None:
        """Keep vectors by key."""
        rows = [{"key": key, "vector": vector.astype(np.float32).tobytes()} for key, vector in vectors.items()]
        if rows:
            with self._engine.begin() as connection:
                connection.execute(upsert(schema.vectors).on_conflict_do_nothing(), rows)


def _add_columns(engine: Engine) -> None:
    """Give a file of an earlier version the columns that it lacks; another process may be doing the same."""
    for column in schema.ADDED:
        with engine.connect() as connection:
            if _has(connection, column):
                continue
            connection.exec_driver_sql("BEGIN IMMEDIATE")  # the driver would begin only before a change of rows
            if not _has(connection, column):
                definition = str(CreateColumn(column).compile(engine))
                connection.exec_driver_sql(f"ALTER TABLE {column.table.name} ADD COLUMN {definition}")
            connection.commit()


def _has(connection: Connection, column: Column[Any]) -> bool:
    rows = connection.exec_driver_sql(f"PRAGMA table_info({column.table.name})")
    return column.name in {row.name for row in rows}


def _values(document: Document, stat: Stat, seconds: float) -> dict[str, Any]:
    size, mtime_ns, inode = stat
    return {
        "id": document.id, "tenant": document.tenant, "root": document.root, "path": document.path,
        "title": document.title, "date": document.date, "tags": json.dumps(list(document.tags)),
        "sha256": document.sha256, "version": document.version, "media_type": document.media_type,
        "language": document.language, "encoding": document.encoding, "pages": document.pages,
        "status": document.status.value, "reason": document.reason,
        "ocr_pages": json.dumps(list(document.ocr_pages)), "ocr_languages": document.ocr_languages,
        "size": size, "mtime_ns": mtime_ns, "inode": inode, "seconds": seconds,
    }  # fmt: skip


def _document(row: Row[Any]) -> Document:
    return _document_from({str(key): value for key, value in row._mapping.items()})


def _stat(row: Row[Any]) -> Stat:
    return row.size, row.mtime_ns, row.inode


def _document_from(row: Mapping[Any, Any]) -> Document:
    get = {column.name: row.get(column, row.get(column.name)) for column in schema.documents.columns}
    return Document(
        id=get["id"], root=get["root"], path=get["path"], title=get["title"], sha256=get["sha256"],
        version=get["version"], media_type=get["media_type"], language=get["language"], pages=get["pages"],
        status=FileStatus(get["status"]), tenant=get["tenant"], date=get["date"], encoding=get["encoding"],
        tags=tuple(json.loads(get["tags"])), reason=get["reason"],
        ocr_pages=tuple(json.loads(get["ocr_pages"])), ocr_languages=get["ocr_languages"],
    )  # fmt: skip


def _chunk(row: Mapping[Any, Any]) -> Chunk:
    columns = schema.chunks.c
    return Chunk(
        id=row[columns.id], document_id=row[columns.document_id], version=row[columns.version],
        ordinal=row[columns.ordinal], span=Span(row[columns.start], row[columns.end]), text=row["text"],
        page=row[columns.page], page_end=row[columns.page_end], headings=tuple(json.loads(row[columns.headings])),
        table_header=row[columns.table_header], page_label=row[schema.pages.c.label],
    )  # fmt: skip


def _chunk_row(chunk: Chunk) -> dict[str, Any]:
    return {
        "id": chunk.id, "document_id": chunk.document_id, "version": chunk.version, "ordinal": chunk.ordinal,
        "start": chunk.span.start, "end": chunk.span.end, "page": chunk.page, "page_end": chunk.page_end,
        "headings": json.dumps(list(chunk.headings), ensure_ascii=False), "table_header": chunk.table_header,
    }  # fmt: skip


def _page_row(document_id: str, page: Page) -> dict[str, Any]:
    return {
        "document_id": document_id, "number": page.number, "label": page.label,
        "start": page.span.start, "end": page.span.end,
    }  # fmt: skip


def _words_row(document_id: str, page: OcrPage) -> dict[str, Any]:
    words = [
        [word.start, word.end, word.line, *(round(x, 1) for x in (word.box.x0, word.box.y0, word.box.x1, word.box.y1))]
        for word in page.words
    ]
    return {"document_id": document_id, "number": page.number, "words": json.dumps(words, separators=(",", ":"))}


def _run_row(run: ByteRun) -> list[int]:
    return [run.start, run.end, run.byte_start, run.byte_end, int(run.verbatim)]
