"""When a fast path pays: the rule of suite `fdw`'s part `ablation`."""

import pytest

from tollfree import stats
from tollfree.suites.fdw.ablation import PathGain


def gain(
    ratios: list[float],
    *,
    with_path: float = 1,
    without: float = 1,
    trips: bool = False,
    noise: stats.Noise | None = None,
) -> PathGain:
    ratio = stats.median_interval(ratios)
    assert ratio is not None
    return PathGain(
        path="binary_results",
        work="SCAN",
        protocol="simple",
        with_path=with_path,
        without_path=without,
        unit="s",
        ratio=ratio,
        is_told_apart=stats.told_apart(ratio, noise),
        counts_round_trips=trips,
    )


@pytest.mark.parametrize(
    ("ratios", "pays"),
    [
        ([1.2] * 5, True),
        ([1.1] * 5, True),
        ([1.09] * 5, False),
        ([0.8] * 5, False),
        ([2.0], False),
        ([2.0, 2.0], False),
        ([0.5, 1.2, 3.0], False),
    ],
)
def test_time_pays_from_a_tenth_on_if_it_is_told_apart(ratios: list[float], *, pays: bool) -> None:
    assert gain(ratios).pays is pays


def test_what_is_within_the_noise_does_not_pay() -> None:
    noise = stats.noise_of([[1.3] * 5])
    assert not gain([1.2] * 5, noise=noise).pays
    assert gain([1.4] * 5, noise=noise).pays


@pytest.mark.parametrize(
    ("with_path", "without", "pays"), [(1, 2, True), (1, 1, False), (2, 1, False), (1, 1.4, False)]
)
def test_a_round_trip_pays_whatever_the_ratio(
    with_path: float, without: float, *, pays: bool
) -> None:
    assert gain([1.0], with_path=with_path, without=without, trips=True).pays is pays
