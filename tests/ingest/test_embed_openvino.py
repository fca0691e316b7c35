"""The packaged model by OpenVINO: the same vectors as the model's own, without torch."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from app.settings import Settings
from app.wiring import open_embedder
from ingest.embed import openvino_export
from ingest.embed.export import NAME, SHA256, ensure_default_model, packaged_weights
from ingest.embed.openvino import BATCH_TOKENS, LONGEST, OpenVinoEmbedder, _batches, _padded
from ingest.embed.openvino_export import FORMAT, ensure_openvino_model, export
from ingest.embed.sentence_transformers import SentenceTransformerEmbedder
from ingest.errors import ModelUnavailable
from ingest.settings import IngestSettings

TEXTS = [
    "The oil of MV Kittiwake is changed after 500 running hours.",
    "艾德港办公室的密码至少有十四个字符。",
    "",
    "word " * 900,
    "Mixed 中文 and English, with numbers 1,234.5 and CVE-2024-1234.",
]

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def served(models: Path) -> OpenVinoEmbedder:
    folder = ensure_openvino_model(models)
    assert folder is not None
    return OpenVinoEmbedder(folder, "multilingual-e5-small")


@pytest.fixture(scope="module")
def reference(models: Path) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(ensure_default_model(models), "multilingual-e5-small")


def test_the_vectors_are_the_models_own(served: OpenVinoEmbedder, reference: SentenceTransformerEmbedder) -> None:
    ours, theirs = served.embed_passages(TEXTS), reference.embed_passages(TEXTS)
    assert ours.shape == (len(TEXTS), served.dimension)
    assert (ours * theirs).sum(axis=1).min() >= 0.999
    np.testing.assert_allclose(np.linalg.norm(ours, axis=1), 1.0, atol=1e-3)
    query = "How often is the oil changed?"
    assert served.embed_query(query) @ reference.embed_query(query) >= 0.999


def test_token_vectors_are_of_the_same_tokens(served: OpenVinoEmbedder, reference: SentenceTransformerEmbedder) -> None:
    for ours, theirs in zip(served.passage_tokens(TEXTS), reference.passage_tokens(TEXTS), strict=True):
        assert ours.shape == theirs.shape
        if len(ours):
            assert (ours * theirs).sum(axis=1).min() >= 0.995
    query = "油品多久更换一次？"
    assert served.query_tokens(query).shape == reference.query_tokens(query).shape


def test_a_text_has_one_vector_whatever_stands_beside_it(served: OpenVinoEmbedder) -> None:
    alone = served.embed_passages([TEXTS[0]])[0]
    beside = served.embed_passages(TEXTS)[0]
    assert alone @ beside >= 0.9995


def test_nothing_is_embedded_to_nothing(served: OpenVinoEmbedder) -> None:
    assert served.embed_passages([]).shape == (0, served.dimension)
    assert served.passage_tokens([]) == []


def test_serving_imports_no_torch(models: Path, served: OpenVinoEmbedder) -> None:
    script = f"""
        import sys
        from pathlib import Path
        from ingest.embed.openvino import OpenVinoEmbedder
        from ingest.embed.openvino_export import ensure_openvino_model
        embedder = OpenVinoEmbedder(ensure_openvino_model(Path({str(models)!r})), "x")
        embedder.embed_query("one")
        embedder.passage_tokens(["two"])
        print(sorted(name for name in ("torch", "transformers", "sentence_transformers") if name in sys.modules))
        print(sys.modules.get("openvino_telemetry"))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert done.stdout.splitlines() == ["[]", "None"]


def test_it_is_the_default_and_torch_stands_in_where_it_cannot_be(
    models: Path, served: OpenVinoEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = models.parent
    settings = Settings(home=home, _env_file=None)
    options = IngestSettings(home=home)
    monkeypatch.setattr(type(options), "models_path", property(lambda _: models))
    assert isinstance(open_embedder(settings, options), OpenVinoEmbedder)
    monkeypatch.setattr("app.wiring.ensure_openvino_model", lambda _: None)
    assert isinstance(open_embedder(settings, options), SentenceTransformerEmbedder)


def test_a_graph_with_other_vectors_is_refused_for_good_and_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openvino_export, "LEAST_COSINE", 2.0)
    monkeypatch.setattr(openvino_export, "version", lambda _: "0")
    folder = tmp_path / f"{NAME}-{SHA256[:12]}-openvino-0-{FORMAT}"
    export(packaged_weights(), folder)
    assert [path.name for path in folder.iterdir()] == ["serving.json"]
    assert "other vectors" in (folder / "serving.json").read_text(encoding="utf-8")
    assert ensure_openvino_model(tmp_path) is None


def test_a_conversion_that_was_cut_short_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_short(*_: object) -> Path:
        raise ModelUnavailable("killed")

    monkeypatch.setattr(openvino_export, "converted", cut_short)
    assert ensure_openvino_model(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_a_query_does_not_wait_for_the_documents_that_are_being_embedded(served: OpenVinoEmbedder) -> None:
    documents = ["The oil of the ferry is changed after five hundred running hours. " * 8] * 60
    served.embed_passages(documents[:5])
    with ThreadPoolExecutor(1) as pool:
        embedding = pool.submit(served.embed_passages, documents)
        time.sleep(0.1)
        served.embed_query("a query between")
        assert not embedding.done()
        assert len(embedding.result()) == len(documents)


def test_threads_get_what_one_alone_gets(served: OpenVinoEmbedder) -> None:
    texts = [f"{word} is text {number}" for number, word in enumerate(["ferry", "berth", "渡轮", "oil"] * 6)]
    alone = [served.embed_passages([text])[0] for text in texts]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda text: served.embed_passages([text])[0], texts))
    assert np.allclose(alone, together, atol=1e-3)


def test_a_query_is_run_once_and_cannot_be_spoilt(served: OpenVinoEmbedder) -> None:
    first = served.embed_query("asked twice")
    assert served.embed_query("asked twice") is first
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1.0


def test_a_conversion_keeps_only_the_graph_and_the_tokenizer(served: OpenVinoEmbedder) -> None:
    assert sorted(path.name for path in served._folder.iterdir()) == [
        "model.bin", "model.xml", "serving.json", "tokenizer.json",
    ]  # fmt: skip
    verdict = json.loads((served._folder / "serving.json").read_text(encoding="utf-8"))
    assert verdict["precision"] in {"bf16", "f32"}
    assert verdict["least_cosine"] >= 0.999


def test_batches_hold_every_text_once_and_stay_within_their_size() -> None:
    lengths = [3, 500, 17, 512, 90, 90, 16, 1] * 8
    found = list(_batches(lengths))
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    for batch in found:
        ids, mask = _padded([[7] * lengths[place] for place in batch])
        assert ids.shape == mask.shape
        assert ids.size <= BATCH_TOKENS
        assert ids.shape[1] <= LONGEST
        assert mask.sum() == sum(lengths[place] for place in batch)
