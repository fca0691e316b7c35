"""What every embedder keeps to: the hashing one always, the packaged model where models are tested."""

from __future__ import annotations

import numpy as np
import pytest

from ingest.embed.export import ensure_default_model
from ingest.embed.hashing import HashingEmbedder
from ingest.embed.openvino import OpenVinoEmbedder
from ingest.embed.openvino_export import ensure_openvino_model
from ingest.embed.port import Embedder
from ingest.embed.sentence_transformers import SentenceTransformerEmbedder

TEXTS = [
    "Every employee has 24 days of annual leave.",
    "每位员工有二十四天年假。",
    "The oil change interval is 500 hours.",
]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    folder = tmp_path_factory.mktemp("models")
    return SentenceTransformerEmbedder(ensure_default_model(folder), name="multilingual-e5-small")


@pytest.fixture(scope="module")
def graph(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    folder = ensure_openvino_model(tmp_path_factory.mktemp("models"))
    assert folder is not None
    return OpenVinoEmbedder(folder, name="multilingual-e5-small")


@pytest.fixture(params=["hashing", *(pytest.param(name, marks=pytest.mark.models) for name in ("real", "graph"))])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return HashingEmbedder() if request.param == "hashing" else request.getfixturevalue(request.param)


def test_vectors_are_of_norm_one_and_in_order(embedder: Embedder) -> None:
    vectors = embedder.embed_passages(TEXTS)
    assert vectors.shape == (3, embedder.dimension)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-3)
    assert vectors[2] @ embedder.embed_passages([TEXTS[2]])[0] == pytest.approx(1.0, abs=1e-2)
    assert embedder.embed_passages([]).shape == (0, embedder.dimension)


def test_a_query_is_nearest_to_what_answers_it(embedder: Embedder) -> None:
    scores = embedder.embed_passages(TEXTS) @ embedder.embed_query("days of annual leave")
    assert int(scores.argmax()) == 0


def test_token_vectors_are_of_norm_one(embedder: Embedder) -> None:
    (tokens,) = embedder.passage_tokens(TEXTS[:1])
    assert tokens.shape[1] == embedder.dimension
    assert np.linalg.norm(tokens, axis=1) == pytest.approx(1.0, abs=1e-3)
    assert len(embedder.query_tokens("annual leave")) >= 2


@pytest.mark.models
def test_the_packaged_model_knows_both_languages(real: Embedder) -> None:
    scores = real.embed_passages(TEXTS) @ real.embed_query("一年有几天年假？")
    assert int(scores.argmin()) == 2
