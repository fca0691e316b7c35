"""How sure is a mean, and is one run better than another, or is it chance?

Intervals are percentile bootstrap intervals of the mean over questions (Efron and Tibshirani 1993, chapter 13). Two
runs are compared on the same questions by a paired permutation test: if neither is better, the sign of each difference
is a coin's (Fisher 1935; Smucker et al. 2007 for retrieval). Everything is seeded: the same numbers give the same
result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

CONFIDENCE = 0.95
SIGNIFICANT = 0.05
SEED = 20_240_229
BOOTSTRAP_SAMPLES = 2_000
PERMUTATIONS = 9_999
"""Up to 13 differences all sign flips are tried, and p is exact; beyond, its standard error at 0.05 is 0.002."""
_NUMBERS_AT_ONCE = 2_000_000
"""Of a batch of resamples, so that thousands of questions need no gigabytes."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Run b against run a on the same `n` questions: `difference` = b - a, with its 95 % interval `low` to `high`.

    `p` is two-sided. `verdict` is about b, and other than "no difference" only if p < 0.05.
    """

    mean_a: float
    mean_b: float
    difference: float
    low: float
    high: float
    p: float
    verdict: Literal["better", "worse", "no difference"]
    n: int


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of the mean. Raises ValueError for no values.

    Equal values, or one alone, give an interval of no width: resampling cannot tell how sure they are.
    """
    if not values:
        raise ValueError("There is no interval of no values.")
    sample: Floats = np.asarray(values, dtype=np.float64)
    if np.all(sample == sample[0]):
        return float(sample[0]), float(sample[0])
    found = stats.bootstrap(
        (sample,), np.mean, confidence_level=CONFIDENCE, method="percentile", vectorized=True,
        n_resamples=BOOTSTRAP_SAMPLES, batch=_batch(len(sample)), rng=np.random.default_rng(SEED),
    ).confidence_interval  # fmt: skip
    return float(found.low), float(found.high)


def share_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % interval of a mean of values in [0, 1]. Raises ValueError for no values.

    Where all are 0, or all 1, resampling knows no other: then it is the exact one of Clopper and Pearson (1934), whose
    far end is 0.025 ** (1 / n) from the end that was not seen.
    """
    low, high = interval(values)
    if low == high and low in (0.0, 1.0):
        seen = float(((1 - CONFIDENCE) / 2) ** (1 / len(values)))
        return (0.0, 1 - seen) if low == 0.0 else (seen, 1.0)
    return low, high


def permutation_p(differences: Sequence[float]) -> float:
    """Return the two-sided p of the mean of paired differences under sign flips; 1 if none differs from 0.

    It is twice the smaller one-sided p, at most 1. Differences of 0 keep their sign whatever the coin says, so they are
    left out, and more cases can be counted out exactly.
    """
    sample: Floats = np.asarray([one for one in differences if one], dtype=np.float64)
    if len(sample) < 2:
        return 1.0
    found = stats.permutation_test(
        (sample,), np.mean, permutation_type="samples", alternative="two-sided", vectorized=True,
        n_resamples=PERMUTATIONS, batch=_batch(len(sample)), rng=np.random.default_rng(SEED),
    )  # fmt: skip
    return float(found.pvalue)


def compare(a: Sequence[float], b: Sequence[float], better: Literal["high", "low"]) -> Comparison:
    """Compare the values of run b with those of run a, question by question in the same order.

    `better` says which way the measure is good. Raises ValueError if the two are not paired, or empty.
    """
    if len(a) != len(b):
        raise ValueError(f"The runs are not paired: {len(a)} and {len(b)} values.")
    differences = [after - before for before, after in zip(a, b, strict=True)]
    low, high = interval(differences)
    p = permutation_p(differences)
    mean_a, mean_b, difference = (sum(values) / len(values) for values in (a, b, differences))
    return Comparison(mean_a, mean_b, difference, low, high, p, _verdict(difference, p, better), len(differences))


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return the p of each of many tests, adjusted so that all together err in 5 % of the cases (Holm 1979).

    The i-th smallest of m, from 0, is multiplied by m - i; none is less than one before it, and none is over 1.
    """
    adjusted: dict[str, float] = {}
    reached = 0.0
    for number, name in enumerate(sorted(p_values, key=lambda key: p_values[key])):
        reached = max(reached, min(1.0, (len(p_values) - number) * p_values[name]))
        adjusted[name] = reached
    return {name: adjusted[name] for name in p_values}


def _verdict(difference: float, p: float, better: str) -> Literal["better", "worse", "no difference"]:
    if p >= SIGNIFICANT or not difference:
        return "no difference"
    return "better" if (difference > 0) == (better == "high") else "worse"


def _batch(size: int) -> int:
    return max(1, _NUMBERS_AT_ONCE // size)
