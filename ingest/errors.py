"""What can go wrong while documents are made searchable?

IngestError
├── ReadError            this file cannot be read; the batch goes on
│   ├── Encrypted
│   ├── Unsupported
│   ├── TooLarge
│   └── TimedOut
├── ModelUnavailable     the embedding model is not installed or not what it should be
├── IndexBusy            another process has the index open
├── IndexMismatch        the index was made with another model or format: reindex
└── PathNotAllowed       outside the allowed roots
"""

from __future__ import annotations

from ingest.types import FileStatus


class IngestError(Exception):
    """Base of everything that ingestion raises; the message says what to do next."""


class ReadError(IngestError):
    """One file cannot be read. `status` is what its report says."""

    status = FileStatus.FAILED


class Encrypted(ReadError):
    """The file needs a password."""

    status = FileStatus.ENCRYPTED


class Unsupported(ReadError):
    """No reader knows this format."""

    status = FileStatus.UNSUPPORTED


class TooLarge(ReadError):
    """The file, or the text in it, is over the limit."""

    status = FileStatus.TOO_LARGE


class TimedOut(ReadError):
    """Reading took longer than allowed."""

    status = FileStatus.TIMED_OUT


class ModelUnavailable(IngestError):
    """The embedding model is absent or its weights are not the expected ones."""


class IndexBusy(IngestError):
    """Another process has the index open: stop it, or talk to the running server."""


class IndexMismatch(IngestError):
    """The index was written with another model or another format."""


class PathNotAllowed(IngestError):
    """The path is outside the allowed roots, or is no folder."""
