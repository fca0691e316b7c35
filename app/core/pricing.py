"""What will a plan cost? Calls by DESIGN's rule; tokens from the sizes that passages and answers have here."""

from __future__ import annotations

from typing import Literal

CALLS_PER_TASK = {"parallel": 0, "react": 4}
WRITER_CALLS = 1
PASSAGE_TOKENS = 180
"""A passage of the index (the target size of a chunk)."""
PROMPT_TOKENS = 700
ANSWER_TOKENS = (80, 250, 600)
MILLION = 1_000_000

Range = dict[str, float]


def estimate(
    tasks: int,
    *,
    uses_model: bool = True,
    researcher: Literal["parallel", "react"] = "parallel",
    judge_calls: int = 0,
    seconds_per_call: float | None = None,
    prices: tuple[float, float] | None = None,
) -> dict[str, Range]:
    """Return low, expected and high of the rest of a run: model calls and tokens; without a model, zero.

    With `seconds_per_call`, `seconds` too; with `prices`, in and out for a million tokens, `cost` in their currency.
    """
    found = _calls_and_tokens(tasks, researcher, judge_calls) if uses_model else _nothing()
    if seconds_per_call is not None:
        found["seconds"] = {name: calls * seconds_per_call for name, calls in found["llm_calls"].items()}
    if prices is not None:
        found["cost"] = {
            name: (found["tokens_in"][name] * prices[0] + found["tokens_out"][name] * prices[1]) / MILLION
            for name in ("low", "expected", "high")
        }
    return found


def _nothing() -> dict[str, Range]:
    return {name: {"low": 0.0, "expected": 0.0, "high": 0.0} for name in ("llm_calls", "tokens_in", "tokens_out")}


def _calls_and_tokens(tasks: int, researcher: Literal["parallel", "react"], judge_calls: int) -> dict[str, Range]:
    calls = tasks * CALLS_PER_TASK[researcher] + WRITER_CALLS + judge_calls
    low, expected, high = ANSWER_TOKENS
    return {
        "llm_calls": {"low": float(calls), "expected": float(calls), "high": float(2 * calls)},
        "tokens_in": {
            "low": float(PROMPT_TOKENS + tasks * PASSAGE_TOKENS),
            "expected": float(PROMPT_TOKENS + tasks * 5 * PASSAGE_TOKENS),
            "high": float(2 * (PROMPT_TOKENS + 24 * PASSAGE_TOKENS)),
        },
        "tokens_out": {"low": float(low), "expected": float(expected), "high": float(2 * high)},
    }
