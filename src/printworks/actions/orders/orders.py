"""Actions on an order, each in the caller's transaction."""

import secrets
from collections.abc import Mapping
from typing import Final

from printworks.actions.orders.items import RESOLVED_BY, resolve_items
from printworks.actions.orders.moves import move_order
from printworks.actions.orders.quotes import price_order
from printworks.actions.payments.payments import cancel_payment, refund_order
from printworks.actions.production.lab_limits import check_lab_of_key
from printworks.actions.production.release import permissions_of, stop_labs
from printworks.actions.work import Work
from printworks.errors import WrongState
from printworks.rules.events import OrderChanged, OrderCreated
from printworks.rules.issues import check_not_compensated
from printworks.rules.jobs import JobKind
from printworks.rules.orders import (
    OrderStatus,
    Payment,
    check_change,
    check_move,
    check_not_being_paid,
)
from printworks.rules.reasons import AT_LABS, ReasonCode, drop_reasons
from printworks.store.images.images import clear_prices_to_user
from printworks.store.images.packing_slips import drop_packing_slip, set_packing_slip
from printworks.store.issues.issues import is_compensated
from printworks.store.orders import orders as store
from printworks.store.orders.orders import NewOrder, Order
from printworks.store.orders.shipments import drop_planned, list_shipments
from printworks.store.queue.jobs import cancel_jobs_of_order

# What the price of an order and its labs depend on.
_PRICED_BY: Final = RESOLVED_BY | {"shipping_method", "is_tracked"}


def create_order(work: Work, new: NewOrder) -> Order:
    """Create an order; until it is submitted, everything can be changed."""
    work.check_may_order()
    return open_order(work, new)


def open_order(work: Work, new: NewOrder) -> Order:
    """Create an order whatever the state of the account, such as a reprint."""
    token = _make_payment_token(new.payment)
    order, position = store.insert_order(
        work.db, work.merchant.id, new, payment_token=token, now=work.now
    )
    created = OrderCreated(order.status, order.merchant_order_id)
    work.record(order.id, created, position=position)
    if order.packing_slip_url:
        _enqueue_packing_slip(work, order)
    work.audit_routine("create-order", f"order {order.id}")
    return order


def change_order(work: Work, order: Order, wanted: Mapping[str, object]) -> Order:
    """Give fields of an order new values; the names are those of `NewOrder`."""
    check_change(order.status)
    check_not_being_paid(order.payment_request_id)
    changed = {name: value for name, value in wanted.items() if getattr(order, name) != value}
    if not changed:
        return order
    if changed.get("payment") == Payment.INVOICE_RECIPIENT and order.payment_token is None:
        changed["payment_token"] = _make_payment_token(Payment.INVOICE_RECIPIENT)

    values = {**changed, "updated_at": work.now}
    if "packing_slip_url" in changed:
        # The result of validating the old packing slip no longer holds.
        values["reasons"] = drop_reasons(order.reasons, {ReasonCode.PACKING_SLIP_FAILED})
    updated = store.update_order(work.db, order, values)
    work.record(order.id, OrderChanged(sorted(changed)))
    # The names of the fields only: their values are personal data.
    work.audit_routine("change-order", f"order {order.id}", fields=sorted(changed))
    if "packing_slip_url" in changed:
        _replace_packing_slip(work, updated)
    if changed.get("payment") == Payment.INVOICE_ME:
        clear_prices_to_user(work.db, order.id)
    if order.image_count and not _PRICED_BY.isdisjoint(changed):
        resolve_items(work, order, updated)
        return price_order(work, updated, {})
    return updated


def _replace_packing_slip(work: Work, order: Order) -> None:
    dropped = drop_packing_slip(work.db, order.id)
    if dropped is not None:
        work.enqueue(JobKind.REMOVE_FILES, {"files": [dropped]})
    if order.packing_slip_url:
        _enqueue_packing_slip(work, order)


def _enqueue_packing_slip(work: Work, order: Order) -> None:
    url = order.packing_slip_url or ""
    work.check_address(url, "packingSlipUrl")
    set_packing_slip(work.db, order.id, url, now=work.now)
    work.enqueue(JobKind.FETCH_PACKING_SLIP, {"order": order.id, "url": url}, order_id=order.id)


def cancel_order(work: Work, order: Order) -> Order:
    """Cancel an order if its labs still permit it: refund it, notify its labs, download no more."""
    check_move(order.status, OrderStatus.CANCELLED)
    check_lab_of_key(work, order)
    shipments = list_shipments(work.db, order.id)
    if not permissions_of(order, shipments, work.catalogue).cancel:
        raise WrongState(
            f"An order that is {order.status} and at a lab that has begun with it cannot become "
            f"{OrderStatus.CANCELLED}."
        )
    if order.status is OrderStatus.SUBMITTED:
        check_not_compensated(is_compensated=is_compensated(work.db, order.id))
        refund_order(work, order)
        stop_labs(work, order)
    cancel_payment(work, order)
    drop_planned(work.db, order.id)
    cancel_jobs_of_order(work.db, order.id, now=work.real_now)
    work.audit("cancel-order", f"order {order.id}", was=order.status)
    return move_order(
        work,
        order,
        OrderStatus.CANCELLED,
        payment_request_id=None,
        pay_until=None,
        held_at=None,
        needs_plan=False,
        reasons=drop_reasons(order.reasons, {ReasonCode.PAYMENT_UNANSWERED, *AT_LABS}),
    )


def _make_payment_token(payment: Payment) -> str | None:
    return secrets.token_urlsafe(24) if payment is Payment.INVOICE_RECIPIENT else None
