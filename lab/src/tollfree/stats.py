"""Statistics of paired samples: medians with bootstrap intervals, ratios, the noise mark.

Machines drift by a factor of two between minutes, so figures of different rounds are never
compared: a ratio is taken inside each round, and its median is what we report. The interval is
the percentile bootstrap's (B. Efron, "Bootstrap Methods: Another Look at the Jackknife", Annals
of Statistics 7, 1979). With n samples the median's bootstrap cannot reach beyond the smallest
and largest sample, so few rounds give an interval that is honest about nothing but those rounds;
the number of samples is always shown beside it.

A straight line is by least squares; the intervals of its slope and intercept are the percentile
bootstrap's of its residuals, enlarged by sqrt(n / (n - 2)), since two of the n degrees of freedom
are in the line itself.

How small a ratio can be told apart from none is measured, not assumed: an A/A case runs the
baseline against itself. A ratio whose interval overlaps the A/A case's carries the noise mark.
"""

import math
import operator
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

RESAMPLES = 2000
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Estimate:
    """A median with its interval and the number of samples it rests on."""

    median: float
    low: float
    high: float
    samples: int

    def scaled(self, factor: float) -> "Estimate":
        """Return the same in a unit of which `factor` are one of the present one; positive."""
        return Estimate(self.median * factor, self.low * factor, self.high * factor, self.samples)


@dataclass(frozen=True)
class Line:
    """A line through points; an `Estimate` here has the fitted value in place of a median."""

    intercept: Estimate
    slope: Estimate


def median_interval(samples: Sequence[float], *, seed: int = 0) -> Estimate | None:
    """Return the median and its 95% bootstrap interval, or None without samples.

    The same samples and seed always give the same interval.
    """
    if not samples:
        return None
    median = statistics.median(samples)
    if len(samples) == 1:
        return Estimate(median, median, median, 1)
    choose = random.Random(seed).choices
    medians = [statistics.median(choose(samples, k=len(samples))) for _ in range(RESAMPLES)]
    return _interval(median, medians, len(samples))


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
    tail = round((1 - CONFIDENCE) / 2 * RESAMPLES)
    return Estimate(value, resampled[tail], resampled[-tail - 1], samples)


def widest(estimates: Sequence[Estimate]) -> Estimate | None:
    """Return one estimate whose interval covers all of `estimates`, or None without any.

    Several A/A cases (reading, writing) are joined like this: the noise is the worst of them.
    """
    if not estimates:
        return None
    return Estimate(
        statistics.median(e.median for e in estimates),
        min(e.low for e in estimates),
        max(e.high for e in estimates),
        sum(e.samples for e in estimates),
    )


def told_apart(ratio: Estimate, noise: Estimate | None) -> bool:
    """Return whether a ratio's interval lies clear of the A/A case's interval and of 1.

    The A/A interval is widened to be symmetric (a ratio may be taken either way round).
    """
    low = high = 1.0
    if noise is not None:
        high = max(noise.high, 1 / noise.low, 1.0)
        low = 1 / high
    return ratio.low > high or ratio.high < low
