"""How do documents and reports look as JSON, on the command line and over HTTP alike?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ingest.types import Document, IngestReport, Page


def document_json(document: Document, pages: Sequence[Page] | None = None, text: str | None = None) -> dict[str, Any]:
    """Return a document; `page_map` and `text` only where they are given."""
    found: dict[str, Any] = asdict(document) | {
        "status": document.status.value, "tags": list(document.tags), "ocr_pages": list(document.ocr_pages),
    }  # fmt: skip
    if pages is not None:
        found["page_map"] = [
            {"number": page.number, "label": page.label, "start": page.span.start, "end": page.span.end}
            for page in pages
        ]
    if text is not None:
        found["text"] = text
    return found


def report_json(report: IngestReport) -> dict[str, Any]:
    """Return the report of an ingestion."""
    return {
        "files": [asdict(file) | {"status": file.status.value} for file in report.files],
        "totals": report.totals(),
        "seconds": report.seconds,
        "embedded": report.embedded,
        "written": report.written,
    }
