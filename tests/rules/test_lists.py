"""Long lists of orders: where they are cut, and in which pieces they are written."""

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.lists import (
    IMAGES_IN_PIECE,
    ORDERS_IN_PIECE,
    SizedOrder,
    count_fitting,
    split_into_pieces,
)

SIZES = st.lists(st.integers(0, 2 * IMAGES_IN_PIECE), max_size=3 * ORDERS_IN_PIECE)


def sized(*images: int) -> list[SizedOrder]:
    return [SizedOrder(number, each) for number, each in enumerate(images, start=1)]


@pytest.mark.parametrize(
    ("images", "fitting"),
    [
        ((), 0),
        ((0, 0), 2),
        ((10,), 1),
        ((11,), 1),
        ((11, 0), 1),
        ((5, 5, 0), 3),
        ((5, 5, 1), 2),
        ((5, 6, 0), 1),
        ((0, 11, 1), 1),
    ],
)
def test_a_page_ends_before_it_has_too_many_images_but_always_has_an_order(
    images: tuple[int, ...], fitting: int
) -> None:
    assert count_fitting(sized(*images), most=10) == fitting


@given(SIZES)
def test_every_order_is_in_one_piece_and_pieces_stay_small(images: list[int]) -> None:
    orders = sized(*images)

    pieces = list(split_into_pieces(orders))

    assert list(chain.from_iterable(pieces)) == [order.id for order in orders]
    size = {order.id: order.images for order in orders}
    for piece in pieces:
        assert 1 <= len(piece) <= ORDERS_IN_PIECE
        # All but its last order leave room.
        assert sum(size[number] for number in piece[:-1]) < IMAGES_IN_PIECE
