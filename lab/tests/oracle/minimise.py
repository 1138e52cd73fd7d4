"""Shortens a session that shows a difference."""

from collections.abc import Callable, Sequence

MOST_TRIALS = 80


def minimise(
    session: Sequence[str],
    differs: Callable[[tuple[str, ...]], bool],
    most_trials: int = MOST_TRIALS,
) -> tuple[str, ...]:
    """Return `session` without the statements that the difference does not need.

    `differs` runs a session and returns whether it still shows a difference; it is called at
    most `most_trials` times. Ever shorter runs of statements are left out, so that long sessions
    shrink quickly; unless the trials ran out, no single statement can be left out at the end.
    """
    kept = tuple(session)
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
