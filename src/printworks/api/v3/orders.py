"""Orders through 3.0."""

from typing import Any, Final

from printworks.actions.orders import orders as actions
from printworks.actions.production.production import permissions_of
from printworks.actions.submission.submission import check_submission
from printworks.api.endpoints import Call, WithStatus
from printworks.api.estimates import estimate_today
from printworks.api.payments import pay
from printworks.rules.orders import check_change
from printworks.rules.payments import PaymentState, is_on_account
from printworks.store.images.images import Image, Images, list_images_of_page, list_images_to_show
from printworks.store.labs.shipments import (
    Shipment,
    Shipments,
    get_whole_order,
    list_shipments,
    list_shipments_of_page,
)
from printworks.store.money.payments import PaymentRequest
from printworks.store.orders import orders as store
from printworks.store.orders.orders import Order
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
from printworks.wire.v3.payments import PaymentRequired
from printworks.wire.v3.submission import SubmissionStatusOut

MOST_ON_A_PAGE: Final = 250
USUALLY_ON_A_PAGE: Final = 100
_LAST_START: Final = 2**62


def get_order(call: Call) -> Envelope[OrderOut]:
    """Show one order."""
    whole = get_whole_order(call.db, call.merchant.id, call.number("id"))
    return Envelope(_shape(call, *whole))


def _show(call: Call, order: Order) -> OrderOut:
    if not order.image_count:
        return _shape(call, order, (), ())
    shipments = list_shipments(call.db, order.id)
    return _shape(call, order, list_images_to_show(call.db, order.id), shipments)


def _shape(call: Call, order: Order, images: Images, shipments: Shipments) -> OrderOut:
    permissions = permissions_of(order, shipments, call.catalogue)
    fresh = estimate_today(call, images, shipments)
    return OrderOut.of(order, images, fresh, permissions, call.links)


def list_orders(call: Call) -> Envelope[OrderListOut]:
    """Show a page of orders, newest first."""
    limit = _paging(call, ("limit", "count"), USUALLY_ON_A_PAGE, MOST_ON_A_PAGE)
    start = _paging(call, ("start", "offset"), 0, _LAST_START)
    page = store.list_orders(call.db, call.merchant.id, limit=limit, start=start)
    images: dict[int, list[Image]] = {}
    shipments: dict[int, list[Shipment]] = {}
    if page.has_images:
        newest, merchant_id = page.total - start, call.merchant.id
        images = list_images_of_page(call.db, merchant_id, newest=newest, limit=limit)
        shipments = list_shipments_of_page(call.db, merchant_id, newest=newest, limit=limit)
    shown = [
        _shape(call, order, images.get(order.id, ()), shipments.get(order.id, ()))
        for order in page.orders
    ]
    return Envelope(OrderListOut.of(shown, page.total))


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
    order = actions.create_order(
        call.db, call.merchant, new, now=call.now, request_id=call.request_id
    )
    return Envelope(_show(call, order))


def update_order(call: Call) -> Envelope[OrderOut]:
    """Change an order."""
    order = find_order_to_change(call)
    check_change(order.status)
    changes = read(UpdateOrder, call.body).to_changes()
    changed = actions.change_order(
        call.db,
        call.merchant,
        order,
        changes,
        catalogue=call.catalogue,
        now=call.now,
        request_id=call.request_id,
    )
    return Envelope(_show(call, changed))


def get_submission_status(call: Call) -> Envelope[SubmissionStatusOut]:
    """Say whether an order can be submitted."""
    order = store.get_order(call.db, call.merchant.id, call.number("id"))
    on_account = is_on_account(call.merchant.billing, call.gateway.cards)
    status = check_submission(call.db, order, call.catalogue, on_account=on_account)
    return Envelope(
        SubmissionStatusOut.of(order.id, status.errors, status.findings, is_valid=status.is_valid)
    )


def set_status(call: Call) -> Any:
    """Submit or cancel an order, or let its recipient pay."""
    order = find_order_to_change(call)
    wanted = read(SetStatus, call.body).status
    match wanted:
        case WantedStatus.CANCELLED:
            actions.cancel_order(
                call.db, call.merchant, order, catalogue=call.catalogue, now=call.now
            )
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
    return Envelope(Nothing())


def _submit(call: Call, order: Order) -> Any:
    submitted = actions.submit_order(
        call.db,
        call.merchant,
        order,
        catalogue=call.catalogue,
        cards=call.gateway.cards,
        now=call.now,
        request_id=call.request_id,
    )
    if isinstance(submitted, Order):
        return Envelope(Nothing())
    return pay(call, order, submitted, _show_payment)


def _show_payment(call: Call, request: PaymentRequest) -> Envelope[Nothing] | WithStatus:
    if request.state is not PaymentState.WAITING:
        return Envelope(Nothing())
    return WithStatus(402, PaymentRequired.of(request, call.gateway.page_of(request.key)))


def find_order_to_change(call: Call) -> Order:
    """Return the order that the path names, if it is the merchant's."""
    return store.get_order_to_change(call.db, call.merchant.id, call.number("id"))
