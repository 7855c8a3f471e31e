"""Orders through the 2.x family."""

from typing import Any, Final

from printworks.actions.orders import orders as actions
from printworks.actions.orders.plans import get_planned_order
from printworks.actions.orders.shipping import change_shipping
from printworks.actions.production.holds import hold_order as hold
from printworks.actions.submission.check import check_whole
from printworks.api.endpoints import Call, Marked
from printworks.api.long_lists import LongList, begin_everything, begin_page, is_long
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
from printworks.errors import BadInput, NotSold, WrongState
from printworks.rules.orders import OrderStatus, check_change
from printworks.store.engine.rows import ROWS_AT_ONCE
from printworks.store.orders import pages
from printworks.store.orders.filters import OrderFilter
from printworks.store.orders.marks import mark_order, mark_settled
from printworks.store.orders.orders import Order
from printworks.store.orders.whole_orders import complete_orders, list_some_orders
from printworks.wire.orders import SetStatus, ShownOrder
from printworks.wire.reading import read, read_choice
from printworks.wire.v2.answers import DoneOut, PaymentRequired
from printworks.wire.v2.orders import ChangeShipping, CreateOrder, OrderOut, UpdateOrder
from printworks.wire.v2.photos import name_type
from printworks.wire.v2.submission import SubmissionStatusOut
from printworks.wire.v2.versions import read_in

_LONGEST_REFERENCE: Final = 255
_MOVES: Final = Moves(DoneOut, PaymentRequired.of, needs_recipient=False)


def get_order(call: Call) -> Marked:
    """Get one order."""
    shown = get_shown_order(call)
    return Marked(shape_order(call, shown), call.links.mark(mark_order(shown.order)))


def shape_order(call: Call, shown: ShownOrder) -> OrderOut:
    """Show an order with every member that any version of the family has."""
    return OrderOut.of(shown, call.work.catalogue, call.links)


def list_all_orders(call: Call) -> list[OrderOut] | LongList:
    """List all orders, newest first."""
    orders, total = pages.list_orders(call.db, call.merchant.id, limit=ROWS_AT_ONCE, start=0)
    if total > len(orders) or is_long(orders):
        return begin_everything(call, [], total=total)
    return _show_orders(call, orders)


def list_orders(call: Call) -> list[OrderOut] | LongList:
    """List orders, newest first."""
    limit, start = read_page(call, ("count",), ("offset",))
    wanted = OrderFilter(_wanted_status(call), _wanted_reference(call))
    orders = list_some_orders(call.db, call.merchant.id, wanted, limit=limit, start=start)
    if is_long(orders):
        return begin_page(call, orders, start, lambda _: [])
    return _show_orders(call, orders)


def _show_orders(call: Call, orders: list[Order]) -> list[OrderOut]:
    whole = complete_orders(call.db, orders)
    return [shape_order(call, each) for each in show_orders(call, whole)]


def _wanted_status(call: Call) -> OrderStatus | None:
    given = call.query.get("orderstatus", "")
    return None if given == "" else OrderStatus(read_choice(OrderStatus, "orderStatus", given))


def _wanted_reference(call: Call) -> str | None:
    given = call.query.get("merchantorderid", "")
    if not isinstance(given, str) or len(given) > _LONGEST_REFERENCE:
        raise BadInput(
            f"`merchantOrderId` must be text of at most {_LONGEST_REFERENCE} characters."
        )
    return given or None


def create_order(call: Call) -> Any:
    """Create an order."""
    new = read_in(call.version, CreateOrder, call.body).to_new_order(call.version)
    order = actions.create_order(call.work, new)
    return show_order(call, order, shape_order)


def update_order(call: Call) -> Any:
    """Update an order that is NotYetSubmitted."""
    order = find_order_to_change(call)
    check_change(order.status)
    changes = read_in(call.version, UpdateOrder, call.body).to_changes(order)
    try:
        changed = actions.change_order(call.work, order, changes)
    except NotSold as refusal:
        name = name_type(refusal.sku, call.work.catalogue)
        raise NotSold(refusal.sku, refusal.where, name=name) from refusal
    return show_updated_order(call, changed, shape_order)


def get_submission_status(call: Call) -> Marked:
    """Validate an order."""
    whole = get_planned_order(call.work, call.services.database, call.number("id"))
    status = check_whole(call.work, whole, needs_recipient=False)
    shown = SubmissionStatusOut.of(
        whole.order.id, status.errors, status.findings, status.refusal, call.work.catalogue
    )
    return Marked(shown, call.links.mark(mark_settled(whole.order)))


def set_status(call: Call) -> Any:
    """Submit or cancel an order, or let its recipient pay."""
    order = find_order_to_change(call)
    wanted = OrderStatus(read(SetStatus, call.body).status)
    if wanted is OrderStatus.CANCELLED and order.status is OrderStatus.SUBMITTED:
        # Submitted orders are cancelled by an operation of their own.
        raise WrongState(f"An order that is {order.status} cannot become {wanted}.")
    return move_order(call, order, wanted, _MOVES)


def hold_order(call: Call) -> Any:
    """Keep an order from being sent to a lab."""
    return show_order(call, hold(call.work, find_order_to_change(call)), shape_order)


def update_shipping(call: Call) -> Any:
    """Change where an order goes and how fast."""
    order = find_order_to_change(call)
    changes = read(ChangeShipping, call.body).to_changes(order)
    changed = change_shipping(call.work, order, changes)
    return show_order(call, changed, shape_order)


def cancel_order(call: Call) -> Any:
    """Cancel an order, even one that is Submitted if its labs allow that."""
    cancelled = actions.cancel_order(call.work, find_order_to_change(call))
    return show_order(call, cancelled, shape_order)
