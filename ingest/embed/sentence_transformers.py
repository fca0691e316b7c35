"""How does a sentence-transformers model embed? Loaded on first use: making one costs nothing."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ingest.embed.cpu import has_bf16
from ingest.embed.port import Vectors
from ingest.errors import ModelUnavailable

BATCH = 16


class SentenceTransformerEmbedder:
    """A model from a folder, or by its name on a hub. Prefixes are those of the model's own configuration."""

    def __init__(self, source: Path | str, name: str, dimension: int | None = None) -> None:
        self._source = source
        self._name = name
        self._dimension = dimension if dimension is not None else _configured_dimension(source)
        self._loaded: Any = None
        self._lock = threading.RLock()

    @property
    def name(self) -> str:
        """See `Embedder`."""
        return self._name

    @property
    def dimension(self) -> int:
        """See `Embedder`."""
        if self._dimension is None:
            with self._lock:
                self._dimension = int(self._model().get_embedding_dimension())
        return self._dimension

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        return self._encode(texts, "document")

    def embed_query(self, text: str) -> Vectors:
        """See `Embedder`."""
        return np.asarray(self._encode([text], "query")[0], dtype=np.float32)

    def passage_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        """See `Embedder`."""
        return self._tokens(texts, "document")

    def query_tokens(self, text: str) -> Vectors:
        """See `Embedder`."""
        return self._tokens([text], "query")[0]

    def _encode(self, texts: Sequence[str], kind: str) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        with self._lock:
            model = self._model()
            made = model.encode(
                list(texts), prompt=_prompt(model, kind), batch_size=BATCH, show_progress_bar=False,
                convert_to_numpy=False, convert_to_tensor=True,
            )  # fmt: skip
            vectors = np.asarray(made.float().cpu().numpy(), dtype=np.float32)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(norms, 1e-12), dtype=np.float32)

    def _tokens(self, texts: Sequence[str], kind: str) -> list[Vectors]:
        if not texts:
            return []
        with self._lock:
            model = self._model()
            prompt = _prompt(model, kind) or ""
            made = model.encode(
                list(texts), prompt=prompt, batch_size=BATCH, show_progress_bar=False,
                output_value="token_embeddings", convert_to_numpy=False,
            )  # fmt: skip
            kept = [_kept(model, prompt, text) for text in texts]
        vectors = [np.asarray(one.float().cpu().numpy(), dtype=np.float32) for one in made]
        return [_unit(rows[places]) for rows, places in zip(vectors, kept, strict=True)]

    def _model(self) -> Any:
        if self._loaded is None:
            self._loaded = _load(self._source)
        return self._loaded


def _load(source: Path | str) -> Any:
    local = Path(source).is_dir()
    if local:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # threads that spin take the cores from everything else
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging

    hub_logging: Any = transformers_logging

    hub_logging.set_verbosity_error()
    hub_logging.disable_progress_bar()
    logging.getLogger("sentence_transformers").setLevel(logging.WARNING)
    dtype = torch.bfloat16 if has_bf16() else torch.float32
    try:
        return SentenceTransformer(
            str(source), device="cpu", trust_remote_code=False, local_files_only=local,
            model_kwargs={"torch_dtype": dtype},
        )  # fmt: skip
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelUnavailable(
            f"The embedding model {source} cannot be loaded ({error}): check CITEDRAG_EMBEDDER, or unset it."
        ) from error


def _prompt(model: Any, kind: str) -> str | None:
    prompts: dict[str, str] = getattr(model, "prompts", None) or {}
    prompt = prompts.get(kind)
    return prompts.get("passage", prompt) if kind == "document" and not prompt else prompt


def _kept(model: Any, prompt: str, text: str) -> list[int]:
    """Return the places of a text's own tokens: neither special ones nor those of the prompt.

    The prompt is found by comparing, not by its length: its last blank becomes part of a Latin word that follows.
    """
    options = {"truncation": True, "max_length": model.max_seq_length, "return_special_tokens_mask": True}
    made = model.tokenizer(prompt + text, **options)
    own = [place for place, special in enumerate(made["special_tokens_mask"]) if not special]
    before = model.tokenizer(prompt, add_special_tokens=False)["input_ids"] if prompt else []
    shared = 0
    while shared < min(len(before), len(own)) and made["input_ids"][own[shared]] == before[shared]:
        shared += 1
    return own[shared:]


def _configured_dimension(source: Path | str) -> int | None:
    """Read a local model's dimension without loading it; None where a further module may change it."""
    plain = {"Transformer", "Pooling", "Normalize"}
    with contextlib.suppress(OSError, ValueError, KeyError):
        modules = json.loads((Path(source) / "modules.json").read_text(encoding="utf-8"))
        config = json.loads((Path(source) / "config.json").read_text(encoding="utf-8"))
        if all(module["type"].rpartition(".")[2] in plain for module in modules):
            return int(config["hidden_size"])
    return None


def _unit(vectors: Vectors) -> Vectors:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(norms, 1e-12), dtype=np.float32)
