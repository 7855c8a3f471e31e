"""How long lists of orders are cut, and in which pieces they are written."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

# A list with more images than this is long: it is written piece by piece.
MOST_AT_ONCE: Final = 500
# A piece ends with the order that fills it, so that it may have the images of one order more.
IMAGES_IN_PIECE: Final = 250
ORDERS_IN_PIECE: Final = 100


class SizedOrder(NamedTuple):
    """An order of a list, and how many images it has."""

    id: int
    images: int


def count_fitting(sized: Sequence[SizedOrder], *, most: int) -> int:
    """Return how many orders of a page are shown if it may have so many images: one at least."""
    images = 0
    for place, order in enumerate(sized):
        images += order.images
        if images > most and place:
            return place
    return len(sized)


def split_into_pieces(sized: Iterable[SizedOrder]) -> Iterator[tuple[int, ...]]:
    """Yield the ids of the orders of each piece of a list; all are read as they are needed."""
    ids: list[int] = []
    images = 0
    for order in sized:
        ids.append(order.id)
        images += order.images
        if images >= IMAGES_IN_PIECE or len(ids) == ORDERS_IN_PIECE:
            yield tuple(ids)
            ids, images = [], 0
    if ids:
        yield tuple(ids)
