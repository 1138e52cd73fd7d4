"""Figures as words: counts, milliseconds, sizes."""

UNITS = ("bytes", "kB", "MB", "GB", "TB")
UNIT = 1024


def many(count: float, thing: str) -> str:
    """Return a count with what is counted, in the plural unless it is one."""
    return f"{count:,.0f} {thing}{'' if round(count) == 1 else 's'}"


def ms(count: float) -> str:
    """Return milliseconds with three digits, or all before the point."""
    return f"{count:,.0f} ms" if count >= 100 else f"{count:.3g} ms"


def size(count: float) -> str:
    """Return a number of bytes in the largest unit that it has one of, with three digits."""
    power = 0
    while count >= UNIT and power < len(UNITS) - 1:
        count, power = count / UNIT, power + 1
    return f"{count:,.0f} {UNITS[power]}" if count >= 100 else f"{count:.3g} {UNITS[power]}"
