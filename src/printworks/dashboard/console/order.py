"""The page of any order: everything about it in one place, for whoever answers the telephone."""

from typing import Any, Final

from starlette.responses import Response

from printworks.actions.callbacks.callbacks import send_again
from printworks.actions.orders.orders import cancel_order
from printworks.actions.production.production import permissions_of, release_order
from printworks.actions.production.routing import FINE
from printworks.dashboard.console.shipment_actions import hold_for
from printworks.dashboard.console.words import name_state
from printworks.dashboard.shared.issue_words import KINDS
from printworks.dashboard.shared.money import format_money
from printworks.dashboard.shared.order_actions import Doing, explain_refusal, is_ended
from printworks.dashboard.shared.order_images import describe_image
from printworks.dashboard.shared.order_parts import describe_callbacks, describe_entry
from printworks.dashboard.shared.order_timeline import tell
from printworks.dashboard.shared.words import name_country
from printworks.dashboard.site.router import FormAction, Page
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput
from printworks.rules.people import Duty
from printworks.rules.production import DROPPED
from printworks.rules.routing.explaining import explain
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.callbacks.callbacks import get_callback, list_callbacks
from printworks.store.console.orders import get_any_order
from printworks.store.images.images import list_images
from printworks.store.images.packing_slips import find_packing_slip
from printworks.store.issues.issues import list_issues
from printworks.store.labs.shipments import list_decisions, list_every_shipment
from printworks.store.money.payments import list_requests_of_order
from printworks.store.orders.history import (
    list_attempts_of_order,
    list_entries_of_order,
    list_happenings,
    read_etag,
)
from printworks.store.orders.orders import Order, get_any_order_to_change

# What is listed of each: a page stays small, however large the order is.
IMAGES: Final = 24
_MOST_SHIPMENTS: Final = 24
_MOST_EVENTS: Final = 1000
_MOST_TIMELINE_ENTRIES: Final = 60
_MOST_CALLBACKS: Final = 12
_MOST_ATTEMPTS: Final = 40
_MOST_ENTRIES: Final = 20
_MOST_REASONS: Final = 30


def show_order(visit: ConsoleVisit) -> Response:
    """Show everything about an order."""
    order = get_any_order(visit.db, visit.number("id"))
    etag = read_etag(visit.db, order.merchant_id, order.id)
    if visit.is_unchanged(etag):
        return Response(status_code=204)
    merchant = get_merchant(visit.db, order.merchant_id)
    return visit.render(
        "console/order.html",
        etag=etag,
        is_live=not is_ended(order),
        order=order,
        merchant=merchant,
        state=name_state(order.status),
        country=name_country(order.destination_country or ""),
        currency=order.currency or merchant.currency,
        may_support=visit.may(Duty.SUPPORT),
        issues=[
            (issue, KINDS[issue.kind], name_state(issue.state))
            for issue in list_issues(visit.db, merchant.id, order.id)
        ],
        slip=find_packing_slip(visit.db, order.id) if order.packing_slip_url else None,
        **_describe_images(visit, order),
        **_describe_way(visit, order, merchant),
        **_describe_money(visit, order),
    )


def _describe_images(visit: ConsoleVisit, order: Order) -> dict[str, Any]:
    images = list_images(visit.db, order.id)
    first = visit.cursor("from") or 0
    shown = images[first : first + IMAGES]
    catalogue, links = visit.services.catalogue, visit.links
    return {
        "images": [describe_image(image, order, catalogue, links) for image in shown],
        "image_count": len(images),
        "pages": visit.pages(first + IMAGES if first + IMAGES < len(images) else None, by="from"),
    }


def _describe_way(visit: ConsoleVisit, order: Order, merchant: Merchant) -> dict[str, Any]:
    """Say who makes it and why, how far that is, what happened, and what may be done."""
    catalogue = visit.services.catalogue
    every = list_every_shipment(visit.db, order.id)
    shipments = [one for one in every if one.state not in DROPPED]
    permissions = permissions_of(order, shipments, catalogue)
    happened = list_happenings(visit.db, merchant.id, order.id, limit=_MOST_EVENTS)
    cannot = {
        doing: explain_refusal(doing, permissions, order, shipments, catalogue)
        for doing in (Doing.HOLD, Doing.CANCEL)
    }
    return {
        "shipments": [(one, name_state(one.state)) for one in every[:_MOST_SHIPMENTS]],
        "more_shipments": max(0, len(every) - _MOST_SHIPMENTS),
        "reasons": _explain_labs(visit, order, merchant)[:_MOST_REASONS],
        "timeline": tell(happened)[:_MOST_TIMELINE_ENTRIES],
        "cannot_hold": cannot[Doing.HOLD],
        "cannot_cancel": cannot[Doing.CANCEL],
        "told": describe_callbacks(
            list_callbacks(visit.db, merchant.id, order_id=order.id, limit=_MOST_CALLBACKS),
            list_attempts_of_order(visit.db, merchant.id, order.id, limit=_MOST_ATTEMPTS),
        ),
    }


def _explain_labs(visit: ConsoleVisit, order: Order, merchant: Merchant) -> list[str]:
    currency = order.currency or merchant.currency

    def write(amount: int) -> str:
        return format_money(round(amount / FINE), currency)

    sentences = []
    for decision in list_decisions(visit.db, order.id):
        if decision.without:
            sentences.append(f"After {', '.join(decision.without)} had rejected it:")
        sentences += explain(decision.routing, write)
    return sentences


def _describe_money(visit: ConsoleVisit, order: Order) -> dict[str, Any]:
    entries = list_entries_of_order(visit.db, order.merchant_id, order.id, limit=_MOST_ENTRIES)
    payments = list_requests_of_order(visit.db, order.id, limit=_MOST_ENTRIES)
    return {
        "entries": [describe_entry(entry) for entry in entries],
        "payments": [(payment, name_state(payment.state)) for payment in payments],
    }


def hold(visit: ConsoleVisit) -> str:
    """Keep the order from being sent to labs."""
    order, merchant = _open(visit)
    hold_for(visit, order, merchant)
    return _note(visit, "support-hold", order, reason=visit.sent.text("reason"))


def release(visit: ConsoleVisit) -> str:
    """Let the order go on."""
    order, merchant = _open(visit)
    release_order(visit.db, merchant, order, now=visit.real_now + merchant.clock_offset)
    return _note(visit, "support-release", order)


def cancel(visit: ConsoleVisit) -> str:
    """Cancel the order and give the money back."""
    order, merchant = _open(visit)
    cancel_order(
        visit.db,
        merchant,
        order,
        catalogue=visit.services.catalogue,
        now=visit.real_now + merchant.clock_offset,
    )
    return _note(visit, "support-cancel", order)


def resend(visit: ConsoleVisit) -> str:
    """Tell the merchant's program of an event again."""
    order, merchant = _open(visit)
    number = visit.sent.number("callback")
    if number is None:
        raise BadInput("Choose which callback to send again.")
    callback = get_callback(visit.db, merchant.id, number)
    if callback.order_id != order.id:
        raise BadInput("This callback is about another order.")
    send_again(visit.db, merchant, callback.id, now=visit.real_now + merchant.clock_offset)
    return _note(visit, "support-resend", order, callback=str(number))


def _open(visit: ConsoleVisit) -> tuple[Order, Merchant]:
    order = get_any_order_to_change(visit.db, visit.number("id"))
    return order, get_merchant(visit.db, order.merchant_id)


def _note(visit: ConsoleVisit, action: str, order: Order, **details: str) -> str:
    visit.note(action, f"order {order.id}", merchant_id=order.merchant_id, **details)
    return visit.path


FORM_ACTIONS: Final[tuple[FormAction[ConsoleVisit], ...]] = (
    FormAction(name="support-hold", take=hold, says="The order is held.", duty=Duty.SUPPORT),
    FormAction(name="support-release", take=release, says="The order goes on.", duty=Duty.SUPPORT),
    FormAction(
        name="support-cancel",
        take=cancel,
        says="The order is cancelled, and what was charged is given back.",
        duty=Duty.SUPPORT,
    ),
    FormAction(
        name="support-resend", take=resend, says="The callback is on its way.", duty=Duty.SUPPORT
    ),
)

PAGES: Final[tuple[Page[ConsoleVisit], ...]] = (
    Page(path="/console/orders/{id}", show=show_order, form_actions=FORM_ACTIONS),
)
