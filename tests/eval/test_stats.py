"""Are intervals and p-values those that can be worked out by hand?"""

from __future__ import annotations

import random
import statistics
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval.stats import compare, holm, interval, permutation_p


@pytest.mark.parametrize("values", [[0.5], [1.0] * 40, [0.0, 0.0], [0.1] * 7])
def test_equal_values_have_an_interval_without_width(values: list[float]) -> None:
    assert interval(values) == (values[0], values[0])


def test_an_interval_is_that_of_the_normal_approximation_for_many_values() -> None:
    chance = random.Random(3)
    values = [float(chance.random() < 0.3) for _ in range(2000)]
    low, high = interval(values)
    mean, error = statistics.fmean(values), statistics.stdev(values) / len(values) ** 0.5
    assert low == pytest.approx(mean - 1.96 * error, abs=0.002)
    assert high == pytest.approx(mean + 1.96 * error, abs=0.002)


def test_an_interval_holds_the_true_mean_about_as_often_as_it_says() -> None:
    chance = random.Random(5)
    held = 0
    for _ in range(200):
        low, high = interval([chance.gauss(0.5, 0.1) for _ in range(60)])
        held += low <= 0.5 <= high
    assert 180 <= held <= 198


def test_the_same_numbers_give_the_same_result() -> None:
    chance = random.Random(1)
    a, b = ([chance.random() for _ in range(300)] for _ in range(2))
    assert interval(a) == interval(a)
    assert compare(a, b, "high") == compare(a, b, "high")


def test_thousands_of_questions_are_no_trouble() -> None:
    values = [float(number % 3 == 0) for number in range(20_000)]
    low, high = interval(values)
    assert low < statistics.fmean(values) < high


def exact_p(differences: list[int]) -> float:
    """Return the two-sided p by trying every sign; whole numbers, so that ties are ties."""
    sums = [sum(sign * one for sign, one in zip(signs, differences, strict=True))
            for signs in product([1, -1], repeat=len(differences))]  # fmt: skip
    observed = sum(differences)
    above = sum(one >= observed for one in sums) / len(sums)
    below = sum(one <= observed for one in sums) / len(sums)
    return min(1.0, 2 * min(above, below))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_p_of_few_questions_is_that_of_all_sign_flips(differences: list[int]) -> None:
    assert permutation_p([one / 4 for one in differences]) == pytest.approx(exact_p(differences))


@pytest.mark.parametrize(("wins", "p"), [(0, 1.0), (1, 1.0), (5, 2 / 2**5), (6, 2 / 2**6), (13, 2 / 2**13)])
def test_p_where_every_difference_has_the_same_sign(wins: int, p: float) -> None:
    assert permutation_p([1.0] * wins + [0.0] * 30) == pytest.approx(p)


def test_p_of_many_questions_is_near_the_normal_one() -> None:
    differences = [1.0] * 60 + [-1.0] * 40
    sign_test = 2 * (1 - statistics.NormalDist().cdf((60 - 50 - 0.5) / 5))
    assert permutation_p(differences) == pytest.approx(sign_test, abs=0.012)


def test_chance_alone_is_called_a_difference_in_at_most_one_case_of_twenty() -> None:
    chance = random.Random(11)
    found = [permutation_p([chance.choice([-1.0, 0.0, 1.0]) for _ in range(12)]) < 0.05 for _ in range(300)]
    assert sum(found) <= 0.05 * 300 + 8


def test_a_verdict_is_about_the_second_run_and_needs_more_than_chance() -> None:
    low, high = [0.0] * 10, [1.0] * 10
    assert compare(low, high, "high").verdict == compare(high, low, "low").verdict == "better"
    assert compare(high, low, "high").verdict == compare(low, high, "low").verdict == "worse"
    assert compare([0.0] * 5, [1.0] * 5, "high").verdict == "no difference"
    assert compare(low, low, "high").verdict == "no difference"


def test_a_comparison_holds_its_numbers() -> None:
    found = compare([0.0, 0.0, 1.0, 1.0], [1.0, 0.0, 1.0, 1.0], "high")
    assert (found.mean_a, found.mean_b, found.difference, found.n, found.p) == (0.5, 0.75, 0.25, 4, 1.0)
    assert 0.0 <= found.low <= found.difference <= found.high <= 1.0
    alone = compare([0.0], [1.0], "high")
    assert (alone.difference, alone.low, alone.high, alone.p, alone.verdict) == (1.0, 1.0, 1.0, 1.0, "no difference")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_swapping_the_runs_turns_the_verdict(pairs: list[tuple[float, float]]) -> None:
    a, b = ([pair[side] for pair in pairs] for side in (0, 1))
    there, back = compare(a, b, "high"), compare(b, a, "high")
    turned = {"better": "worse", "worse": "better", "no difference": "no difference"}
    assert there.difference == pytest.approx(-back.difference)
    assert there.p == pytest.approx(back.p, abs=0.02)
    if abs(there.p - 0.05) > 0.02:
        assert back.verdict == turned[there.verdict]


def test_what_is_not_paired_is_not_compared() -> None:
    with pytest.raises(ValueError, match="not paired: 1 and 2"):
        compare([0.0], [0.0, 1.0], "high")
    with pytest.raises(ValueError, match="no values"):
        compare([], [], "high")


def test_holm_by_hand() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}) == pytest.approx(
        {"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02}
    )
    assert holm({"a": 0.6, "b": 0.7}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


@given(st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=8))
def test_holm_never_makes_a_test_surer_and_keeps_the_order(p_values: dict[str, float]) -> None:
    found = holm(p_values)
    assert list(found) == list(p_values)
    assert all(p_values[name] <= found[name] <= 1.0 for name in p_values)
    ordered = sorted(p_values, key=lambda name: p_values[name])
    assert [found[name] for name in ordered] == sorted(found.values())
