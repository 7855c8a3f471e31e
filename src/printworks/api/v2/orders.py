"""Orders through the 2.x family."""

from typing import Any, Final

from printworks.actions.orders import orders as actions
from printworks.actions.orders.shipping import change_shipping
from printworks.actions.production.production import hold_order as hold
from printworks.actions.production.production import permissions_of
from printworks.actions.submission.submission import check_submission
from printworks.api.endpoints import Call, WithStatus
from printworks.api.estimates import estimate_today
from printworks.api.payments import pay
from printworks.errors import BadInput, WrongState
from printworks.rules.orders import OrderStatus, check_change
from printworks.rules.payments import PaymentState, is_on_account
from printworks.store.images.images import Images, list_images_to_show
from printworks.store.labs.shipments import Shipments, get_whole_order, list_shipments
from printworks.store.money.payments import PaymentRequest
from printworks.store.orders import orders as store
from printworks.store.orders.orders import Order
from printworks.store.orders.whole_orders import list_whole_orders
from printworks.wire.reading import read, read_choice, read_integer
from printworks.wire.v2.answers import DoneOut, PaymentRequired
from printworks.wire.v2.orders import (
    ChangeShipping,
    CreateOrder,
    OrderOut,
    SetStatus,
    UpdateOrder,
    WantedStatus,
)
from printworks.wire.v2.submission import SubmissionStatusOut
from printworks.wire.v2.versions import read_in

MOST_ON_A_PAGE: Final = 250
USUALLY_ON_A_PAGE: Final = 100
_LAST_OFFSET: Final = 2**62
_LONGEST_REFERENCE: Final = 255


def get_order(call: Call) -> OrderOut:
    """Show one order."""
    return _shape(call, *get_whole_order(call.db, call.merchant.id, call.number("id")))


def _show(call: Call, order: Order) -> OrderOut:
    if not order.image_count:
        return _shape(call, order, (), ())
    shipments = list_shipments(call.db, order.id)
    return _shape(call, order, list_images_to_show(call.db, order.id), shipments)


def _shape(call: Call, order: Order, images: Images, shipments: Shipments) -> OrderOut:
    permissions = permissions_of(order, shipments, call.catalogue)
    fresh = estimate_today(call, images, shipments)
    return OrderOut.of(order, images, fresh, permissions, call.catalogue, call.links)


def list_all_orders(call: Call) -> list[OrderOut]:
    """Show every order, newest first."""
    whole = list_whole_orders(call.db, call.merchant.id, limit=None, start=0)
    return [_shape(call, *each) for each in whole]


def list_orders(call: Call) -> list[OrderOut]:
    """Show a page of orders, newest first."""
    whole = list_whole_orders(
        call.db,
        call.merchant.id,
        limit=_paging(call, "count", USUALLY_ON_A_PAGE, MOST_ON_A_PAGE),
        start=_paging(call, "offset", 0, _LAST_OFFSET),
        status=_wanted_status(call),
        merchant_order_id=_wanted_reference(call),
    )
    return [_shape(call, *each) for each in whole]


def _paging(call: Call, name: str, usual: int, highest: int) -> int:
    given = call.query.get(name, "")
    return usual if given == "" else read_integer(name, given, lowest=0, highest=highest)


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


def create_order(call: Call) -> OrderOut:
    """Make an order."""
    new = read_in(call.version, CreateOrder, call.body).to_new_order(call.version)
    order = actions.create_order(
        call.db, call.merchant, new, now=call.now, request_id=call.request_id
    )
    return _show(call, order)


def update_order(call: Call) -> OrderOut:
    """Change an order."""
    order = _find_order_to_change(call)
    check_change(order.status)
    changes = read_in(call.version, UpdateOrder, call.body).to_changes(order)
    changed = actions.change_order(
        call.db,
        call.merchant,
        order,
        changes,
        catalogue=call.catalogue,
        now=call.now,
        request_id=call.request_id,
    )
    return _show(call, changed)


def get_submission_status(call: Call) -> SubmissionStatusOut:
    """Say whether an order can be submitted."""
    order = store.get_order(call.db, call.merchant.id, call.number("id"))
    on_account = is_on_account(call.merchant.billing, call.gateway.cards)
    status = check_submission(
        call.db, order, call.catalogue, on_account=on_account, needs_recipient=False
    )
    return SubmissionStatusOut.of(
        order.id, status.errors, status.findings, is_valid=status.is_valid
    )


def set_status(call: Call) -> Any:
    """Submit or cancel an order, or let its recipient pay."""
    order = _find_order_to_change(call)
    match read(SetStatus, call.body).status:
        case WantedStatus.CANCELLED:
            if order.status is OrderStatus.SUBMITTED:
                # Who may cancel what is submitted has an operation of its own for it.
                message = f"An order that is {order.status} cannot become {WantedStatus.CANCELLED}."
                raise WrongState(message)
            _cancel(call, order)
        case WantedStatus.AWAITING_PAYMENT:
            actions.await_payment(
                call.db,
                call.merchant,
                order,
                catalogue=call.catalogue,
                cards=call.gateway.cards,
                now=call.now,
            )
        case WantedStatus.SUBMITTED:
            return _submit(call, order)
    return DoneOut()


def _cancel(call: Call, order: Order) -> Order:
    return actions.cancel_order(
        call.db, call.merchant, order, catalogue=call.catalogue, now=call.now
    )


def _submit(call: Call, order: Order) -> Any:
    submitted = actions.submit_order(
        call.db,
        call.merchant,
        order,
        catalogue=call.catalogue,
        cards=call.gateway.cards,
        needs_recipient=False,
        now=call.now,
        request_id=call.request_id,
    )
    if isinstance(submitted, Order):
        return DoneOut()
    return pay(call, order, submitted, _show_payment)


def _show_payment(call: Call, request: PaymentRequest) -> DoneOut | WithStatus:
    if request.state is not PaymentState.WAITING:
        return DoneOut()
    return WithStatus(402, PaymentRequired.of(request, call.gateway.page_of(request.key)))


def hold_order(call: Call) -> OrderOut:
    """Keep an order from being sent to a lab."""
    order = _find_order_to_change(call)
    return _show(call, hold(call.db, order, catalogue=call.catalogue, now=call.now))


def update_shipping(call: Call) -> OrderOut:
    """Change where an order goes and how fast."""
    order = _find_order_to_change(call)
    changes = read(ChangeShipping, call.body).to_changes(order)
    changed = change_shipping(
        call.db, call.merchant, order, changes, catalogue=call.catalogue, now=call.now
    )
    return _show(call, changed)


def cancel_order(call: Call) -> OrderOut:
    """Cancel an order, even one that is submitted if its labs allow that."""
    return _show(call, _cancel(call, _find_order_to_change(call)))


def _find_order_to_change(call: Call) -> Order:
    return store.get_order_to_change(call.db, call.merchant.id, call.number("id"))
