"""Which number does a citation get? Evidence is append-only, and the number is the position.

When a sentence has passed every check, the passages it cites that are not yet evidence are appended, in pool order.
So numbers are contiguous from 1, first appearances ascend, and every prefix of an answer is a valid answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ingest.tokenize import is_cjk

_MARKER = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Ledger:
    """The evidence so far: chunk ids, the number of each being its position from 1."""

    chunk_ids: tuple[str, ...] = ()

    def commit(
        self, cited: Sequence[str], pool_order: Sequence[str]
    ) -> tuple[Ledger, tuple[int, ...], tuple[str, ...]]:
        """Return the ledger after a sentence, the sentence's numbers ascending, and what was appended, in order."""
        rank = {chunk_id: position for position, chunk_id in enumerate(pool_order)}
        fresh = [chunk_id for chunk_id in dict.fromkeys(cited) if chunk_id not in self.chunk_ids]
        appended = tuple(sorted(fresh, key=lambda chunk_id: rank.get(chunk_id, len(rank))))
        ledger = Ledger(self.chunk_ids + appended)
        numbers = {chunk_id: number for number, chunk_id in enumerate(ledger.chunk_ids, 1)}
        return ledger, tuple(sorted({numbers[chunk_id] for chunk_id in cited})), appended


def joined(text: str, numbers: Sequence[int], *, first: bool) -> str:
    """Return a sentence as it stands in the answer: its own brackets round numbers made harmless, its markers behind.

    Later sentences are set off by a space, or by nothing after Chinese punctuation.
    """
    safe = _MARKER.sub(r"(\1)", text)
    gap = "" if first else ("" if safe and is_cjk(safe[0]) else " ")
    return gap + safe + "".join(f"[{number}]" for number in numbers)


def problems(answer: str, citations: Sequence[Mapping[str, object]]) -> list[str]:
    """Return what is wrong with the markers of an answer against its citations; empty if nothing is."""
    markers = [int(number) for number in _MARKER.findall(answer)]
    numbers = [citation["number"] for citation in citations]
    found = []
    if numbers != list(range(1, len(numbers) + 1)):
        found.append("citation numbers are not contiguous from 1")
    found += [f"[{number}] names no citation" for number in dict.fromkeys(markers) if number not in numbers]
    found += [f"citation {number} is not used" for number in numbers if number not in markers]
    first_seen = list(dict.fromkeys(markers))
    if first_seen != sorted(first_seen):
        found.append("first appearances do not ascend")
    return found
