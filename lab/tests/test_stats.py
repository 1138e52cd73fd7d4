"""Medians, intervals and the noise mark."""

import random
import statistics

import pytest

from tollfree.stats import Estimate, median_interval, told_apart, widest


def test_no_samples_give_no_estimate() -> None:
    assert median_interval([]) is None


def test_one_sample_is_its_own_interval() -> None:
    assert median_interval([4.0]) == Estimate(4.0, 4.0, 4.0, 1)


def test_equal_samples_have_no_width() -> None:
    assert median_interval([2.5] * 7) == Estimate(2.5, 2.5, 2.5, 7)


def test_the_interval_is_within_the_samples_and_repeats() -> None:
    samples = [3.1, 2.9, 3.4, 8.0, 3.0, 3.2]
    first = median_interval(samples)
    assert first is not None
    assert first == median_interval(samples)
    assert min(samples) <= first.low <= first.median <= first.high <= max(samples)


def test_the_interval_covers_the_median_about_as_often_as_it_says() -> None:
    chance = random.Random(20261121)
    trials = 200
    covered = 0
    for _ in range(trials):
        found = median_interval([chance.lognormvariate(0, 0.5) for _ in range(15)])
        assert found is not None
        covered += found.low <= 1.0 <= found.high
    # 95% of 200 is 190; fewer than 170 would be a broken bootstrap, not bad luck.
    assert covered >= 170


def test_more_samples_narrow_the_interval() -> None:
    chance = random.Random(7)
    few = median_interval([chance.gauss(10, 1) for _ in range(8)])
    many = median_interval([chance.gauss(10, 1) for _ in range(200)])
    assert few is not None
    assert many is not None
    assert many.high - many.low < few.high - few.low


def test_the_widest_covers_all() -> None:
    joined = widest([Estimate(1.0, 0.9, 1.1, 3), Estimate(1.1, 1.0, 1.3, 3)])
    assert joined == Estimate(statistics.median([1.0, 1.1]), 0.9, 1.3, 6)
    assert widest([]) is None


@pytest.mark.parametrize(
    ("ratio", "apart"),
    [
        (Estimate(6.3, 6.0, 6.6, 10), True),
        (Estimate(1.08, 1.05, 1.12, 10), False),
        (Estimate(0.8, 0.7, 0.85, 10), True),
        (Estimate(0.95, 0.92, 0.99, 10), False),
    ],
)
def test_a_ratio_is_told_apart_only_outside_the_noise(ratio: Estimate, apart: bool) -> None:
    noise = Estimate(1.0, 0.9, 1.1, 10)
    assert told_apart(ratio, noise) is apart


def test_without_an_aa_case_only_one_is_the_bound() -> None:
    assert told_apart(Estimate(1.02, 1.01, 1.03, 10), None)
    assert not told_apart(Estimate(1.02, 0.99, 1.05, 10), None)
