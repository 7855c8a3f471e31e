"""Orders with so many images that they are written in another process, so that nobody waits for them.

Lists are written piece by piece. A handler returns the answer without its orders, and which orders
belong into it. The pieces are written one after the other while the answer is sent, so that no list
is ever in memory as a whole.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

import msgspec

from printworks.actions.services import Services
from printworks.actions.work import SYSTEM
from printworks.api.endpoints import ApiFamily, Call, Endpoint
from printworks.api.links import LinkMaker
from printworks.api.messages import LongBody, Request, Response
from printworks.api.orders import get_changed_order, show_orders
from printworks.api.responses import (
    choose_media_type,
    join_items,
    split_frame,
    write_body,
    write_items,
)
from printworks.api.routing import MatchedRequest
from printworks.rules.lists import MOST_AT_ONCE, SizedOrder, count_fitting, split_into_pieces
from printworks.store.accounts.merchants import get_merchant
from printworks.store.engine.database import Database
from printworks.store.engine.rows import ROWS_AT_ONCE
from printworks.store.orders.orders import Order, list_orders_by_id
from printworks.store.orders.pages import list_sized_orders
from printworks.store.orders.whole_orders import complete_orders

# By which names a version skips orders of a list.
STARTS: Final = ("start", "offset")


class LongList(msgspec.Struct, frozen=True):
    """An answer without its orders, and the ids of the orders of each piece."""

    frame: Any
    pieces: Iterator[tuple[int, ...]]
    headers: tuple[tuple[str, str], ...] = ()


class Piece(NamedTuple):
    """Some orders of a long list, as they are asked for in another process."""

    version: str
    path: str
    media_type: str
    merchant_id: int
    order_ids: tuple[int, ...]
    now: datetime


class LargeOrder(NamedTuple):
    """An order that was just changed, as it is asked for in another process."""

    version: str
    path: str
    media_type: str
    merchant_id: int
    order_id: int
    now: datetime

    @classmethod
    def of(cls, matched: MatchedRequest, order_id: int, *, now: datetime) -> "LargeOrder":
        """Return what answers a request that changed an order."""
        family, endpoint, _, request = matched
        media_type = choose_media_type(request.headers.get("accept", ""))
        merchant_id = _find_merchant(request)
        return cls(family.version, endpoint.path, media_type, merchant_id, order_id, now)


def is_long(page: Sequence[Order]) -> bool:
    """Whether the orders of a list have too many images to be written at once."""
    return sum(order.image_count for order in page) > MOST_AT_ONCE


def begin_page(
    call: Call, page: Sequence[Order], start: int, frame: Callable[[int | None], Any]
) -> LongList:
    """Begin a long page, cut where it has as many images as a page may have.

    `frame` takes where the rest of the page begins if it was cut, else None.
    """
    sized = [SizedOrder(order.id, order.image_count) for order in page]
    fitting = count_fitting(sized, most=call.services.settings.list_images)
    pieces = split_into_pieces(sized[:fitting])
    if fitting == len(sized):
        return LongList(frame(None), pieces)
    following = start + fitting
    return LongList(frame(following), pieces, (_link_next(call, following),))


def _link_next(call: Call, start: int) -> tuple[str, str]:
    kept = {name: value for name, value in call.query.items() if name not in STARTS}
    name = "start" if "start" in call.query or "limit" in call.query else "offset"
    return "Link", f'<?{urlencode({**kept, name: start})}>; rel="next"'


def begin_everything(call: Call, frame: Any, *, total: int) -> LongList:
    """Begin a list of all orders of the merchant, however many there are."""
    sized = _walk(call.services.database, call.merchant.id, newest=total)
    return LongList(frame, split_into_pieces(sized))


def _walk(database: Database, merchant_id: int, *, newest: int) -> Iterator[SizedOrder]:
    """Yield the merchant's orders; a few hundred of them are in memory at once."""
    while newest > 0:
        with database.reading() as db:
            found = list_sized_orders(db, merchant_id, newest=newest)
        yield from found
        # Ordinals have no gaps.
        newest -= ROWS_AT_ONCE


def make_response(
    family: ApiFamily, endpoint: Endpoint, request: Request, wanted: LongList, now: datetime
) -> Response:
    """Return a response whose body is still to be written."""
    media_type = choose_media_type(request.headers.get("accept", ""))
    head, tail = split_frame(media_type, wanted.frame)
    merchant_id = _find_merchant(request)
    pieces = (
        Piece(family.version, endpoint.path, media_type, merchant_id, order_ids, now)
        for order_ids in wanted.pieces
    )
    body = LongBody(merchant_id, head, pieces, join_items(media_type), tail)
    return Response(200, media_type, b"", wanted.headers, long=body)


def _find_merchant(request: Request) -> int:
    identity = request.caller.identity
    # Whoever gets an answer of an endpoint was authenticated.
    assert identity is not None  # noqa: S101
    return identity.merchant_id


class PieceWriter:
    """Writes the pieces of long lists, and large orders, of every version."""

    def __init__(self, services: Services, links: LinkMaker, families: Sequence[ApiFamily]) -> None:
        self._services = services
        self._links = links
        self._endpoints = {
            (family.version, endpoint.path, endpoint.method): (family, endpoint, endpoint.shape_one)
            for family in families
            for endpoint in family.endpoints
            if endpoint.shape_one is not None
        }

    def write(self, piece: Piece) -> bytes:
        """Write some orders of a list."""
        family, endpoint, shape_one = self._endpoints[piece.version, piece.path, "GET"]
        with self._call(piece) as call:
            page = list_orders_by_id(call.db, piece.merchant_id, piece.order_ids)
            found = complete_orders(call.db, page)
            items = [shape_one(call, shown) for shown in show_orders(call, found)]
        return write_items(piece.media_type, family.show(endpoint.shows, items))

    def write_order(self, large: LargeOrder) -> bytes:
        """Plan an order that was just changed, and write the whole answer."""
        family, endpoint, shape_one = self._endpoints[large.version, large.path, "PUT"]
        with self._call(large) as call:
            shape = shape_one(call, get_changed_order(call, call.work, large.order_id))
        return write_body(large.media_type, family.show(endpoint.shows, shape))

    @contextmanager
    def _call(self, wanted: Piece | LargeOrder) -> Iterator[Call]:
        services = self._services
        with services.database.reading() as db:
            work = services.work(db, get_merchant(db, wanted.merchant_id), SYSTEM)
            yield Call(services, work, {}, {}, {}, self._links.make(db), wanted.version)
