"""What will a plan cost? Calls by DESIGN's rule; tokens from the sizes that passages and answers have here."""

from __future__ import annotations

from typing import Literal

CALLS_PER_TASK = {"parallel": 0, "react": 4}
WRITER_CALLS = 1
PASSAGE_TOKENS = 180
"""A passage of the index (the target size of a chunk)."""
PROMPT_TOKENS = 700
ANSWER_TOKENS = (80, 250, 600)

Range = dict[str, float]


def estimate(
    tasks: int,
    *,
    uses_model: bool = True,
    researcher: Literal["parallel", "react"] = "parallel",
    judge_calls: int = 0,
) -> dict[str, Range]:
    """Return low, expected and high for model calls and tokens of the rest of a run; without a model, zero."""
    if not uses_model:
        nothing = {"low": 0.0, "expected": 0.0, "high": 0.0}
        return {"llm_calls": nothing, "tokens_in": dict(nothing), "tokens_out": dict(nothing)}
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
