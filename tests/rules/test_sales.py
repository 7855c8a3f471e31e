"""Amounts are divided among products and labs to the last unit."""

from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.sales import spread

WEIGHTS = st.lists(st.integers(0, 10**6), min_size=1, max_size=12)


@given(amount=st.integers(-(10**9), 10**9), weights=WEIGHTS)
def test_the_parts_are_the_whole(amount: int, weights: list[int]) -> None:
    assert sum(spread(amount, weights)) == amount


@given(amount=st.integers(0, 10**9), weights=WEIGHTS)
def test_each_part_is_its_share_to_less_than_a_unit(amount: int, weights: list[int]) -> None:
    total = sum(weights) or len(weights)
    for part, weight in zip(spread(amount, weights), weights, strict=True):
        share = amount * weight if sum(weights) else amount
        assert abs(part * total - share) < total
