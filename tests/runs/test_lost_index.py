"""An index that was lost, or is half of what it was, is mended before anyone asks it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.settings import Settings
from app.wiring import close_services, open_library, open_services
from tests.harness import write_files


@pytest.mark.parametrize("handed", [False, True], ids=["opened", "handed in"])
@pytest.mark.parametrize("lost", ["index", "one point"])
async def test_what_the_index_lost_is_found_again(tmp_path: Path, lost: str, handed: bool) -> None:
    settings = Settings(home=tmp_path / "home", embedder="hashing", openai_api_key=None, _env_file=None)
    library = open_library(settings)
    library.ingest([write_files(tmp_path / "docs")])
    ids = library.catalog.chunk_ids()
    if lost == "one point":
        library.index.delete([min(ids)])
    library.close()
    if lost == "index":
        shutil.rmtree(settings.home / "index")
    services = await open_services(settings, open_library(settings) if handed else None)
    try:
        assert services.library.index.ids() == ids
        assert services.retriever.search("oil change interval of Kittiwake").candidates
    finally:
        await close_services(services)
