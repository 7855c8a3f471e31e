"""The page of any order: everything about it in one place, for support."""

from typing import Any, Final

from starlette.responses import Response

from printworks.actions.callbacks import send_again
from printworks.actions.orders.orders import cancel_order
from printworks.actions.orders.plans import get_planned_order
from printworks.actions.payments.refunds import note_repaid, refund_again
from printworks.actions.production.holds import hold_order, release_order
from printworks.actions.production.release import permissions_of
from printworks.dashboard.console.production.shipments import name_service, read_reason
from printworks.dashboard.shared.labels import join
from printworks.dashboard.shared.order_actions import OrderAction, explain_refusal, is_ended
from printworks.dashboard.shared.order_page import MOST_SHIPMENTS, describe_history, describe_images
from printworks.dashboard.shared.order_routing import name_lab, write_for_operators
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput
from printworks.rules.people import Duty
from printworks.rules.production import DROPPED
from printworks.rules.routing.explaining import explain
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.accounts.privacy.erasures import list_erasures
from printworks.store.callbacks.callbacks import get_callback
from printworks.store.images.images import list_images
from printworks.store.images.packing_slips import find_packing_slip
from printworks.store.issues.issues import list_issues
from printworks.store.issues.reprints import list_reprints
from printworks.store.money.payments import list_requests_of_order
from printworks.store.orders.history import read_etag
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import list_decisions, list_every_shipment, sum_costs
from printworks.store.views.console.orders import get_any_order

_MOST_PAYMENTS: Final = 20
_MOST_REASONS: Final = 30


@page_at("/console/orders/{id}")
def show_order(visit: ConsoleVisit) -> Response:
    """Show everything about an order."""
    order = get_any_order(visit.db, visit.number("id"))
    etag = visit.etag(read_etag(visit.db, order.merchant_id, order.id))
    merchant = get_merchant(visit.db, order.merchant_id)
    if order.needs_plan:
        work = visit.services.work(visit.db, merchant)
        order = get_planned_order(work, visit.services.database, order.id).order
    return visit.render(
        "console/order.html",
        etag=etag,
        is_live=not is_ended(order),
        order=order,
        merchant=merchant,
        currency=order.currency or merchant.currency,
        may_support=visit.may(Duty.SUPPORT),
        issues=list_issues(visit.db, merchant.id, order.id),
        reprints=list_reprints(visit.db, merchant.id, order.id),
        erasure=next(iter(list_erasures(visit.db, order_id=order.id, limit=1)), None),
        slip=find_packing_slip(visit.db, order.id) if order.packing_slip_url else None,
        payments=list_requests_of_order(visit.db, order.id, limit=_MOST_PAYMENTS),
        most_payments=_MOST_PAYMENTS,
        **describe_images(visit, order, list_images(visit.db, order.id)),
        **describe_history(visit, order),
        **_describe_production(visit, order, merchant),
    )


def _describe_production(visit: ConsoleVisit, order: Order, merchant: Merchant) -> dict[str, Any]:
    """Return which labs make an order and why, how far they are, and what may be done."""
    catalogue = visit.services.catalogue
    every = list_every_shipment(visit.db, order.id)
    shipments = [one for one in every if one.state not in DROPPED]
    permissions = permissions_of(order, shipments, catalogue)
    cannot = {
        doing: explain_refusal(doing, permissions, order, shipments, catalogue, name_lab)
        for doing in (OrderAction.HOLD, OrderAction.CANCEL)
    }
    return {
        "shipments": every[:MOST_SHIPMENTS],
        "lab_name": lambda code: name_lab(code, catalogue),
        "service_name": lambda shipment: name_service(shipment, catalogue),
        "costs": sum_costs(shipments) if shipments else None,
        "more_shipments": max(0, len(every) - MOST_SHIPMENTS),
        "reasons": _explain_labs(visit, order, merchant)[:_MOST_REASONS],
        "cannot_hold": cannot[OrderAction.HOLD],
        "cannot_cancel": cannot[OrderAction.CANCEL],
    }


def _explain_labs(visit: ConsoleVisit, order: Order, merchant: Merchant) -> list[str]:
    currency = order.currency or merchant.currency
    catalogue = visit.services.catalogue
    words = write_for_operators(catalogue, currency)
    sentences = []
    for decision in list_decisions(visit.db, order.id):
        if decision.without:
            declined = join([name_lab(one, catalogue) for one in decision.without])
            sentences.append(f"After {declined} had declined:")
        sentences += explain(decision.routing, words)
    return sentences


@show_order.action("support-hold", "The order is on hold.", duty=Duty.SUPPORT)
def hold(visit: ConsoleVisit) -> None:
    work, order = visit.system_work.lock_order(visit.number("id"))
    hold_order(work, order, reason=read_reason(visit.sent.text("reason")))


@show_order.action("support-release", "The order was released.", duty=Duty.SUPPORT)
def release(visit: ConsoleVisit) -> None:
    release_order(*visit.system_work.lock_order(visit.number("id")))


@show_order.action("support-cancel", "The order was cancelled and refunded.", duty=Duty.SUPPORT)
def cancel(visit: ConsoleVisit) -> None:
    """Cancel the order and refund it."""
    cancel_order(*visit.system_work.lock_order(visit.number("id")))


@show_order.action("support-resend", "The callback is being resent.", duty=Duty.SUPPORT)
def resend(visit: ConsoleVisit) -> None:
    work, order = visit.system_work.lock_order(visit.number("id"))
    number = visit.sent.number("callback")
    if number is None:
        raise BadInput("Choose a callback to resend.")
    callback = get_callback(visit.db, work.merchant.id, number)
    if callback.order_id != order.id:
        raise BadInput("This callback belongs to another order.")
    send_again(work, callback.id)


@show_order.action("refund-again", "The refund is being sent again.", duty=Duty.ADMINISTER)
def send_refund_again(visit: ConsoleVisit) -> None:
    refund_again(visit.system_work, _read_payment(visit))


@show_order.action(
    "note-repaid", "The repayment was noted.", duty=Duty.ADMINISTER, needs_password=True
)
def note_payment_repaid(visit: ConsoleVisit) -> None:
    note_repaid(visit.system_work, _read_payment(visit), visit.sent.text("memo"))


def _read_payment(visit: ConsoleVisit) -> int:
    number = visit.sent.number("payment")
    payments = list_requests_of_order(visit.db, visit.number("id"), limit=_MOST_PAYMENTS)
    if number is None or number not in {payment.id for payment in payments}:
        raise BadInput("Choose a payment of this order.")
    return number
