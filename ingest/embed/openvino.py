"""How does the packaged model embed by OpenVINO? Without torch, at 0.4 of its processor time, to the same vectors.

The graph has pooling and normalisation in it, and two outputs: `sentence`, one unit vector a text, and `tokens`, one
for each token. Texts are sorted by length and padded to a multiple of 8 tokens, since OpenVINO compiles its kernels
anew for each shape that it has not seen. Batches are small: that is fastest, and a query that comes while documents
are embedded waits for one of them only (OpenVINO runs what it is given in the order in which it came).
"""

from __future__ import annotations

import json
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ingest.embed.port import Vectors
from ingest.errors import ModelUnavailable

Ids = NDArray[np.int64]

MODEL = "model.xml"
TOKENIZER = "tokenizer.json"
VERDICT = "serving.json"
"""Whether the graph gives the model's own vectors on this machine, and the precision in which it is fastest."""
DIMENSION = 384
PAD = 1
"""The id of `<pad>` in the vocabulary."""
LONGEST = 512
"""Tokens that the model reads; what is beyond is cut off."""
STEP = 8
BATCH_TOKENS = 512
"""Padded tokens in one batch: 51 ms of processor time a text of 110 tokens, 56 at 1024, 63 at 4096 (two cores)."""
QUERY, PASSAGE = "query: ", "passage: "
QUERIES = 256
"""Queries whose vectors are kept: retrieval, reranking and planning ask for the same ones."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as token ids, with the places of its own tokens: neither special ones nor those of the prefix."""

    ids: tuple[int, ...]
    own: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """What one run gives: the places of its texts, where each text's own tokens are, and the vectors."""

    places: list[int]
    own: list[tuple[int, ...]]
    sentences: Vectors
    rows: Vectors

    def tokens(self) -> Iterator[tuple[int, Vectors]]:
        """Yield for each text its place and the vectors of its own tokens, shape (tokens, dimension)."""
        for number, (place, own) in enumerate(zip(self.places, self.own, strict=True)):
            yield place, self.rows[number, list(own)]


class OpenVinoEmbedder:
    """The converted model in `folder`, loaded when it is first used. Safe to call from several threads."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None
        self._queries: OrderedDict[str, tuple[Vectors, Vectors]] = OrderedDict()

    @property
    def name(self) -> str:
        """See `Embedder`."""
        return self._name

    @property
    def dimension(self) -> int:
        """See `Embedder`."""
        return DIMENSION

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        vectors = np.zeros((len(texts), DIMENSION), np.float32)
        for batch in self._run(texts, PASSAGE):
            vectors[batch.places] = batch.sentences
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """See `Embedder`. What is returned is kept for the next time, and read-only."""
        return self._query(text)[0]

    def passage_tokens(self, texts: Sequence[str]) -> list[Vectors]:
        """See `Embedder`."""
        found = {place: rows for batch in self._run(texts, PASSAGE) for place, rows in batch.tokens()}
        return [found[place] for place in range(len(texts))]

    def query_tokens(self, text: str) -> Vectors:
        """See `Embedder`. What is returned is kept for the next time, and read-only."""
        return self._query(text)[1]

    def _query(self, text: str) -> tuple[Vectors, Vectors]:
        with self._lock:
            if text in self._queries:
                self._queries.move_to_end(text)
                return self._queries[text]
        (batch,) = self._run([text], QUERY)
        ((_, tokens),) = batch.tokens()
        sentence = batch.sentences[0]
        for kept in (sentence, tokens):
            kept.setflags(write=False)
        with self._lock:
            self._queries[text] = (sentence, tokens)
            while len(self._queries) > QUERIES:
                self._queries.popitem(last=False)
        return sentence, tokens

    def _run(self, texts: Sequence[str], prefix: str) -> Iterator[Batch]:
        if not texts:
            return
        with self._lock:
            tokenizer, model = self._model()
            encoded = encode(tokenizer, texts, prefix)
        request = model.create_infer_request()  # one for each call: a request is not for two threads
        for places in _batches([len(one.ids) for one in encoded]):
            ids, mask = _padded([encoded[place].ids for place in places])
            made = request.infer({"input_ids": ids, "attention_mask": mask}, share_outputs=False)
            yield Batch(places, [encoded[place].own for place in places], made["sentence"], made["tokens"])

    def _model(self) -> tuple[Any, Any]:
        if self._loaded is None:
            precision = json.loads((self._folder / VERDICT).read_text(encoding="utf-8"))["precision"]
            self._loaded = (load_tokenizer(self._folder / TOKENIZER), compiled(self._folder / MODEL, precision))
        return self._loaded


def compiled(model: Path, precision: str) -> Any:
    """Return the model ready to run in `precision` ("bf16", "f32"). Raises ModelUnavailable."""
    hints = {"INFERENCE_PRECISION_HINT": precision, "PERFORMANCE_HINT": "LATENCY"}
    try:
        return engine().Core().compile_model(str(model), "CPU", hints)
    except (ImportError, RuntimeError, OSError) as error:
        raise ModelUnavailable(
            f"OpenVINO cannot load {model} ({error}): remove that folder, and it is made and checked again."
        ) from error


def engine() -> Any:
    """Import OpenVINO without its telemetry, which would write an id of the user into the home folder."""
    sys.modules.setdefault("openvino_telemetry", cast(ModuleType, None))  # an import of it fails, as if not installed
    import openvino

    return openvino


def load_tokenizer(path: Path) -> Any:
    """Return the tokenizer, cutting at what the model can read."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.enable_truncation(LONGEST)
    return tokenizer


def encode(tokenizer: Any, texts: Sequence[str], prefix: str) -> list[Encoded]:
    """Return the texts as the model reads them, with the prefix before each."""
    before = tokenizer.encode(prefix, add_special_tokens=False).ids
    return [_encoded(one, before) for one in tokenizer.encode_batch([prefix + text for text in texts])]


def _encoded(made: Any, before: Sequence[int]) -> Encoded:
    """Find the prefix by comparing, not by its length: its last blank becomes part of a Latin word that follows."""
    own = [place for place, special in enumerate(made.special_tokens_mask) if not special]
    shared = 0
    while shared < min(len(before), len(own)) and made.ids[own[shared]] == before[shared]:
        shared += 1
    return Encoded(tuple(made.ids), tuple(own[shared:]))


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the places of texts of like length, so many that a batch padded to its longest stays within its size."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda one: lengths[one]):
        if batch and _rounded(lengths[place]) * (len(batch) + 1) > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _padded(rows: Sequence[Sequence[int]]) -> tuple[Ids, Ids]:
    width = _rounded(max(map(len, rows)))
    ids = np.full((len(rows), width), PAD, np.int64)
    mask = np.zeros((len(rows), width), np.int64)
    for number, row in enumerate(rows):
        ids[number, : len(row)] = row
        mask[number, : len(row)] = 1
    return ids, mask


def _rounded(length: int) -> int:
    return min(LONGEST, -(-length // STEP) * STEP)
