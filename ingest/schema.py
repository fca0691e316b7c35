"""Which tables does the catalog have?

Why no migration tool: a new version has only added columns so far, which `ADDED` names. `SCHEMA_VERSION` is stamped
into the file, so that a later version knows what it opens and an older program refuses a newer file.
"""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, LargeBinary, MetaData, String, Table, Text

SCHEMA_VERSION = 3
"""1: the first. 2: chunks know the header of their table. 3: what OCR read, and where its words stand."""

metadata = MetaData()

documents = Table(
    "documents",
    metadata,
    Column("id", String, primary_key=True),
    Column("tenant", String, nullable=False),
    Column("root", String, nullable=False),
    Column("path", String, nullable=False),
    Column("title", String, nullable=False),
    Column("date", String),
    Column("tags", Text, nullable=False, default="[]"),
    Column("sha256", String, nullable=False),
    Column("version", Integer, nullable=False),
    Column("media_type", String, nullable=False),
    Column("language", String, nullable=False),
    Column("encoding", String),
    Column("pages", Integer, nullable=False),
    Column("status", String, nullable=False),
    Column("reason", Text),
    Column("ocr_pages", Text, nullable=False, server_default="[]"),
    Column("ocr_languages", String, nullable=False, server_default=""),
    Column("size", Integer, nullable=False),
    Column("mtime_ns", Integer, nullable=False),
    Column("inode", Integer, nullable=False),
    Column("seconds", Float, nullable=False, default=0.0),
    Index("documents_path", "tenant", "root", "path", unique=True),
    Index("documents_sha256", "sha256"),
)

texts = Table(
    "texts",
    metadata,
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("text", Text, nullable=False),
    Column("byte_runs", Text),
)

pages = Table(
    "pages",
    metadata,
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("label", String, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
)

ocr_words = Table(
    "ocr_words",
    metadata,
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("words", Text, nullable=False),
)

chunks = Table(
    "chunks",
    metadata,
    Column("id", String, primary_key=True),
    Column("document_id", ForeignKey("documents.id", ondelete="CASCADE"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("page", Integer),
    Column("page_end", Integer),
    Column("headings", Text, nullable=False),
    Column("table_header", Text, nullable=False, server_default=""),
    Index("chunks_document", "document_id", "ordinal"),
)

vectors = Table(
    "vectors",
    metadata,
    Column("key", String, primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)

ADDED = (chunks.c.table_header, documents.c.ocr_pages, documents.c.ocr_languages)
"""Columns that files of an earlier version lack."""
