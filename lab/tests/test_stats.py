"""Medians, intervals and the noise mark."""

import math
import random
from collections.abc import Callable

import pytest
from precision import NOISES, simulate

from tollfree.stats import (
    LEAST_ROUNDS,
    SEQUENTIAL_CONFIDENCE,
    Estimate,
    Noise,
    median_interval,
    noise_of,
    student_quantile,
    told_apart,
)


def test_no_samples_give_no_estimate() -> None:
    assert median_interval([]) is None


def test_one_sample_is_its_own_interval() -> None:
    assert median_interval([4.0]) == Estimate(4.0, 4.0, 4.0, 1)


def test_equal_samples_have_no_width() -> None:
    assert median_interval([2.5] * 7) == Estimate(2.5, 2.5, 2.5, 7)


def test_the_interval_holds_the_median_and_is_students() -> None:
    found = median_interval([2.0, 4.0, 8.0])
    assert found is not None
    # Logarithms in steps of log 2: their standard error is log 2 / sqrt(3).
    reach = 9.92484 * math.log(2) / math.sqrt(3)
    assert (found.median, found.samples) == (4.0, 3)
    assert found.low == pytest.approx(4 * math.exp(-reach), rel=1e-5)
    assert found.high == pytest.approx(4 * math.exp(reach), rel=1e-5)
    # The median can lie outside what is reckoned from the mean.
    found = median_interval([*[1.0] * 40, *[2.0, 2.1, 2.2] * 13])
    assert found is not None
    assert found.low == found.median == 1.0


def test_samples_that_have_no_logarithms_are_taken_as_they_are() -> None:
    found = median_interval([0.0, -1.0, 1.0])
    assert found is not None
    assert found.low == pytest.approx(-9.92484 / math.sqrt(3), rel=1e-5)
    assert found.high == -found.low


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 63.65674), (2, 9.92484), (3, 5.84091), (4, 4.60409), (9, 3.24984), (120, 2.61742)],
)
def test_students_quantiles_are_those_of_the_tables(freedom: int, quantile: float) -> None:
    assert student_quantile(freedom) == pytest.approx(quantile, abs=1e-5)


@pytest.mark.parametrize(("freedom", "quantile"), [(4, 5.59757), (6, 4.31683), (19, 3.17372)])
def test_students_quantiles_are_there_for_a_run_with_a_precision(
    freedom: int, quantile: float
) -> None:
    found = student_quantile(freedom, SEQUENTIAL_CONFIDENCE)
    assert found == pytest.approx(quantile, abs=1e-5)


def test_how_far_an_interval_reaches_is_a_factor_of_the_median() -> None:
    assert Estimate(2.0, 1.6, 2.2, 7).reach == pytest.approx(0.25)
    assert Estimate(2.0, 1.9, 2.6, 7).reach == pytest.approx(0.3)


def test_few_rounds_are_not_precise_however_alike_they_are() -> None:
    assert Estimate(2.0, 2.0, 2.0, LEAST_ROUNDS).is_within(0.03)
    assert not Estimate(2.0, 2.0, 2.0, LEAST_ROUNDS - 1).is_within(0.03)
    assert not Estimate(2.0, 1.9, 2.0, LEAST_ROUNDS).is_within(0.03)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("spread", [0.03, 0.045])
def test_ending_a_case_by_its_interval_keeps_99_of_100(noise: str, spread: float) -> None:
    """With rounds so far apart that most cases end, some of them by luck."""
    found = simulate(NOISES[noise], spread, 0.03, 50, SEQUENTIAL_CONFIDENCE, 2000)
    assert LEAST_ROUNDS < found.rounds < 50
    assert found.missed <= 0.01
    assert found.alarms <= 0.01


def ratios_of_equals(chance: random.Random, rounds: int) -> list[float]:
    """Return the ratios of two equal candidates among twenty cases, in the noise of machines.

    The logarithm of the machine's speed is autocorrelated and goes on from round to round; each
    execution has noise of its own and now and then a burst. The ratios' spread is that of an A/A
    run on a busy virtual machine with two cores: 0.2, 0.9 and 2.8 are the median, the ninth decile
    and the 99th percentile of the logarithms' absolute values (there 0.3, 1.0 and 3.1).
    """
    speed = 0.0
    ratios = []
    for _ in range(rounds):
        places = chance.sample(range(20), 2)
        taken = {}
        for place in range(20):
            speed = 0.95 * speed + chance.gauss(0, 0.1)
            if place in places:
                burst = chance.expovariate(1.2) if chance.random() < 0.15 else 0.0
                taken[place] = speed + chance.gauss(0, 0.1) + burst
        ratios.append(math.exp(taken[places[0]] - taken[places[1]]))
    return ratios


@pytest.mark.parametrize("rounds", [2, 3, 5, 10, 20])
def test_equal_candidates_are_inside_their_interval_99_times_of_100(rounds: int) -> None:
    chance = random.Random(20261121)
    trials = 5000
    covered = 0
    for _ in range(trials):
        found = median_interval(ratios_of_equals(chance, rounds))
        assert found is not None
        covered += found.low <= 1 <= found.high
    assert covered >= 0.99 * trials


def test_the_range_of_three_ratios_would_miss_1_in_a_quarter_of_the_runs() -> None:
    chance = random.Random(20261121)
    missed = 0
    for _ in range(2000):
        ratios = ratios_of_equals(chance, 3)
        missed += min(ratios) > 1 or max(ratios) < 1
    assert missed == pytest.approx(500, abs=80)


def equals_told_apart(drawn: Callable[[], list[float]], cases: int, trials: int) -> int:
    """Return in how many runs with so many A/A cases equal candidates are told apart."""
    wrong = 0
    for _ in range(trials):
        noise = noise_of([drawn() for _ in range(cases)])
        found = median_interval(drawn())
        assert found is not None
        wrong += told_apart(found, noise)
    return wrong


@pytest.mark.parametrize("rounds", [1, 2, 3, 10])
def test_equal_candidates_are_hardly_ever_told_apart(rounds: int) -> None:
    """As in a run of suite interface, which has A/A cases at 19 tasks."""
    chance = random.Random(7)
    trials = 400
    wrong = equals_told_apart(lambda: ratios_of_equals(chance, rounds), 19, trials)
    # With one round Student's t is that of normal noise: bursts come beyond it in 3 of 100.
    assert wrong <= (0.06 if rounds == 1 else 0.01) * trials


@pytest.mark.parametrize("cases", [1, 2, 4, 19])
def test_one_round_tells_hardly_ever_equals_apart_however_few_aa_cases(cases: int) -> None:
    chance = random.Random(20261126)
    wrong = equals_told_apart(lambda: [math.exp(chance.gauss(0, 0.2))], cases, 5000)
    # Of 5000 runs 50 on average; the standard deviation is 7.
    assert wrong <= 75


def test_one_round_tells_a_large_difference_apart() -> None:
    noise = noise_of([[0.963], [1.053]])
    assert told_apart(Estimate(8.0, 8.0, 8.0, 1), noise)
    assert not told_apart(Estimate(1.2, 1.2, 1.2, 1), noise)


def test_what_differs_is_told_apart_in_spite_of_the_noise() -> None:
    chance = random.Random(7)
    noise = noise_of([ratios_of_equals(chance, 10) for _ in range(19)])
    found = median_interval([6 * ratio for ratio in ratios_of_equals(chance, 10)])
    assert found is not None
    assert told_apart(found, noise)


def test_more_samples_narrow_the_interval() -> None:
    chance = random.Random(7)
    few = median_interval([chance.gauss(10, 1) for _ in range(8)])
    many = median_interval([chance.gauss(10, 1) for _ in range(200)])
    assert few is not None
    assert many is not None
    assert many.high - many.low < few.high - few.low


def test_the_noise_is_the_worst_of_the_aa_cases() -> None:
    noise = noise_of([[0.5, 1.0, 1.1], [], [1.0, 1.25, 1.5]])
    assert noise is not None
    assert (noise.low, noise.high, noise.factor) == (1.0, 1.25, 1.25)
    assert noise.single >= 2.0
    assert Noise(0.5, 1.25, 3.0).factor == 2.0
    assert noise_of([]) is None
    assert noise_of([[]]) is None


def test_the_medians_of_the_noise_are_of_cases_with_several_rounds() -> None:
    noise = noise_of([[1.5], [0.9, 1.0, 1.1]])
    assert noise is not None
    assert (noise.low, noise.high) == (1.0, 1.0)
    alone = noise_of([[1.5]])
    assert alone is not None
    assert (alone.low, alone.high) == (1.5, 1.5)


NOISE = Noise(0.95, 1.2, 3.0)


@pytest.mark.parametrize(
    ("ratio", "apart"),
    [
        (Estimate(6.3, 6.0, 6.6, 10), True),
        (Estimate(6.3, 0.9, 40.0, 3), False),
        (Estimate(1.15, 1.1, 1.2, 10), False),
        (Estimate(1.25, 1.1, 1.3, 10), True),
        (Estimate(0.8, 0.7, 0.85, 10), True),
        (Estimate(0.9, 0.85, 0.95, 10), False),
        (Estimate(2.9, 2.9, 2.9, 1), False),
        (Estimate(3.1, 3.1, 3.1, 1), True),
        (Estimate(0.3, 0.3, 0.3, 1), True),
    ],
)
def test_a_ratio_is_told_apart_outside_its_interval_and_the_noise(
    ratio: Estimate, apart: bool
) -> None:
    assert told_apart(ratio, NOISE) is apart


def test_without_an_aa_case_only_the_interval_tells() -> None:
    assert told_apart(Estimate(1.02, 1.01, 1.03, 10), None)
    assert not told_apart(Estimate(1.02, 0.99, 1.05, 10), None)
    assert not told_apart(Estimate(9.0, 9.0, 9.0, 1), None)
