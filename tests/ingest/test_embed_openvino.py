"""The packaged model by OpenVINO: the same vectors as the model's own, without torch."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from app.settings import Settings
from app.wiring import open_embedder
from ingest.embed import openvino_export
from ingest.embed.export import ensure_default_model
from ingest.embed.openvino import LONGEST, OpenVinoEmbedder, _batches, _padded
from ingest.embed.openvino_export import ensure_openvino_model
from ingest.embed.sentence_transformers import SentenceTransformerEmbedder
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
    monkeypatch.setattr(openvino_export, "version", lambda _: "0.0-broken")
    monkeypatch.setattr(openvino_export, "LEAST_COSINE", 2.0)
    (models / f"{served._folder.name.replace(served._folder.name.split('-')[-2], '0.0-broken')}.failed").touch()
    assert isinstance(open_embedder(settings, options), SentenceTransformerEmbedder)


def test_a_conversion_keeps_only_the_graph_and_the_tokenizer(served: OpenVinoEmbedder) -> None:
    assert sorted(path.name for path in served._folder.iterdir()) == [
        "compared.json", "model.bin", "model.xml", "tokenizer.json",
    ]  # fmt: skip


def test_batches_hold_every_text_once_and_stay_within_their_size() -> None:
    lengths = [3, 500, 17, 512, 90, 90, 16, 1] * 8
    found = list(_batches(lengths))
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    for batch in found:
        ids, mask = _padded([[7] * lengths[place] for place in batch])
        assert ids.shape == mask.shape
        assert ids.size <= 4096
        assert ids.shape[1] <= LONGEST
        assert mask.sum() == sum(lengths[place] for place in batch)
