"""The page of one order: its state, what can be done, and its history."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import Connection
from starlette.responses import Response

from printworks.actions.callbacks import send_again
from printworks.actions.orders import orders as actions
from printworks.actions.orders.plans import look_at_order
from printworks.actions.payments.card_charges import charge_once, refuse_unpaid
from printworks.actions.payments.payments import describe_charge, prepare_settling, settle
from printworks.actions.production.holds import hold_order, release_order
from printworks.actions.production.routing import RoutingTerms, re_estimate, route_order
from printworks.actions.submission import submit as submission
from printworks.actions.submission.check import check_submission
from printworks.actions.submission.prices import require_price
from printworks.actions.submission.sharpness import list_blurred, require_confirmed
from printworks.actions.taxes import tax_again
from printworks.dashboard.merchant.account.means import (
    announce_charge,
    find_means,
    find_part_from_balance,
)
from printworks.dashboard.merchant.sandbox.sandbox import move_clock
from printworks.dashboard.shared.money import format_money
from printworks.dashboard.shared.order_actions import Action, OrderAction, is_ended, list_actions
from printworks.dashboard.shared.order_money import OrderMoney, describe_money
from printworks.dashboard.shared.order_page import (
    MOST_SHIPMENTS,
    describe_history,
    describe_images,
)
from printworks.dashboard.shared.order_problems import count_doubtful, count_unseen, list_missing
from printworks.dashboard.shared.order_routing import RoutingChoice, describe_choices
from printworks.dashboard.shared.order_shipments import describe_shipment, explain_shipments
from printworks.dashboard.site.branding import find_brand
from printworks.dashboard.site.forms import read_number
from printworks.dashboard.site.rendering import Link, Message, Onwards, render_message
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit, refuse_unknown
from printworks.errors import BadInput
from printworks.rules.events import CallbackState
from printworks.rules.ledger import LedgerEntry
from printworks.rules.order_progress import may_follow
from printworks.rules.orders import OrderStatus, Payment
from printworks.rules.payments import PaymentState
from printworks.store.callbacks.callbacks import get_callback
from printworks.store.callbacks.settings import read_callback_settings
from printworks.store.issues.reprints import list_reprints
from printworks.store.money.payments import PaymentRequest, find_paid_request, get_request
from printworks.store.orders.history import read_etag
from printworks.store.orders.orders import Order, get_order, get_order_to_change
from printworks.store.orders.shipments import (
    Decision,
    WholeOrder,
    list_decisions,
)

# What the address ends in while the browser is sent on to the bank.
_LEAVING: Final = "leaving"
# The images that a page routes, to say what would happen to them.
_MOST_ROUTED: Final = 24
# How far the clock of the sandbox can be moved from here, by what the button sends.
_CLOCK_STEPS: Final[Mapping[str, tuple[str, timedelta]]] = {
    "hour": ("1 hour", timedelta(hours=1)),
    "day": ("1 day", timedelta(days=1)),
    "days": ("3 days", timedelta(days=3)),
}


@page_at("/orders/{id}")
def show_order(visit: MerchantVisit) -> Response:
    """Show an order; a refresh without news gets an empty answer."""
    order_id = visit.number("id")
    etag = visit.etag(read_etag(visit.db, visit.merchant.id, order_id))
    whole = look_at_order(visit.work, visit.services.database, order_id)
    payment = _find_payment(visit, whole.order)
    if _LEAVING in visit.query and payment is not None and payment.state is PaymentState.WAITING:
        return _send_to_bank(payment)
    history = describe_history(visit, whole.order)
    is_waiting = any(one.callback.state is CallbackState.PENDING for one in history["told"])
    return visit.render(
        "merchant/order.html",
        etag=etag,
        is_live=not is_ended(whole.order) or is_waiting,
        payment=payment,
        has_address=read_callback_settings(visit.db, visit.merchant.id).url is not None,
        **history,
        **_describe_order(visit, whole),
        **_describe_money(visit, whole, history["entries"]),
        **_describe_shipments(visit, whole),
        names={image.id: image.title for image in whole.images if whole.order.reasons},
        gallery=describe_images(visit, whole.order, whole.images),
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


def _find_recipient_page(visit: MerchantVisit, order: Order) -> str:
    """Return where the recipient follows the order; empty if there is nothing to follow."""
    if not may_follow(order.status, order.updated_at, now=visit.now):
        return ""
    is_recipients = order.payment is Payment.INVOICE_RECIPIENT and order.payment_token is not None
    path = f"/pay/{order.payment_token}" if is_recipients else visit.links.tracking(order.id)
    return f"{visit.services.settings.public_url}{path}"


def _describe_order(visit: MerchantVisit, whole: WholeOrder) -> dict[str, Any]:
    order = whole.order
    is_open = order.status is OrderStatus.NOT_YET_SUBMITTED
    submission = check_submission(visit.work, order) if is_open else None
    is_valid = submission is not None and submission.is_valid
    is_recipients = order.payment is Payment.INVOICE_RECIPIENT and order.payment_token is not None
    pay_page = f"{visit.services.settings.public_url}/pay/{order.payment_token}"
    allowed = list_actions(order, whole.shipments, visit.services.catalogue, is_valid=is_valid)
    return {
        "order": order,
        "is_ended": is_ended(order),
        "actions": allowed,
        "confirms": _find_confirmation(visit, allowed),
        "reprints": list_reprints(visit.db, visit.merchant.id, order.id),
        "is_valid": is_valid,
        "missing": list_missing(submission) if submission is not None else [],
        "blurred": (
            list_blurred(submission, visit.services.sharpness) if submission is not None else []
        ),
        "doubtful": count_doubtful(submission) if submission is not None else 0,
        "unseen": count_unseen(submission) if submission is not None else 0,
        "pay_page": pay_page if is_recipients else "",
        "recipient_page": _find_recipient_page(visit, order),
        "clock_steps": _CLOCK_STEPS if _can_move_clock(visit, whole) else {},
    }


def _describe_money(
    visit: MerchantVisit, whole: WholeOrder, entries: Sequence[LedgerEntry]
) -> dict[str, Any]:
    """Return what the order costs and brings in, and what submitting it will charge."""
    order = whole.order
    paid = None
    if order.payment is Payment.INVOICE_RECIPIENT:
        paid = find_paid_request(visit.db, order.id)
    money = describe_money(order, whole.images, paid, entries)
    charge = ""
    if money is not None and order.status is OrderStatus.NOT_YET_SUBMITTED:
        charge = _announce(visit, money)
    return {"money": money, "charge": charge}


def _announce(visit: MerchantVisit, money: OrderMoney) -> str:
    """Say who will be charged how much once the order is submitted."""
    cost, currency = money.cost.amount, money.currency
    if money.recipient is None or money.left is None:
        taken = find_part_from_balance(visit, cost)
        return announce_charge(find_means(visit), cost, currency, from_balance=taken)
    asked = format_money(money.recipient.amount, currency)
    return (
        f"The recipient is asked for {asked}. It costs you {format_money(cost, currency)}. "
        f"{money.left.label}: {format_money(money.left.amount, currency)}."
    )


def _find_confirmation(visit: MerchantVisit, actions: Sequence[Action]) -> str:
    """Return the action that the page asks to confirm, if it may still be done."""
    asked = visit.query.get("confirm")
    may = [action.doing for action in actions if not action.why_not]
    return OrderAction.CANCEL if asked == OrderAction.CANCEL and OrderAction.CANCEL in may else ""


def _can_move_clock(visit: MerchantVisit, whole: WholeOrder) -> bool:
    """Whether something happens to the order if the sandbox clock is moved."""
    order = whole.order
    is_travelling = (
        order.status is OrderStatus.COMPLETE
        and order.delivered_at is None
        and any(shipment.tracking_number for shipment in whole.shipments)
    )
    is_coming = order.status is OrderStatus.SUBMITTED or is_travelling
    return visit.services.is_sandbox and is_coming


def _describe_shipments(visit: MerchantVisit, whole: WholeOrder) -> dict[str, Any]:
    """Return in which shipments the order travels, which labs make it, and why."""
    catalogue = visit.services.catalogue
    shipments = [
        re_estimate(one, whole.order, whole.images, catalogue, now=visit.now)
        for one in whole.shipments[:MOST_SHIPMENTS]
    ]
    return {
        "shipments": [describe_shipment(shipment, catalogue) for shipment in shipments],
        "more_shipments": max(0, len(whole.shipments) - MOST_SHIPMENTS),
        "choices": _list_choices(visit, whole),
        "explanation": explain_shipments(whole.shipments, whole.images, catalogue),
    }


def _list_choices(visit: MerchantVisit, whole: WholeOrder) -> list[RoutingChoice]:
    """Explain the choice of labs; for an open order, the choice if it were submitted now.

    Nothing unless the operator lets merchants see labs.
    """
    order, catalogue = whole.order, visit.services.catalogue
    if not find_brand().brand.show_labs:
        return []
    if order.status is not OrderStatus.NOT_YET_SUBMITTED:
        return describe_choices(list_decisions(visit.db, order.id), catalogue, whole.images)
    # Routing many images takes too long for a page.
    if len(whole.images) > _MOST_ROUTED:
        return []
    routing = route_order(order, whole.images, RoutingTerms.of(visit.work))
    decisions = [] if routing is None else [Decision(routing, [], visit.now)]
    return describe_choices(decisions, catalogue, whole.images, usually="If it were submitted now")


def _lock_order(visit: MerchantVisit, db: Connection) -> Order:
    """Lock the order of this page until the transaction ends."""
    return get_order_to_change(db, visit.merchant.id, visit.number("id"))


@show_order.action(OrderAction.SUBMIT, "The order was submitted.", alone=True)
def submit(visit: MerchantVisit) -> str:
    """Submit the order; a card is charged between two transactions."""
    database = visit.services.database
    with database.reading() as db:
        ready = submission.prepare_submission(visit.work_in(db), visit.number("id"))
    with database.writing() as db:
        order = tax_again(visit.work_in(db), _lock_order(visit, db))
        require_price(order, read_number(visit.sent.text("price")))
        require_confirmed(visit.work_in(db), order, _read_confirmed(visit), ready)
        submitted = submission.submit_order(visit.work_in(db), order, ready=ready)
    if isinstance(submitted, Order):
        return visit.path
    return _pay(visit, order, submitted)


def _pay(visit: MerchantVisit, order: Order, payment: PaymentRequest) -> str:
    """Charge the card, outside any transaction, and settle the outcome."""
    if payment.state is not PaymentState.WAITING:
        charge = describe_charge(visit.merchant, order, payment)
        is_new = order.payment_request_id is None
        outcome = charge_once(visit.services.gateway, charge, payment, is_new=is_new)
        with visit.services.database.reading() as db:
            ready = prepare_settling(visit.system_work_in(db), payment.id, outcome)
        with visit.services.database.writing() as db:
            payment = settle(visit.system_work_in(db), payment.id, outcome, ready)
    refusal = refuse_unpaid(payment)
    if refusal is not None:
        raise refusal
    return f"{visit.path}?{_LEAVING}=1" if payment.state is PaymentState.WAITING else visit.path


@show_order.action(
    OrderAction.AWAIT_PAYMENT, "The order is awaiting payment. Send the recipient the link below."
)
def await_payment(visit: MerchantVisit) -> None:
    order = tax_again(visit.work, _lock_order(visit, visit.db))
    require_price(order, read_number(visit.sent.text("price")))
    require_confirmed(visit.work, order, _read_confirmed(visit))
    submission.await_payment(visit.work, order)


def _read_confirmed(visit: MerchantVisit) -> frozenset[int]:
    """Return the images that may be printed although they will look blurred."""
    words = visit.sent.text("blurred").split(",") if visit.sent.text("is_confirmed") else []
    return frozenset(number for word in words if (number := read_number(word)) is not None)


@show_order.action(OrderAction.CANCEL, "The order was cancelled.")
def cancel(visit: MerchantVisit) -> None:
    order = _lock_order(visit, visit.db)
    actions.cancel_order(visit.work, order)


@show_order.action(OrderAction.HOLD, "The order is on hold. Nothing is sent to a lab.")
def hold(visit: MerchantVisit) -> None:
    order = _lock_order(visit, visit.db)
    hold_order(visit.work, order)


@show_order.action(OrderAction.RELEASE, "The order was released.")
def release(visit: MerchantVisit) -> None:
    order = _lock_order(visit, visit.db)
    release_order(visit.work, order)


@show_order.action("send-order-callback-again", "The callback is being resent.")
def send_callback_again(visit: MerchantVisit) -> None:
    """Send one of the order's callbacks now."""
    order = _lock_order(visit, visit.db)
    callback = get_callback(visit.db, visit.merchant.id, visit.sent.number("callback") or 0)
    if callback.order_id != order.id:
        refuse_unknown()
    send_again(visit.work, callback.id)


@show_order.action(
    "move-clock-from-order",
    "Your clock was moved. Everything due by then has happened.",
    alone=True,
)
def move_clock_from_order(visit: MerchantVisit) -> None:
    """Move the merchant's clock, so that the order proceeds; only in a sandbox."""
    if not visit.services.is_sandbox:
        refuse_unknown()
    with visit.services.database.reading() as db:
        get_order(db, visit.merchant.id, visit.number("id"))
    if visit.sent.text("by") not in _CLOCK_STEPS:
        raise BadInput("Choose how far to move the clock: 1 hour, 1 day or 3 days.")
    move_clock(visit, _CLOCK_STEPS[visit.sent.text("by")][1])
