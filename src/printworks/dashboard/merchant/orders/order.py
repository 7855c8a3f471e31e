"""The page of one order: its state, what can be done, and its history."""

from typing import Any, Final

from starlette.responses import Response

from printworks.actions.production.routing import RoutingTerms, re_estimate, route_order
from printworks.actions.submission.check import check_submission
from printworks.dashboard.merchant.orders.order_actions import CLOCK_STEPS, FORM_ACTIONS, LEAVING
from printworks.dashboard.shared.labels import METHOD_LABELS, ORDER_LABELS, name_country
from printworks.dashboard.shared.order_actions import OrderAction, is_ended, list_actions
from printworks.dashboard.shared.order_page import (
    IMAGES_ON_A_PAGE,
    MOST_SHIPMENTS,
    describe_history,
    describe_images,
)
from printworks.dashboard.shared.order_problems import count_doubtful, count_unseen, list_missing
from printworks.dashboard.shared.order_routing import RoutingChoice, describe_choices
from printworks.dashboard.shared.order_shipments import describe_shipment
from printworks.dashboard.site.rendering import Link, Message, Onwards, render_message
from printworks.dashboard.site.router import Page
from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.orders import OrderStatus, Payment
from printworks.rules.payments import PaymentState
from printworks.store.callbacks.settings import read_callback_settings
from printworks.store.labs.shipments import (
    Decision,
    Shipment,
    WholeOrder,
    get_whole_order,
    list_decisions,
)
from printworks.store.money.payments import PaymentRequest, get_request
from printworks.store.orders.history import read_etag
from printworks.store.orders.orders import Order


def show_order(visit: MerchantVisit) -> Response:
    """Show an order; a refresh without news gets an empty answer."""
    order_id = visit.number("id")
    etag = read_etag(visit.db, visit.merchant.id, order_id)
    if visit.is_unchanged(etag):
        return Response(status_code=204)
    whole = get_whole_order(visit.db, visit.merchant.id, order_id)
    payment = _find_payment(visit, whole.order)
    if LEAVING in visit.query and payment is not None and payment.state is PaymentState.WAITING:
        return _send_to_bank(payment)
    history = describe_history(visit, whole.order)
    is_waiting = any(one.callback.is_waiting for one in history["told"])
    return visit.render(
        "merchant/order.html",
        etag=etag,
        is_live=not is_ended(whole.order) or is_waiting,
        payment=payment,
        has_address=read_callback_settings(visit.db, visit.merchant.id).url is not None,
        **history,
        **_describe_order(visit, whole),
        **_describe_shipments(visit, whole),
        **describe_images(visit, whole.order, whole.images),
    )


def _find_payment(visit: MerchantVisit, order: Order) -> PaymentRequest | None:
    """Return the payment that is in progress."""
    if order.payment_request_id is None:
        return None
    return get_request(visit.db, order.payment_request_id)


def _send_to_bank(payment: PaymentRequest) -> Response:
    """Redirect to the bank with a refresh: a form could not lead to another site."""
    page = f"/payments/{payment.key}"
    message = Message(
        title="Your bank asks you to confirm the payment",
        sentences=("You are being redirected. The order is submitted once the bank approves.",),
        link=Link("Continue to the bank", page),
    )
    return render_message(message, onwards=Onwards(to=page))


def _describe_order(visit: MerchantVisit, whole: WholeOrder) -> dict[str, Any]:
    order = whole.order
    is_open = order.status is OrderStatus.NOT_YET_SUBMITTED
    submission = check_submission(visit.work, order) if is_open else None
    is_valid = submission is not None and submission.is_valid
    is_recipients = order.payment is Payment.INVOICE_RECIPIENT and order.payment_token is not None
    pay_page = f"{visit.services.settings.public_url}/pay/{order.payment_token}"
    return {
        "order": order,
        "words": ORDER_LABELS[order.status],
        "country": name_country(order.destination_country or ""),
        "method": METHOD_LABELS[order.shipping_method],
        "is_ended": is_ended(order),
        "actions": list_actions(
            order, whole.shipments, visit.services.catalogue, is_valid=is_valid
        ),
        "confirms": OrderAction.CANCEL if visit.query.get("confirm") == OrderAction.CANCEL else "",
        "is_valid": is_valid,
        "missing": list_missing(submission) if submission is not None else [],
        "doubtful": count_doubtful(submission) if submission is not None else 0,
        "unseen": count_unseen(submission) if submission is not None else 0,
        "pay_page": pay_page if is_recipients else "",
        "clock_steps": CLOCK_STEPS if _can_move_clock(visit, order) else {},
    }


def _can_move_clock(visit: MerchantVisit, order: Order) -> bool:
    return visit.services.is_sandbox and order.status is OrderStatus.SUBMITTED


def _describe_shipments(visit: MerchantVisit, whole: WholeOrder) -> dict[str, Any]:
    """Return in which shipments the order travels, which labs make it, and why."""
    catalogue = visit.services.catalogue
    shipments = [_estimate(visit, whole, one) for one in whole.shipments[:MOST_SHIPMENTS]]
    return {
        "shipments": [describe_shipment(shipment, catalogue) for shipment in shipments],
        "more_shipments": max(0, len(whole.shipments) - MOST_SHIPMENTS),
        "choices": _list_choices(visit, whole),
    }


def _list_choices(visit: MerchantVisit, whole: WholeOrder) -> list[RoutingChoice]:
    """Explain the choice of labs; for an open order, the choice if it were submitted now."""
    order, catalogue = whole.order, visit.services.catalogue
    if order.status is not OrderStatus.NOT_YET_SUBMITTED:
        return describe_choices(list_decisions(visit.db, order.id), catalogue)
    # Routing many images takes too long for a page.
    if len(whole.images) > IMAGES_ON_A_PAGE:
        return []
    routing = route_order(order, whole.images, RoutingTerms.of(visit.work))
    decisions = [] if routing is None else [Decision(routing, [], visit.now)]
    return describe_choices(decisions, catalogue, usually="If it were submitted now")


def _estimate(visit: MerchantVisit, whole: WholeOrder, shipment: Shipment) -> Shipment:
    """Return a shipment, re-estimated if its plan is of another day."""
    is_old = shipment.created_at.date() != visit.now.date()
    if shipment.state is not None or not is_old:
        return shipment
    return re_estimate(shipment, whole.images, visit.services.catalogue, now=visit.now)


PAGES: Final[tuple[Page[MerchantVisit], ...]] = (Page("/orders/{id}", show_order, FORM_ACTIONS),)
