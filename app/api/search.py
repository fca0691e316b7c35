"""What does retrieval alone find?"""

from __future__ import annotations

from typing import Annotated

from litestar import get
from litestar.params import Parameter

from app.api.services import Json, UsesServices

Query = Annotated[str, Parameter(query="q", min_length=1, max_length=4000)]


@get("/search", sync_to_thread=True, tags=["search"], summary="Search without answering")
def search(services: UsesServices, question: Query, limit: Annotated[int, Parameter(ge=1, le=100)] = 10) -> Json:
    """Return the candidates with their scores, and the stage at which each fell."""
    return services.retriever.search(question, limit).to_json()


ROUTES = (search,)
