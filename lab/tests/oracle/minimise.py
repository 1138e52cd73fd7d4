"""Shortens a session, or whatever has parts, that shows a difference."""

from collections.abc import Callable, Sequence
from typing import TypeVar

MOST_TRIALS = 80

T = TypeVar("T")


def minimise(
    parts: Sequence[T],
    differs: Callable[[tuple[T, ...]], bool],
    most_trials: int = MOST_TRIALS,
) -> tuple[T, ...]:
    """Return `parts` without those that the difference does not need.

    `differs` tries some of them and returns whether they still show a difference; it is called at
    most `most_trials` times. Ever shorter runs of parts are left out, so that long sequences
    shrink quickly; unless the trials ran out, no single part can be left out at the end.
    """
    kept = tuple(parts)
    size = max(1, len(kept) // 2)
    while True:
        before = kept
        start = 0
        while start < len(kept):
            shorter = kept[:start] + kept[start + size :]
            if most_trials == 0:
                return kept
            most_trials -= 1
            if shorter and differs(shorter):
                kept = shorter
            else:
                start += size
        if size == 1 and kept == before:
            return kept
        size = max(1, size // 2)
