"""Do a run's citations still stand? `stored`: against the texts we keep; `source`: against the file's own bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.runs.source import CatalogSource
from ingest.errors import IngestError
from ingest.library import Library
from ingest.types import Span

Json = dict[str, Any]

LEVELS = ("stored", "source")


def verify_citations(
    citations: Sequence[Json],
    passages: Mapping[str, Json],
    library: Library,
    source: CatalogSource,
    level: str,
) -> Json:
    """Check each quotation; `passages` are the run's own, by evidence id. Raises ValueError for an unknown level."""
    if level not in LEVELS:
        raise ValueError(f"level is one of {', '.join(LEVELS)}")
    check = _stored if level == "stored" else _source
    rows = []
    for citation in citations:
        reason = check(citation, passages.get(citation["evidence_id"]), library, source)
        rows.append({"number": citation["number"], "ok": reason is None, "reason": reason})
    return {"ok": all(row["ok"] for row in rows), "level": level, "citations": rows}


def _stored(citation: Json, passage: Json | None, library: Library, source: CatalogSource) -> str | None:
    """Check against the passage kept with the run, and against the catalog's text if it holds the same version."""
    if passage is None:
        return "the run does not hold the passage that is cited"
    offset = passage["span"]["start"]
    text = source.text(citation["document"]["id"], citation["document"]["version"])
    for quote in citation["quotes"]:
        start, end = quote["span"]["start"], quote["span"]["end"]
        if passage["text"][start - offset : end - offset] != quote["text"]:
            return "the quotation does not stand in the passage"
        if text is not None and text[start:end] != quote["text"]:
            return "the quotation does not stand in the stored text"
    return None if citation["quotes"] else "it quotes nothing"


def _source(citation: Json, passage: Json | None, library: Library, source: CatalogSource) -> str | None:
    """Check the stored level, then the file: same sha256, and the same words where the citation points."""
    reason = _stored(citation, passage, library, source)
    if reason is not None:
        return reason
    document = library.document(citation["document"]["id"])
    if document is None or document.sha256 != citation["document"]["sha256"]:
        return "the document was removed or has another version now"
    try:
        found = source.reread(document, [Span(**quote["span"]) for quote in citation["quotes"]])
    except IngestError as error:
        return str(error)
    if found is None:
        return "the file is gone, or its bytes are not those that were read"
    data, text = found
    for quote in citation["quotes"]:
        if text[quote["span"]["start"] : quote["span"]["end"]] != quote["text"]:
            return "the file, read again, does not hold the quotation there"
        if quote["byte_span"] is not None and not _same(data, quote, document.encoding or "utf-8"):
            return "the bytes of the file there are not the quotation"
    return None


def _same(data: bytes, quote: Json, encoding: str) -> bool:
    """Compare without white space: a line break of two bytes is one character of the text."""
    piece = data[quote["byte_span"]["start"] : quote["byte_span"]["end"]].decode(encoding, "replace")
    return "".join(quote["text"].split()) in "".join(piece.split())
