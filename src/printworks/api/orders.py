"""What the 2.x and 3.0 APIs share about orders."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from printworks.actions.orders.orders import cancel_order
from printworks.actions.orders.plans import get_planned_order, look_at_order, look_at_orders
from printworks.actions.production.release import permissions_of
from printworks.actions.production.routing import re_estimate
from printworks.actions.submission.check import ReadySubmission
from printworks.actions.submission.submit import await_payment, prepare_submission, submit_order
from printworks.actions.work import Work
from printworks.api.endpoints import Call, Needs, Unfinished, WithStatus
from printworks.api.payments import pay
from printworks.errors import ServiceError
from printworks.rules.images import check_adding
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import PaymentState
from printworks.store.images.images import Images, list_images_to_show
from printworks.store.money.payments import PaymentRequest
from printworks.store.orders.orders import (
    Order,
    get_order_to_change,
)
from printworks.store.orders.shipments import Shipments, WholeOrder, list_shipments
from printworks.wire.orders import SetStatus, ShownOrder, WantedStatus
from printworks.wire.reading import read, read_parameter

MOST_ON_A_PAGE: Final = 250
USUALLY_ON_A_PAGE: Final = 100
LAST_START: Final = 2**62
# Images of an order that are shown in the transaction that changed it; others would wait for more.
MOST_SHOWN_AT_ONCE: Final = 20
# With more, an order is planned and shown by another process: the threads of this one would wait.
MOST_SHOWN_HERE: Final = 100


def get_shown_order(call: Call) -> ShownOrder:
    """Return the order that the path names."""
    found = look_at_order(call.work, call.services.database, call.number("id"))
    return complete_order(call, *found)


def show_orders(call: Call, found: Sequence[WholeOrder]) -> Iterator[ShownOrder]:
    """Yield the orders of a list."""
    for whole in look_at_orders(call.work, call.services.database, found):
        yield complete_order(call, *whole)


def show_order(call: Call, order: Order, shape: Callable[[Call, ShownOrder], Any]) -> Any:
    """Answer with an order that was just created or changed, its images and its shipments.

    If these must be planned again, that is done after the transaction.
    """
    if order.needs_plan:
        return _show_later(call, order, shape)
    if not order.image_count:
        return shape(call, complete_order(call, order, (), ()))
    images = list_images_to_show(call.db, order.id)
    return shape(call, complete_order(call, order, images, list_shipments(call.db, order.id)))


def show_updated_order(call: Call, order: Order, shape: Callable[[Call, ShownOrder], Any]) -> Any:
    """Like `show_order`, for a change that is idempotent: many images are shown after it.

    Whoever gets no answer then can send it again. Any other change is made with its answer, or not.
    """
    if order.image_count > MOST_SHOWN_AT_ONCE:
        return _show_later(call, order, shape)
    return show_order(call, order, shape)


def _show_later(
    call: Call, order: Order, shape: Callable[[Call, ShownOrder], Any]
) -> Unfinished[Any]:
    is_large = order.image_count > MOST_SHOWN_AT_ONCE
    return Unfinished(
        lambda: shape(call, _plan_order(call, order.id)),
        needs=Needs.INTERPRETER if is_large else Needs.LITTLE,
        large_order=order.id if order.image_count > MOST_SHOWN_HERE else None,
    )


def _plan_order(call: Call, order_id: int) -> ShownOrder:
    with call.services.database.reading() as db:
        return get_changed_order(call, call.work_in(db), order_id)


def get_changed_order(call: Call, work: Work, order_id: int) -> ShownOrder:
    """Return an order that was just changed, planned again if it must be."""
    return complete_order(call, *get_planned_order(work, call.services.database, order_id))


def prepare_move(call: Call) -> ReadySubmission | None:
    """Choose the labs of an order that is about to be submitted or paid for."""
    # The handler refuses what is wrong.
    with suppress(ServiceError):
        if read(SetStatus, call.body).status is not WantedStatus.CANCELLED:
            return prepare_submission(call.work, call.number("id"))
    return None


def complete_order(call: Call, order: Order, images: Images, shipments: Shipments) -> ShownOrder:
    """Add to an order what the merchant may still do, and its present arrival dates."""
    catalogue, fresh = call.work.catalogue, shipments
    if any(shipment.state is None for shipment in shipments):
        now = call.work.now
        # A plan may have dates that have passed, or a lab's cut-off.
        fresh = [re_estimate(shipment, order, images, catalogue, now=now) for shipment in shipments]
    return ShownOrder(order, images, fresh, permissions_of(order, shipments, catalogue))


def find_order_to_change(call: Call) -> Order:
    """Return the order that the path names, locked, if it is the merchant's."""
    return get_order_to_change(call.db, call.merchant.id, call.number("id"))


def find_open_order(call: Call) -> Order:
    """Return the order that images are added to, locked, if it is still open."""
    order = get_order_to_change(call.db, call.merchant.id, call.number("orderId"))
    # Before the body is read: its errors do not matter any more.
    most = call.work.quotas.order_images
    check_adding(order.status, present=order.image_count, added=0, most=most)
    return order


def read_page(call: Call, limits: tuple[str, ...], starts: tuple[str, ...]) -> tuple[int, int]:
    """Return how many orders to show and to skip, each by one of its names in the query string."""
    limit = _read_number(call, limits, USUALLY_ON_A_PAGE, MOST_ON_A_PAGE)
    return limit, _read_number(call, starts, 0, LAST_START)


def _read_number(call: Call, names: tuple[str, ...], usual: int, highest: int) -> int:
    for name in names:
        given = call.query.get(name, "")
        if given != "":
            return read_parameter(name, given, lowest=0, highest=highest)
    return usual


class Moves(NamedTuple):
    """How a version answers a change of status."""

    done: Callable[[], Any]
    payment_required: Callable[[PaymentRequest, str], Any]
    # Whether an order must name its recipient.
    needs_recipient: bool


def move_order(call: Call, order: Order, wanted: OrderStatus, moves: Moves) -> Any:
    match wanted:
        case OrderStatus.CANCELLED:
            cancel_order(call.work, order)
        case OrderStatus.AWAITING_PAYMENT:
            await_payment(call.work, order, call.prepared)
        case _:
            submitted = submit_order(
                call.work, order, needs_recipient=moves.needs_recipient, ready=call.prepared
            )
            if isinstance(submitted, PaymentRequest):
                return pay(call, order, submitted, lambda payment: _show(call, payment, moves))
    return moves.done()


def _show(call: Call, payment: PaymentRequest, moves: Moves) -> Any:
    if payment.state is not PaymentState.WAITING:
        return moves.done()
    page = call.services.gateway.page_of(payment.key)
    return WithStatus(402, moves.payment_required(payment, page))
