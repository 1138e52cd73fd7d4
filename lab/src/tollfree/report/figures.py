"""How numbers are written: grouped digits, ratios as 6.3x, a dash for what was not measured."""

import math

from tollfree.report.model import Estimate

DASH = "\N{EN DASH}"
NOISE_MARK = "~"
NOISE_MEANING = "not told apart from noise"


def fixed(value: float | None, decimals: int) -> str:
    """Return a number with this many decimals, or a dash."""
    if value is None or not math.isfinite(value):
        return DASH
    return f"{value:,.{decimals}f}"


def significant(value: float | None) -> str:
    """Return a number with four significant digits, or a dash."""
    if value is None or not math.isfinite(value):
        return DASH
    if value and not 1e-4 <= abs(value) < 1e12:
        return f"{value:.3e}"
    return fixed(value, _decimals(value, digits=4))


def ratio(value: float | None) -> str:
    """Return a ratio as 6.3x: finer near 1, where a few per cent matter."""
    if value is None or not math.isfinite(value):
        return DASH
    if value >= 1e6:
        return f"{value:.1e}x"
    return f"{fixed(value, _ratio_decimals(value))}x"


def ratio_interval(estimate: Estimate) -> str:
    """Return the interval of a ratio, written as finely as the ratio; empty when there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    if max(estimate.value, estimate.high) >= 1e6:
        return f"{ratio(estimate.low)}{DASH}{ratio(estimate.high)}"
    decimals = _ratio_decimals(estimate.value)
    return f"{fixed(estimate.low, decimals)}{DASH}{fixed(estimate.high, decimals)}"


def interval(estimate: Estimate) -> str:
    """Return an interval, written as finely as its median; empty when there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    if estimate.value and not 1e-4 <= abs(estimate.value) < 1e12:
        return f"{significant(estimate.low)}{DASH}{significant(estimate.high)}"
    decimals = _decimals(estimate.value, digits=4)
    return f"{fixed(estimate.low, decimals)}{DASH}{fixed(estimate.high, decimals)}"


def tick(value: float) -> str:
    """Return the label of an axis tick."""
    if value and not 1e-4 <= abs(value) < 1e7:
        return f"{value:.0e}"
    return f"{value:,.10g}"


def _ratio_decimals(value: float) -> int:
    if value < 0.5:
        return 3
    if value < 2:
        return 2
    return 1 if value < 100 else 0


def _decimals(value: float, digits: int) -> int:
    if not value or not math.isfinite(value):
        return 0
    return max(0, digits - 1 - math.floor(math.log10(abs(value))))
