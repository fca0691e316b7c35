"""The sentence-transformers embedder: lazy, silent, with the model's own prefixes."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from ingest.embed.export import ensure_default_model
from ingest.embed.sentence_transformers import SentenceTransformerEmbedder
from ingest.errors import ModelUnavailable

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformerEmbedder:
    folder = ensure_default_model(tmp_path_factory.mktemp("models"))
    return SentenceTransformerEmbedder(folder, name="multilingual-e5-small")


def folder_with(tmp_path: Path, *types: str) -> Path:
    (tmp_path / "config.json").write_text(json.dumps({"hidden_size": 384}), encoding="utf-8")
    modules = [{"type": f"sentence_transformers.models.{name}"} for name in types]
    (tmp_path / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    return tmp_path


def test_making_one_imports_nothing_heavy(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "Transformer", "Pooling", "Normalize")
    code = "import sys; from pathlib import Path; "
    code += "from ingest.embed.sentence_transformers import SentenceTransformerEmbedder as Made; "
    code += "one = Made(Path(sys.argv[1]), 'm'); print(one.dimension, sorted({'torch', 'transformers', "
    code += "'sentence_transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code, str(folder)], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.strip() == "384 []"


def test_a_dimension_that_a_further_module_changes_is_not_guessed(tmp_path: Path) -> None:
    made = SentenceTransformerEmbedder(folder_with(tmp_path, "Transformer", "Pooling", "Dense"), "m")
    assert made._dimension is None


@pytest.mark.models
def test_a_folder_without_a_model_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="CITEDRAG_EMBEDDER"):
        SentenceTransformerEmbedder(tmp_path, "m", 384).embed_query("leave")


@pytest.mark.models
@pytest.mark.parametrize(
    ("text", "count"),
    [("leave", 1), ("annual leave", 2), (" lead", 1), ("24 days", 2), ("一年有几天年假？", 6), ("", 0)],
)
def test_every_token_of_a_text_has_a_vector_and_none_of_the_prefix(
    model: SentenceTransformerEmbedder, text: str, count: int
) -> None:
    assert model.query_tokens(text).shape == (count, 384)
    (passage,) = model.passage_tokens([text])
    assert passage.shape == (count, 384)


@pytest.mark.models
def test_texts_of_any_length_keep_their_order(model: SentenceTransformerEmbedder) -> None:
    texts = ["word " * 3000, "one", "", "a few words more"]
    assert [len(rows) for rows in model.passage_tokens(texts)] == [508, 1, 0, 4]
    together = model.embed_passages(texts)
    for text, vector in zip(texts, together, strict=True):
        assert float(vector @ model.embed_passages([text])[0]) > 0.99


@pytest.mark.models
def test_queries_and_passages_have_their_own_prefix(model: SentenceTransformerEmbedder) -> None:
    as_query, as_passage = model.embed_query("annual leave"), model.embed_passages(["annual leave"])[0]
    assert 0.7 < float(as_query @ as_passage) < 0.995


@pytest.mark.models
def test_threads_share_one_model_and_nothing_is_printed(
    model: SentenceTransformerEmbedder, capfd: pytest.CaptureFixture[str]
) -> None:
    expected = model.embed_query("annual leave")
    capfd.readouterr()
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(model.embed_query, ["annual leave"] * 12))
    assert all(np.allclose(vector, expected, atol=1e-3) for vector in made)
    assert capfd.readouterr() == ("", "")
