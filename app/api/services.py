"""What must stand behind the routes? The parts of the program that HTTP calls, as it sees them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Protocol

from litestar.params import Dependency

from app.runs.requests import ApprovalRequest, RunRequest
from app.settings import Settings
from ingest.types import Document, IngestReport, Page

Json = dict[str, Any]
"""A JSON object of the interface."""


class StreamEvent(Protocol):
    """One event of a stream: `seq` counts from 1 and is what a client resumes from."""

    @property
    def seq(self) -> int:
        """The event's number in its stream."""

    @property
    def type(self) -> str:
        """The event's name."""

    @property
    def data(self) -> Json:
        """The event's data."""


class FileProgress(Protocol):
    """How far an ingestion is: the file that was done last."""

    @property
    def done(self) -> int:
        """Files done."""

    @property
    def total(self) -> int:
        """Files in all."""

    @property
    def pages(self) -> int:
        """Pages so far, of formats that have some."""

    @property
    def path(self) -> str:
        """The last file."""

    @property
    def status(self) -> str:
        """What became of it."""


class Runs(Protocol):
    """The use cases of a run. Plain methods block."""

    async def create(self, request: RunRequest) -> Json:
        """Start a run in its own task."""

    def get(self, run_id: str) -> Json:
        """Return the whole result of a run as it stands."""

    def list(self, status: str | None, limit: int, offset: int) -> Json:
        """Return a page of the runs, the newest first."""

    def events(self, run_id: str, after: int = 0) -> AsyncIterator[StreamEvent]:
        """Yield the events after `after`, first those that were, then those that come."""

    def last_terminal(self, run_id: str) -> int | None:
        """Return the number of the event that ended the stream, None while it goes on."""

    async def approve(self, run_id: str, request: ApprovalRequest) -> Json:
        """Decide on the plan of a waiting run."""

    async def resume(self, run_id: str) -> Json:
        """Continue an interrupted run."""

    async def cancel(self, run_id: str) -> Json:
        """End a run."""

    def evidence(self, run_id: str) -> Json:
        """Return the evidence of a run."""

    def trace(self, run_id: str) -> Json:
        """Return a run explained."""

    def bundle(self, run_id: str) -> Json:
        """Return everything about a run."""

    def verify(self, run_id: str, level: str = "stored") -> Json:
        """Check the citations of a run again."""

    def graph(self) -> str:
        """Return the graph as Mermaid."""

    async def close(self) -> None:
        """End live runs so that they can be resumed."""


class Corpus(Protocol):
    """The documents. Every method blocks."""

    def documents(self, limit: int = 50, offset: int = 0) -> tuple[list[Document], int]:
        """Return a page of the documents and how many there are."""

    def document(self, document_id: str) -> Document | None:
        """Return one document."""

    def text(self, document_id: str) -> str | None:
        """Return the text of a document."""

    def pages(self, document_id: str) -> list[Page]:
        """Return the pages of a document."""

    def remove(self, document_id: str) -> bool:
        """Take a document out of the corpus."""

    def ingest(self, paths: Sequence[Path], progress: Callable[[FileProgress], None] = ...) -> IngestReport:
        """Make files searchable."""

    def stats(self) -> dict[str, int]:
        """Return how many documents and chunks can be searched."""


class Found(Protocol):
    """What a search found."""

    def to_json(self) -> Json:
        """Return the `search` object of the interface."""


class Search(Protocol):
    """Retrieval alone; it blocks."""

    def search(self, query: str, limit: int = 10) -> Found:
        """Return passages with their scores."""


class Services(Protocol):
    """Everything that the routes call."""

    @property
    def settings(self) -> Settings:
        """The settings of the process."""

    @property
    def library(self) -> Corpus:
        """The documents."""

    @property
    def retriever(self) -> Search:
        """The search."""

    @property
    def runs(self) -> Runs:
        """The runs."""


UsesServices = Annotated[Services, Dependency(skip_validation=True)]
"""The type of a handler's `services`; a protocol cannot be validated."""
