"""Which tables does the run store have?"""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Index, Integer, MetaData, String, Table, Text

SCHEMA_VERSION = 1

metadata = MetaData()

runs = Table(
    "runs",
    metadata,
    Column("id", String, primary_key=True),
    Column("question", Text, nullable=False),
    Column("conversation_id", String),
    Column("status", String, nullable=False),
    Column("request", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("graph_version", String, nullable=False),
    Column("owner", String),
    Column("heartbeat", Float, nullable=False, default=0.0),
    Column("created", Float, nullable=False),
    Column("updated", Float, nullable=False),
    Column("resumes", Integer, nullable=False, default=0),
    Column("plan", Text),
    Column("decision", Text),
    Column("result", Text),
    Index("runs_created", "created"),
)

events = Table(
    "events",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("type", String, nullable=False),
    Column("data", Text, nullable=False),
    Column("at", Float, nullable=False),
)

pool = Table(
    "pool",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("chunk_id", String, primary_key=True),
    Column("passage", Text, nullable=False),
)

evidence = Table(
    "evidence",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("chunk_id", String, nullable=False),
)

claims = Table(
    "claims",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("claim", Text, nullable=False),
)

drafts = Table(
    "drafts",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("role", String, primary_key=True),
    Column("draft", Text, nullable=False),
)

traces = Table(
    "traces",
    metadata,
    Column("run_id", ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    Column("kind", String, nullable=False),
    Column("data", Text, nullable=False),
    Column("at", Float, nullable=False),
)
