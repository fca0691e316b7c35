"""A quotation from a scan: it is marked, has a place on its page, and verifies while OCR is to be had."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.settings import Settings
from app.wiring import close_services, open_library, open_services
from tests.harness import ask
from tests.ingest.scans import A4, needs_tesseract, picture, scan

ASKED = "How many persons may use the gangway at the same time?"
OTHER = ["The kitchen opens at seven in the morning.", "Bread is baked every day."]
NOTICE = ["The gangway may be used by at most", "thirty persons at the same time."]


@needs_tesseract
async def test_a_quotation_from_a_scan_is_marked_placed_and_verified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "notice.pdf").write_bytes(scan("Notices of the harbour.", picture(OTHER), picture(["Notice", "", *NOTICE])))
    settings = Settings(home=tmp_path / "home", embedder="hashing", openai_api_key=None, ocr="eng", _env_file=None)
    library = open_library(settings)
    library.ingest([docs])
    services = await open_services(settings, library)
    try:
        result = await ask(services, ASKED)
        (quote,) = [one for citation in result["citations"] for one in citation["quotes"] if "thirty" in one["text"]]
        assert (quote["page"], quote["ocr"]) == (3, True)
        first, second = quote["boxes"]
        assert first["page"] == second["page"] == 3
        assert first["y0"] > second["y0"]
        assert first["x0"] == pytest.approx(72, abs=5)
        assert 72 < A4[1] - first["y1"] < 150
        for level in ("stored", "source"):
            assert services.runs.verify(result["run_id"], level)["ok"]
        monkeypatch.setenv("PATH", str(tmp_path))
        assert services.runs.verify(result["run_id"], "stored")["ok"]
        gone = services.runs.verify(result["run_id"], "source")
        assert not gone["ok"]
        assert "it was read by OCR, which is not to be had now" in gone["citations"][0]["reason"]
    finally:
        await close_services(services)
