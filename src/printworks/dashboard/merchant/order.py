"""The page of one order: how it stands, what may be done, and everything that became of it."""

from collections.abc import Sequence
from typing import Any, Final

from starlette.responses import Response

from printworks.actions.production.routing import estimate_anew, route_order
from printworks.actions.submission.submission import SubmissionStatus, check_submission
from printworks.dashboard.merchant.order_actions import CLOCK_STEPS, FORM_ACTIONS, LEAVING
from printworks.dashboard.shared.order_actions import Doing, is_ended, list_actions
from printworks.dashboard.shared.order_images import describe_image
from printworks.dashboard.shared.order_parts import (
    ToldView,
    count_doubtful,
    count_unseen,
    describe_callbacks,
    describe_entry,
    describe_shipment,
    list_missing,
)
from printworks.dashboard.shared.order_routing import RoutingChoice, tell_choices
from printworks.dashboard.shared.order_timeline import tell
from printworks.dashboard.shared.words import METHOD_WORDS, ORDER_WORDS, name_country
from printworks.dashboard.site.rendering import Link, Message, Onwards, render_message
from printworks.dashboard.site.router import Page
from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.orders import OrderStatus, Payment
from printworks.rules.payments import PaymentState, is_on_account
from printworks.store.callbacks.callbacks import list_callbacks
from printworks.store.callbacks.settings import read_callback_settings
from printworks.store.labs.shipments import (
    Decision,
    Shipment,
    WholeOrder,
    get_whole_order,
    list_decisions,
)
from printworks.store.money.payments import PaymentRequest, get_request
from printworks.store.orders.history import (
    list_attempts_of_order,
    list_entries_of_order,
    list_happenings,
    read_etag,
)
from printworks.store.orders.orders import Order

# What is listed of each: a page stays small, however large the order is.
IMAGES_ON_A_PAGE: Final = 24
_MOST_SHIPMENTS: Final = 24
_MOST_TIMELINE_ENTRIES: Final = 40
_MOST_CALLBACKS: Final = 12
_MOST_ATTEMPTS: Final = 40
_MOST_ENTRIES: Final = 20
# An order of a thousand images has two events of each, which are told as two lines.
_MOST_EVENTS: Final = 1000


def show_order(visit: MerchantVisit) -> Response:
    """Show an order; a page that looks again by itself hears if nothing is new."""
    order_id = visit.number("id")
    etag = read_etag(visit.db, visit.merchant.id, order_id)
    if visit.is_unchanged(etag):
        return Response(status_code=204)
    whole = get_whole_order(visit.db, visit.merchant.id, order_id)
    payment = _find_payment(visit, whole.order)
    if LEAVING in visit.query and payment is not None and payment.state is PaymentState.WAITING:
        return _send_to_bank(payment)
    told = _list_told(visit, order_id)
    return visit.render(
        "merchant/order.html",
        etag=etag,
        is_live=not is_ended(whole.order) or any(one.callback.is_waiting for one in told),
        payment=payment,
        told=told,
        has_address=read_callback_settings(visit.db, visit.merchant.id).url is not None,
        **_describe_order(visit, whole),
        **_describe_way(visit, whole),
        **_describe_images(visit, whole),
    )


def _find_payment(visit: MerchantVisit, order: Order) -> PaymentRequest | None:
    """Return the payment that is under way."""
    if order.payment_request_id is None:
        return None
    return get_request(visit.db, order.payment_request_id)


def _send_to_bank(payment: PaymentRequest) -> Response:
    """Send the browser on by itself: a form could not lead to another site."""
    page = f"/payments/{payment.key}"
    message = Message(
        title="Your bank wants to know that it is you",
        sentences=("You are sent on to the bank. The order is submitted once it agrees.",),
        link=Link("Go to the bank", page),
    )
    return render_message(message, onwards=Onwards(to=page))


def _describe_order(visit: MerchantVisit, whole: WholeOrder) -> dict[str, Any]:
    order = whole.order
    is_open = order.status is OrderStatus.NOT_YET_SUBMITTED
    submission = _check(visit, order) if is_open else None
    is_valid = submission is not None and submission.is_valid
    is_recipients = order.payment is Payment.INVOICE_RECIPIENT and order.payment_token is not None
    pay_page = f"{visit.services.settings.public_url}/pay/{order.payment_token}"
    return {
        "order": order,
        "words": ORDER_WORDS[order.status],
        "country": name_country(order.destination_country or ""),
        "method": METHOD_WORDS[order.shipping_method],
        "is_ended": is_ended(order),
        "actions": list_actions(
            order, whole.shipments, visit.services.catalogue, is_valid=is_valid
        ),
        "confirms": Doing.CANCEL if visit.query.get("confirm") == Doing.CANCEL else "",
        "is_valid": is_valid,
        "missing": list_missing(submission) if submission is not None else [],
        "doubtful": count_doubtful(submission) if submission is not None else 0,
        "unseen": count_unseen(submission) if submission is not None else 0,
        "pay_page": pay_page if is_recipients else "",
        "clock_steps": CLOCK_STEPS if _can_move_clock(visit, order) else {},
        "entries": [
            describe_entry(entry)
            for entry in list_entries_of_order(
                visit.db, visit.merchant.id, order.id, limit=_MOST_ENTRIES
            )
        ],
    }


def _check(visit: MerchantVisit, order: Order) -> SubmissionStatus:
    on_account = is_on_account(visit.merchant.billing, visit.services.gateway.cards)
    return check_submission(visit.db, order, visit.services.catalogue, on_account=on_account)


def _can_move_clock(visit: MerchantVisit, order: Order) -> bool:
    return visit.services.is_sandbox and order.status is OrderStatus.SUBMITTED


def _describe_way(visit: MerchantVisit, whole: WholeOrder) -> dict[str, Any]:
    """Say who makes the order and why, in which parcels it travels, and what happened."""
    order, catalogue = whole.order, visit.services.catalogue
    happenings = list_happenings(visit.db, visit.merchant.id, order.id, limit=_MOST_EVENTS)
    timeline = tell(happenings)
    shipments = [_estimate(visit, whole, one) for one in whole.shipments[:_MOST_SHIPMENTS]]
    return {
        "shipments": [describe_shipment(shipment, catalogue) for shipment in shipments],
        "more_shipments": max(0, len(whole.shipments) - _MOST_SHIPMENTS),
        "choices": _tell_choices(visit, whole),
        "timeline": timeline[:_MOST_TIMELINE_ENTRIES],
        "is_cut": len(timeline) > _MOST_TIMELINE_ENTRIES or len(happenings) == _MOST_EVENTS,
    }


def _tell_choices(visit: MerchantVisit, whole: WholeOrder) -> list[RoutingChoice]:
    """Say why these labs; of an order that is still open, which it would be now."""
    order, catalogue = whole.order, visit.services.catalogue
    if order.status is not OrderStatus.NOT_YET_SUBMITTED:
        return tell_choices(list_decisions(visit.db, order.id), catalogue)
    # To choose labs for many takes longer than anybody waits for a page.
    if len(whole.images) > IMAGES_ON_A_PAGE:
        return []
    currency, now = visit.merchant.currency, visit.now
    routing = route_order(order, whole.images, catalogue, currency=currency, now=now, backlog={})
    decisions = [] if routing is None else [Decision(routing, [], now)]
    return tell_choices(decisions, catalogue, usually="If it were submitted now")


def _estimate(visit: MerchantVisit, whole: WholeOrder, shipment: Shipment) -> Shipment:
    """Return a shipment of which no plan promises days that have passed."""
    is_old = shipment.created_at.date() != visit.now.date()
    if shipment.state is not None or not is_old:
        return shipment
    return estimate_anew(shipment, whole.images, visit.services.catalogue, now=visit.now)


def _describe_images(visit: MerchantVisit, whole: WholeOrder) -> dict[str, Any]:
    last = max(1, -(-len(whole.images) // IMAGES_ON_A_PAGE))
    page = min(max(visit.cursor("images") or 1, 1), last)
    first = (page - 1) * IMAGES_ON_A_PAGE
    shown = whole.images[first : first + IMAGES_ON_A_PAGE]
    links, catalogue = visit.links, visit.services.catalogue
    return {
        "images": [describe_image(image, whole.order, catalogue, links) for image in shown],
        "image_count": len(whole.images),
        "first_image": first + 1,
        "last_image": first + len(shown),
        "image_pages": _link_pages(visit, page, last),
    }


def _link_pages(visit: MerchantVisit, page: int, last: int) -> Sequence[Link]:
    links = []
    if page > 1:
        before = None if page == 2 else page - 1
        links.append(Link("Images before", visit.here(images=before)))
    if page < last:
        links.append(Link("Images after", visit.here(images=page + 1)))
    return links


def _list_told(visit: MerchantVisit, order_id: int) -> list[ToldView]:
    callbacks = list_callbacks(
        visit.db, visit.merchant.id, order_id=order_id, limit=_MOST_CALLBACKS
    )
    attempts = list_attempts_of_order(visit.db, visit.merchant.id, order_id, limit=_MOST_ATTEMPTS)
    return describe_callbacks(callbacks, attempts)


PAGES: Final[tuple[Page[MerchantVisit], ...]] = (
    Page(path="/orders/{id}", show=show_order, form_actions=FORM_ACTIONS),
)
