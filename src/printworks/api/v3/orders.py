"""Orders through 3.0."""

from typing import Any, Final

from printworks.actions.orders import orders as actions
from printworks.actions.orders.plans import get_planned_order
from printworks.actions.submission.check import check_whole
from printworks.api.endpoints import Call, Marked
from printworks.api.long_lists import LongList, begin_page, is_long
from printworks.api.orders import (
    Moves,
    find_order_to_change,
    get_shown_order,
    move_order,
    read_page,
    show_order,
    show_orders,
    show_updated_order,
)
from printworks.rules.orders import OrderStatus, check_change
from printworks.store.images.images import Image, list_images_of_page
from printworks.store.orders import pages
from printworks.store.orders.filters import (
    EVERY_ORDER,
    count_filtered_orders,
    list_filtered_orders,
)
from printworks.store.orders.marks import mark_order, mark_settled
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import Shipment, WholeOrder, list_shipments_of_page
from printworks.store.orders.whole_orders import complete_orders
from printworks.wire.orders import SetStatus, ShownOrder
from printworks.wire.reading import read
from printworks.wire.v3.envelope import Envelope, Nothing
from printworks.wire.v3.orders import (
    CreateOrder,
    ListOrders,
    OrderListOut,
    OrderOut,
    UpdateOrder,
)
from printworks.wire.v3.payments import PaymentRequired
from printworks.wire.v3.submission import SubmissionStatusOut

_MOVES: Final = Moves(lambda: Envelope(Nothing()), PaymentRequired.of, needs_recipient=True)


def get_order(call: Call) -> Marked:
    """Get one order."""
    shown = get_shown_order(call)
    return Marked(wrap_order(call, shown), call.links.mark(mark_order(shown.order)))


def wrap_order(call: Call, shown: ShownOrder) -> Envelope[OrderOut]:
    return Envelope(shape_order(call, shown))


def shape_order(call: Call, shown: ShownOrder) -> OrderOut:
    """Show an order as 3.0 does."""
    return OrderOut.of(shown, call.links)


def list_orders(call: Call) -> Envelope[OrderListOut] | LongList:
    """List orders, newest first."""
    limit, start = read_page(call, ("limit", "count"), ("start", "offset"))
    wanted = read(ListOrders, call.query).to_filter()
    page: dict[str, Any] = {"limit": limit, "start": start}
    if wanted == EVERY_ORDER:
        orders, total = pages.list_orders(call.db, call.merchant.id, **page)
    else:
        orders = list_filtered_orders(call.db, call.merchant.id, wanted, **page)
        total = count_filtered_orders(call.db, call.merchant.id, wanted, **page)
    if is_long(orders):
        return begin_page(
            call, orders, start, lambda rest: Envelope(OrderListOut.of([], total, rest))
        )
    if wanted == EVERY_ORDER:
        whole = _complete_page(call, orders, newest=total - start, limit=limit)
    else:
        whole = complete_orders(call.db, orders)
    shown = [shape_order(call, each) for each in show_orders(call, whole)]
    return Envelope(OrderListOut.of(shown, total))


def _complete_page(call: Call, orders: list[Order], *, newest: int, limit: int) -> list[WholeOrder]:
    images: dict[int, list[Image]] = {}
    shipments: dict[int, list[Shipment]] = {}
    if any(order.image_count for order in orders):
        page: dict[str, Any] = {"newest": newest, "limit": limit}
        images = list_images_of_page(call.db, call.merchant.id, **page)
        shipments = list_shipments_of_page(call.db, call.merchant.id, **page)
    return [WholeOrder(one, images.get(one.id, []), shipments.get(one.id, [])) for one in orders]


def create_order(call: Call) -> Any:
    """Create an order."""
    new = read(CreateOrder, call.body).to_new_order()
    order = actions.create_order(call.work, new)
    return show_order(call, order, wrap_order)


def update_order(call: Call) -> Any:
    """Update an order that is NotYetSubmitted."""
    order = find_order_to_change(call)
    check_change(order.status)
    changes = read(UpdateOrder, call.body).to_changes()
    changed = actions.change_order(call.work, order, changes)
    return show_updated_order(call, changed, wrap_order)


def get_submission_status(call: Call) -> Marked:
    """Validate an order."""
    whole = get_planned_order(call.work, call.services.database, call.number("id"))
    status = check_whole(call.work, whole)
    shown = SubmissionStatusOut.of(whole.order.id, status.errors, status.findings, status.refusal)
    return Marked(Envelope(shown), call.links.mark(mark_settled(whole.order)))


def set_status(call: Call) -> Any:
    """Submit or cancel an order, or let its recipient pay."""
    order = find_order_to_change(call)
    return move_order(call, order, OrderStatus(read(SetStatus, call.body).status), _MOVES)
