from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.core.types import DocumentRef, Passage, Scores
from app.retrieval.cross_encoder import CrossEncoderReranker, sigmoid
from app.retrieval.rerank import Features, LateInteractionReranker, late_interaction, load_coefficients, probability
from app.retrieval.select import select
from ingest.embed.hashing import HashingEmbedder

DOCUMENT = DocumentRef("d", "Leave", "leave.md", "0", 1)


def passage(chunk_id: str, text: str, rerank: float | None = None) -> Passage:
    return Passage(chunk_id, DOCUMENT, text, 0, len(text), scores=Scores(rerank=rerank))


def test_late_interaction_is_the_mean_of_the_best_cosines() -> None:
    query = np.array([[1, 0], [0, 1]], np.float32)
    text = np.array([[1, 0], [0.6, 0.8]], np.float32)
    assert late_interaction(query, text) == pytest.approx((1.0 + 0.8) / 2)
    assert late_interaction(query, np.zeros((0, 2), np.float32)) == 0.0


def test_the_passage_that_answers_comes_first_with_a_probability() -> None:
    reranker = LateInteractionReranker(HashingEmbedder())
    ranked = reranker.rerank(
        "annual leave days", [passage("a", "The oil change interval."), passage("b", "Annual leave is 24 days.")]
    )
    assert [one.chunk_id for one in ranked] == ["b", "a"]
    assert all(0.0 <= (one.scores.rerank or 0.0) <= 1.0 for one in ranked)


def test_more_of_each_feature_is_never_worse() -> None:
    weights = load_coefficients()
    base = Features(late=0.8, dense=0.8, coverage=0.5, same=1.0)
    for name in ("late", "dense", "coverage"):
        raised = replace(base, **{name: getattr(base, name) + 0.1})
        assert probability(raised, weights) >= probability(base, weights), name


def test_selection_keeps_the_best_within_the_budget_and_says_why_others_fell() -> None:
    ranked = [
        passage("a", "x" * 400, 0.9),
        passage("b", "x" * 400, 0.5),
        passage("c", "x", 0.2),
        passage("d", "x", 0.1),
    ]
    chosen = select(ranked, threshold=0.15, max_items=2, max_tokens=150)
    assert [one.chunk_id for one in chosen.kept] == ["a", "c"]
    assert [(one.chunk_id, why) for one, why in chosen.dropped] == [("b", "tokens"), ("d", "threshold")]


@pytest.mark.parametrize(("logit", "low", "high"), [(0.0, 0.5, 0.5), (10.0, 0.9999, 1.0), (-800.0, 0.0, 1e-300)])
def test_sigmoid_is_applied_once_and_does_not_overflow(logit: float, low: float, high: float) -> None:
    assert low <= sigmoid(logit) <= high


@pytest.mark.models
def test_any_cross_encoder_reranks_by_its_raw_logit(tmp_path: Path) -> None:
    folder = _tiny_cross_encoder(tmp_path)
    ranked = CrossEncoderReranker(str(folder)).rerank("leave", [passage("a", "leave days"), passage("b", "oil change")])
    scores = [one.scores.rerank or 0.0 for one in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 < score < 1.0 for score in scores)


def _tiny_cross_encoder(folder: Path) -> Path:
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "leave", "days", "oil", "change", ">"]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt")).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        num_labels=1,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder
