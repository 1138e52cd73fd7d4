"""Statistics of paired samples: medians with Student-t intervals, ratios, the noise mark.

Machines drift by a factor of two between minutes, so figures of different rounds are never
compared: a ratio is taken inside each round, and its median is what we report.

The interval around it is Student's t on the logarithms, at 99%. Two candidates that are equal come
in an order that is drawn anew in every round, so the logarithm of their ratio is as likely positive
as negative, independently from round to round, however the machine drifts and whatever bursts there
are. For such samples, of unequal spread, Student's t keeps its promise or more (R. Ibragimov and
U. Mueller, "t-Statistic Based Correlation and Heterogeneity Robust Inference", Journal of Business
& Economic Statistics 28, 2010). The range of few rounds does not: both ends of n ratios lie on the
same side of 1 in 2 of 2^n runs, one in four with three rounds. Few rounds therefore give wide
intervals: 5.7 standard deviations of a round each way with three rounds, 2.1 with five, 1.0 with
ten. The interval is enlarged to hold the median, and one round has none.

A run with a precision ends a case at the end of the first round, LEAST_ROUNDS at the soonest, in
which its interval is narrow enough. Where the rounds so far happen to be more alike than those to
come, that is too soon: of intervals at 99% that end a case fewer than 99% hold the ratio. So the
intervals of such a run are reckoned at SEQUENTIAL_CONFIDENCE, of which at least 99% hold it;
lab/benchmarks/precision.py measures that.

A straight line is by least squares; the intervals of its slope and intercept are the percentile
bootstrap's of its residuals, at 95% (B. Efron, "Bootstrap Methods: Another Look at the Jackknife",
Annals of Statistics 7, 1979), enlarged by sqrt(n / (n - 2)), since two of the n degrees of freedom
are in the line itself.

How small a ratio can be told apart from none is measured, too: A/A cases run the baseline against
itself. A ratio whose interval holds 1, or that is as near to 1 as an A/A case has come, carries the
noise mark. A ratio of one round has no interval, but the logarithms of A/A ratios lie around a
centre that is known, 0: so m of them say by Student's t, of m degrees of freedom, how far a further
one comes in 1 of 100 runs, for normal noise; in 3 of 100 where there are bursts.
"""

import math
import operator
import random
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

CONFIDENCE = 0.99
SEQUENTIAL_CONFIDENCE = 0.995
LEAST_ROUNDS = 7
RESAMPLES = 2000
LINE_CONFIDENCE = 0.95
LARGEST = 700.0
"""A logarithm of which the number is still finite."""


@dataclass(frozen=True)
class Estimate:
    """A median with its interval and the number of samples it rests on."""

    median: float
    low: float
    high: float
    samples: int

    @property
    def interval(self) -> tuple[float, float] | tuple[None, None]:
        """Its ends; one sample has none, for nothing is known of its spread."""
        return (self.low, self.high) if self.samples > 1 else (None, None)

    @property
    def reach(self) -> float:
        """How far from the median the interval goes, as a share; of positive estimates."""
        return max(self.high / self.median, self.median / self.low) - 1

    def is_within(self, precision: float) -> bool:
        """Return whether enough rounds have shown that the interval reaches no farther."""
        return self.samples >= LEAST_ROUNDS and self.reach <= precision

    def scaled(self, factor: float) -> "Estimate":
        """Return the same in a unit of which `factor` are one of the present one; positive."""
        return Estimate(self.median * factor, self.low * factor, self.high * factor, self.samples)


@dataclass(frozen=True)
class Line:
    """A line through points; an `Estimate` here has the fitted value in place of a median."""

    intercept: Estimate
    slope: Estimate


@dataclass(frozen=True)
class Noise:
    """What A/A cases show: how far from 1 the ratio of equal candidates comes in a run."""

    low: float
    high: float
    """Of the A/A cases' ratios, each the median of its rounds."""
    single: float
    """How far a further ratio of one round would come in 1 of 100, as a factor of 1 or more."""

    @property
    def factor(self) -> float:
        """The farthest from 1 of the medians, as a factor: a ratio may be taken either way."""
        return max(self.high, 1 / self.low)


def median_interval(samples: Sequence[float], confidence: float = CONFIDENCE) -> Estimate | None:
    """Return the median and its interval, or None without samples.

    Of one sample the interval is the sample: nothing is known of its spread. So it is of equal
    ones, such as counts. Samples that are not all positive have no logarithms and are taken as they
    are.
    """
    if not samples:
        return None
    median = statistics.median(samples)
    if min(samples) == max(samples):
        return Estimate(median, median, median, len(samples))
    if min(samples) > 0:
        low, high = map(math.exp, _student_interval([math.log(x) for x in samples], confidence))
    else:
        low, high = _student_interval(samples, confidence)
    return Estimate(median, min(low, median), max(high, median), len(samples))


def _student_interval(samples: Sequence[float], confidence: float) -> tuple[float, float]:
    mean = statistics.fmean(samples)
    freedom = len(samples) - 1
    variance = math.fsum((x - mean) ** 2 for x in samples) / freedom
    reach = student_quantile(freedom, confidence) * math.sqrt(variance / len(samples))
    return mean - reach, mean + reach


@cache
def student_quantile(freedom: int, confidence: float = CONFIDENCE) -> float:
    """Return how many standard errors an interval of that confidence reaches to either side.

    The distribution of t has a finite form when its degrees of freedom are a whole number
    (M. Abramowitz and I. A. Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4); its
    argument there is an angle, which bisection finds.
    """
    low, high = 0.0, math.pi / 2
    while (middle := (low + high) / 2) not in (low, high):
        if _student_within(middle, freedom) < confidence:
            low = middle
        else:
            high = middle
    return math.sqrt(freedom) * math.tan(low)


def _student_within(angle: float, freedom: int) -> float:
    """Return the probability that |t| is at most sqrt(freedom) * tan(angle)."""
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for step in range(2 + odd, freedom + 1, 2):
        total += term
        term *= (step - 1) / step * math.cos(angle) ** 2
    if odd:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total


def fitted_line(points: Sequence[tuple[float, float]], *, seed: int = 0) -> Line:
    """Return the line through three or more points (x, y) with 95% bootstrap intervals.

    The same points and seed always give the same intervals.
    """
    xs = [x for x, _ in points]
    slope, intercept = statistics.linear_regression(xs, [y for _, y in points])
    on_line = [intercept + slope * x for x in xs]
    enlarged = math.sqrt(len(points) / (len(points) - 2))
    residuals = [enlarged * (y - fitted) for (_, y), fitted in zip(points, on_line, strict=True)]
    choose = random.Random(seed).choices
    again = [
        statistics.linear_regression(
            xs, list(map(operator.add, on_line, choose(residuals, k=len(points))))
        )
        for _ in range(RESAMPLES)
    ]
    return Line(
        _interval(intercept, [line.intercept for line in again], len(points)),
        _interval(slope, [line.slope for line in again], len(points)),
    )


def _interval(value: float, resampled: list[float], samples: int) -> Estimate:
    resampled.sort()
    tail = round((1 - LINE_CONFIDENCE) / 2 * RESAMPLES)
    return Estimate(value, resampled[tail], resampled[-tail - 1], samples)


def noise_of(ratios: Iterable[Sequence[float]]) -> Noise | None:
    """Return what the A/A cases show, given the ratios of each round by round, or None without any.

    Several A/A cases (reading, writing) are joined: the noise is the worst of them. Where some have
    one round and others more, the medians are those of the others.
    """
    cases = [case for case in ratios if case]
    if not cases:
        return None
    medians = [statistics.median(case) for case in cases if len(case) > 1]
    medians = medians or [case[0] for case in cases]
    return Noise(min(medians), max(medians), _farthest([ratio for case in cases for ratio in case]))


def _farthest(ratios: Sequence[float]) -> float:
    """Return how far from 1 a further ratio of equal candidates comes in 1 of 100, as a factor."""
    logarithms = [abs(math.log(ratio)) for ratio in ratios]
    spread = math.sqrt(statistics.fmean(x * x for x in logarithms))
    return math.exp(min(LARGEST, max(*logarithms, student_quantile(len(ratios)) * spread)))


def told_apart(ratio: Estimate, noise: Noise | None) -> bool:
    """Return whether a ratio can be distinguished from 1.

    Its interval must leave out 1, and no A/A case may have come as far from 1. One round has no
    interval: its ratio must lie beyond where a further round of A/A cases would come, and is not
    told apart where there are none.
    """
    farness = max(ratio.median, 1 / ratio.median)
    if ratio.samples == 1:
        return noise is not None and farness > noise.single
    if ratio.low <= 1 <= ratio.high:
        return False
    return noise is None or farness > noise.factor
