"""Orders through 3.0."""

from typing import Final

from printworks.actions import orders as actions
from printworks.api.endpoints import Call
from printworks.rules.orders import check_change
from printworks.store import orders as store
from printworks.store.orders import Order
from printworks.wire.reading import read, read_integer
from printworks.wire.v3.envelope import Envelope, Nothing
from printworks.wire.v3.orders import (
    CreateOrder,
    OrderListOut,
    OrderOut,
    SetStatus,
    UpdateOrder,
    WantedStatus,
)

MOST_ON_A_PAGE: Final = 250
USUALLY_ON_A_PAGE: Final = 100
_LAST_START: Final = 2**62

_STATUS_ACTIONS: Final = {
    WantedStatus.CANCELLED: actions.cancel_order,
    WantedStatus.AWAITING_PAYMENT: actions.await_payment,
    WantedStatus.SUBMITTED: actions.submit_order,
}


def get_order(call: Call) -> Envelope[OrderOut]:
    """Show one order."""
    order = store.get_order(call.db, call.merchant.id, call.number("id"))
    return Envelope(OrderOut.of(order, call.public_url))


def list_orders(call: Call) -> Envelope[OrderListOut]:
    """Show a page of orders, newest first."""
    limit = _paging(call, ("limit", "count"), USUALLY_ON_A_PAGE, MOST_ON_A_PAGE)
    start = _paging(call, ("start", "offset"), 0, _LAST_START)
    page = store.list_orders(call.db, call.merchant.id, limit=limit, start=start)
    return Envelope(OrderListOut.of(page, call.public_url))


def _paging(call: Call, names: tuple[str, ...], usual: int, highest: int) -> int:
    # Both names of each parameter are documented.
    given = [
        read_integer(name, call.query[name], lowest=0, highest=highest)
        for name in names
        if call.query.get(name, "") != ""
    ]
    return given[0] if given else usual


def create_order(call: Call) -> Envelope[OrderOut]:
    """Make an order."""
    new = read(CreateOrder, call.body).to_new_order()
    order = actions.create_order(call.db, call.merchant, new, now=call.now)
    return Envelope(OrderOut.of(order, call.public_url))


def update_order(call: Call) -> Envelope[OrderOut]:
    """Change an order."""
    order = find_order_to_change(call)
    check_change(order.status)
    changes = read(UpdateOrder, call.body).to_changes()
    changed = actions.change_order(call.db, order, changes, now=call.now)
    return Envelope(OrderOut.of(changed, call.public_url))


def set_status(call: Call) -> Envelope[Nothing]:
    """Submit or cancel an order, or let its recipient pay."""
    order = find_order_to_change(call)
    wanted = read(SetStatus, call.body).status
    _STATUS_ACTIONS[wanted](call.db, order, now=call.now)
    return Envelope(Nothing())


def find_order_to_change(call: Call) -> Order:
    """Return the order that the path names, if it is the merchant's."""
    return store.get_order_to_change(call.db, call.merchant.id, call.number("id"))
