"""What is the BM25 weight of a term in a passage?

The engine multiplies by idf = ln(1 + (N - n + 0.5) / (n + 0.5)) of the live corpus, so the stored weight is only
tf (k1 + 1) / (tf + k1 (1 - b + b len / average)) (Robertson and Zaragoza 2009). The average length is fixed: with
passages cut to one size it hardly moves, and a fixed one never asks for a rebuild.
"""

from __future__ import annotations

import hashlib
from collections import Counter

from ingest.tokenize import query_terms, tokens
from ingest.types import SparseVector

K1 = 1.2
B = 0.75
AVERAGE_LENGTH = 150.0
"""Terms of an average passage: chunks aim at 180 model tokens, titles and headings included."""


def document_weights(text: str, average: float = AVERAGE_LENGTH) -> SparseVector:
    """Return the weights of a passage's terms."""
    counts = Counter(tokens(text))
    length = sum(counts.values())
    norm = K1 * (1 - B + B * length / average)
    return _vector({term: count * (K1 + 1) / (count + norm) for term, count in counts.items()})


def query_weights(text: str) -> SparseVector:
    """Return weight 1 for each distinct term of a question."""
    return _vector(dict.fromkeys(query_terms(text), 1.0))


def term_id(term: str) -> int:
    """Return the 32-bit number of a term."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=4).digest(), "big")


def _vector(weights: dict[str, float]) -> SparseVector:
    by_id: dict[int, float] = {}
    for term, weight in weights.items():
        number = term_id(term)
        by_id[number] = max(by_id.get(number, 0.0), weight)
    ordered = sorted(by_id.items())
    return SparseVector(tuple(number for number, _ in ordered), tuple(weight for _, weight in ordered))
