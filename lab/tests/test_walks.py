"""Which part of the walks a run walks."""

import pytest
from conftest import chosen, part_of


def test_a_part_depends_on_its_number_alone() -> None:
    walks = [str(number) for number in range(211)]
    assert chosen(walks, 4, 7) == chosen(walks, 4, 7)
    assert chosen(walks, 4, 7) != chosen(walks, 4, 8)


@pytest.mark.parametrize(("walks", "share", "size"), [(11, 4, 3), (12, 4, 3), (3, 4, 1), (5, 1, 5)])
def test_no_walk_is_never_walked(walks: int, share: int, size: int) -> None:
    parts = [chosen(range(walks), share, number) for number in range(100)]
    assert {len(part) for part in parts} == {size}
    assert set().union(*parts) == set(range(walks))


@pytest.mark.parametrize(("count", "share"), [(400, 4), (11, 4), (40, 1)])
def test_no_numbered_case_is_never_walked(count: int, share: int) -> None:
    parts = [part_of(count, share, number) for number in range(share)]
    assert [number for part in parts for number in part] == list(range(count))
