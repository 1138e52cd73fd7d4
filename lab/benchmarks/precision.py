"""What ending a case when its interval is narrow enough does to the interval (`run --precision`).

Equal candidates are measured in simulated rounds, by the rule of a run: from LEAST_ROUNDS on it
looks at the interval after each round, and ends the case when it reaches no farther than the
precision. The true ratio is 1, so every interval should hold 1, and no ratio should be told apart
from 1 beside two A/A cases that are ended by the same rule. Printed is how many intervals and
ratios fail, for rounds of different spread, for even noise and for bursts, and for intervals at
the confidence of a run without a precision and of one with it. One bound is watched: at most 1% of
the latter fail.

    .venv/bin/python lab/benchmarks/precision.py [--trials N] [--precision SHARE] [--most ROUNDS]
"""

import argparse
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from tollfree.stats import (
    CONFIDENCE,
    LEAST_ROUNDS,
    SEQUENTIAL_CONFIDENCE,
    Estimate,
    median_interval,
    noise_of,
    told_apart,
)

SEED = 20261124
SPREADS = (0.5, 1, 1.5, 2, 2.5, 3)
"""Of a round's logarithm, in units of the precision."""

Draw = Callable[[random.Random, float], float]
"""Draws the logarithm of a ratio of equal candidates, of that spread."""


@dataclass(frozen=True)
class Outcome:
    """What became of many cases."""

    missed: float
    """The share of the intervals that leave out 1."""
    alarms: float
    """The share of the ratios that are told apart from 1."""
    rounds: float
    """How many rounds a case took, on average."""
    ended: float
    """The share of the cases whose interval became narrow enough."""


def even(chance: random.Random, spread: float) -> float:
    """Draw noise of a quiet machine."""
    return chance.gauss(0, spread)


def bursts(chance: random.Random, spread: float) -> float:
    """Draw noise of a machine with other work: one round in seven is several times as far off."""
    far = chance.expovariate(0.4) if chance.random() < 1 / 7 else 0.0
    return chance.gauss(0, spread) * (1 + far)


NOISES: dict[str, Draw] = {"even": even, "bursts": bursts}


def measure(
    ratios: Iterator[float], precision: float, most: int, confidence: float
) -> tuple[Estimate, list[float]]:
    """Return the estimate that a run ends with, and its ratios."""
    taken = list(islice(ratios, LEAST_ROUNDS))
    while True:
        found = median_interval(taken, confidence)
        assert found is not None
        if found.is_within(precision) or len(taken) == most:
            return found, taken
        taken.append(next(ratios))


def simulate(
    draw: Draw, spread: float, precision: float, most: int, confidence: float, trials: int
) -> Outcome:
    """Measure equal candidates many times, each beside two A/A cases."""
    chance = random.Random(SEED)

    def ratios() -> Iterator[float]:
        while True:
            yield math.exp(draw(chance, spread))

    missed = alarms = rounds = ended = 0
    for _ in range(trials):
        found, taken = measure(ratios(), precision, most, confidence)
        again = [measure(ratios(), precision, most, confidence)[1] for _ in range(2)]
        missed += not found.low <= 1 <= found.high
        alarms += told_apart(found, noise_of(again))
        rounds += len(taken)
        ended += found.is_within(precision)
    return Outcome(missed / trials, alarms / trials, rounds / trials, ended / trials)


def main() -> None:
    """Print what becomes of intervals and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--trials", type=int, default=5000)
    parser.add_argument("--precision", type=float, default=0.03)
    parser.add_argument("--most", type=int, default=50)
    options = parser.parse_args()
    print(
        f"precision {options.precision:.1%}, at most {options.most} rounds, {options.trials} cases"
    )
    print("noise   spread  confidence  leaves out 1  told apart  rounds  narrow enough")
    for name, draw in NOISES.items():
        for spread in SPREADS:
            for confidence in (CONFIDENCE, SEQUENTIAL_CONFIDENCE):
                found = simulate(
                    *(draw, spread * options.precision, options.precision, options.most),
                    *(confidence, options.trials),
                )
                print(
                    f"{name:7} {spread * options.precision:6.3f} {confidence:11.1%}"
                    f" {found.missed:13.2%} {found.alarms:11.2%} {found.rounds:7.1f}"
                    f" {found.ended:14.0%}"
                )


if __name__ == "__main__":
    main()
