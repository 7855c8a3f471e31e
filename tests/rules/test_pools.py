"""How the slots of a worker are shared among its pools."""

import pytest

from printworks.rules.jobs import POLICIES
from printworks.rules.pools import POOL_SIZES, Pool, PoolSize


def test_every_pool_has_a_size_and_work() -> None:
    assert set(POOL_SIZES) == {policy.pool for policy in POLICIES.values()} == set(Pool)


@pytest.mark.parametrize(
    ("slots", "counted"), [(1, (1, 0, 2)), (3, (1, 0, 2)), (32, (16, 4, 32)), (33, (16, 4, 32))]
)
def test_a_pool_is_as_large_as_its_worker_allows(slots: int, counted: tuple[int, int, int]) -> None:
    size = PoolSize(slots=1 / 2, aside=2, kept=1 / 4)

    assert (size.count_slots(slots), size.count_kept(slots), size.count_aside(slots)) == counted
