"""Axes: from values to pixels, linear or logarithmic, with ticks at round numbers."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

# Beyond this the arithmetic of an axis would overflow, and no reader could use the picture.
LARGEST = 1e100
SMALLEST = 1e-100

# A wider span than this squeezes the small values of a linear axis into nothing.
LINEAR_SPAN = 20


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high` over pixels from `start` to `end` (which may run backwards)."""

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[float, ...]
    log: bool = False

    def position(self, value: float) -> float:
        """Return the pixel of a value; what lies outside the axis is put on its edge."""
        value = min(max(value, self.low), self.high)
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def drawable(values: Iterable[float | None]) -> list[float]:
    """Return the values that have a place on an axis: finite and not absurdly large."""
    return [value for value in values if value is not None and abs(value) <= LARGEST]


def wants_log(values: list[float]) -> bool:
    """Tell whether values are all positive and span too much for a linear axis."""
    return bool(values) and min(values) > SMALLEST and max(values) / min(values) > LINEAR_SPAN


def linear_axis(values: list[float], start: float, end: float) -> Axis:
    """Return an axis over the values and zero."""
    low, high = min([0.0, *values]), max([0.0, *values])
    if high - low < SMALLEST:
        high = low + 1.0
    step = _ceil_125((high - low) / 5)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(step * count for count in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], start, end, ticks)


def log_axis(values: list[float], start: float, end: float) -> Axis:
    """Return a logarithmic axis over the positive values, or over 1 to 10 when there are none."""
    positive = [value for value in values if value > SMALLEST] or [1.0, 10.0]
    low, high = _floor_125(min(positive)), _ceil_125(max(positive))
    if low == high:
        low, high = _floor_125(low * 0.9), _ceil_125(high * 1.1)
    return Axis(low, high, start, end, _log_ticks(low, high), log=True)


def _log_ticks(low: float, high: float) -> tuple[float, ...]:
    """Return 1, 2, 5 of each decade over few decades, powers of ten over many; seven or so."""
    first, last = math.floor(math.log10(low) + 1e-9), math.floor(math.log10(high) + 1e-9)
    decades = math.log10(high / low)
    digits = (1, 2, 5) if decades <= 2.1 else (1, 3) if decades <= 3.1 else (1,)
    stride = max(1, math.ceil(decades / 7))
    every = (
        digit * 10.0**exponent for exponent in range(first, last + 1, stride) for digit in digits
    )
    return tuple(tick for tick in every if low * 0.999 <= tick <= high * 1.001)


def _ceil_125(value: float) -> float:
    """Return the smallest of 1, 2, 5 times a power of ten that is not below the value."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(
        (digit * power for digit in (1, 2, 5) if value <= digit * power * (1 + 1e-9)), 10 * power
    )


def _floor_125(value: float) -> float:
    """Return the largest of 1, 2, 5 times a power of ten that is not above the value."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(digit * power for digit in (5, 2, 1) if value >= digit * power * (1 - 1e-9))
