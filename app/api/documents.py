"""Which documents are there, what do they say, and how is one taken out?"""

from __future__ import annotations

from typing import Annotated

from litestar import delete, get
from litestar.params import Parameter

from app.api.errors import ApiError
from app.api.schemas import listing, problems
from app.api.services import Json, Services, UsesServices
from app.views import document_json
from ingest.types import Document

Limit = Annotated[int, Parameter(ge=1, le=200)]
Offset = Annotated[int, Parameter(ge=0, le=10**9)]


@get("/documents", sync_to_thread=True, tags=["documents"], summary="List documents")
def list_documents(services: UsesServices, limit: Limit = 50, offset: Offset = 0) -> Json:
    """Return a page of the documents, by path."""
    found, total = services.library.documents(limit, offset)
    return listing([document_json(document) for document in found], total, limit, offset)


@get(
    "/documents/{document_id:str}",
    sync_to_thread=True,
    tags=["documents"],
    summary="One document",
    responses=problems(404),
)
def get_document(document_id: str, services: UsesServices) -> Json:
    """Return a document with its text and the map of its pages."""
    document = _document(services, document_id)
    library = services.library
    return document_json(document, library.pages(document_id), library.text(document_id) or "")


@get(
    "/documents/{document_id:str}/text",
    sync_to_thread=True,
    tags=["documents"],
    summary="The text of a document",
)
def get_text(document_id: str, services: UsesServices) -> Json:
    """Return the text in which every span of a citation counts."""
    _document(services, document_id)
    return {"id": document_id, "text": services.library.text(document_id) or ""}


@delete(
    "/documents/{document_id:str}",
    sync_to_thread=True,
    tags=["documents"],
    summary="Remove a document",
    responses=problems(404),
)
def remove_document(document_id: str, services: UsesServices) -> None:
    """Take a document out of the corpus; runs that cited it keep what they cited."""
    if not services.library.remove(document_id):
        raise ApiError(404, "document_not_found", "There is no such document.")


def _document(services: Services, document_id: str) -> Document:
    document = services.library.document(document_id)
    if document is None:
        raise ApiError(404, "document_not_found", "There is no such document.")
    return document


ROUTES = (list_documents, get_document, get_text, remove_document)
