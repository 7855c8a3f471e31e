"""The form actions of the page of an order."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from sqlalchemy import Connection

from printworks.actions.callbacks import send_again
from printworks.actions.orders import orders as actions
from printworks.actions.payments.card_charges import charge_once, refuse_unpaid
from printworks.actions.payments.payments import describe_charge, settle
from printworks.actions.production.holds import hold_order, release_order
from printworks.actions.submission import submit as submission
from printworks.dashboard.merchant.sandbox.sandbox import move_clock
from printworks.dashboard.shared.order_actions import OrderAction
from printworks.dashboard.site.router import FormAction
from printworks.dashboard.site.visits import MerchantVisit, refuse_unknown
from printworks.errors import BadInput
from printworks.rules.payments import PaymentState
from printworks.store.callbacks.callbacks import get_callback
from printworks.store.money.payments import PaymentRequest
from printworks.store.orders.orders import Order, get_order, get_order_to_change

# What the address ends in while the browser is sent on to the bank.
LEAVING: Final = "leaving"
# How far the clock of the sandbox can be moved from here, by what the button sends.
CLOCK_STEPS: Final[Mapping[str, tuple[str, timedelta]]] = {
    "hour": ("1 hour", timedelta(hours=1)),
    "day": ("1 day", timedelta(days=1)),
    "days": ("3 days", timedelta(days=3)),
}


def find_order(visit: MerchantVisit, db: Connection) -> Order:
    """Lock the order of this page until the transaction ends."""
    return get_order_to_change(db, visit.merchant.id, visit.number("id"))


def submit(visit: MerchantVisit) -> str:
    """Submit the order; a card is charged between two transactions."""
    services = visit.services
    with services.database.writing() as db:
        order = find_order(visit, db)
        submitted = submission.submit_order(visit.work_in(db), order)
    if isinstance(submitted, Order):
        return visit.path
    return _pay(visit, order, submitted)


def _pay(visit: MerchantVisit, order: Order, payment: PaymentRequest) -> str:
    """Charge the card, outside any transaction, and settle the outcome."""
    if payment.state is not PaymentState.WAITING:
        charge = describe_charge(visit.merchant, order, payment)
        is_new = order.payment_request_id is None
        outcome = charge_once(visit.services.gateway, charge, payment, is_new=is_new)
        with visit.services.database.writing() as db:
            payment = settle(visit.system_work_in(db), payment.id, outcome)
    refusal = refuse_unpaid(payment)
    if refusal is not None:
        raise refusal
    return f"{visit.path}?{LEAVING}=1" if payment.state is PaymentState.WAITING else visit.path


def await_payment(visit: MerchantVisit) -> str:
    """Ask the recipient to pay for the order."""
    order = find_order(visit, visit.db)
    submission.await_payment(visit.work, order)
    return visit.path


def cancel(visit: MerchantVisit) -> str:
    """Cancel the order."""
    order = find_order(visit, visit.db)
    actions.cancel_order(visit.work, order)
    return visit.path


def hold(visit: MerchantVisit) -> str:
    """Put the order on hold."""
    order = find_order(visit, visit.db)
    hold_order(visit.work, order)
    return visit.path


def release(visit: MerchantVisit) -> str:
    """Release the order from hold."""
    order = find_order(visit, visit.db)
    release_order(visit.work, order)
    return visit.path


def send_callback_again(visit: MerchantVisit) -> str:
    """Send one of the order's callbacks now."""
    order = find_order(visit, visit.db)
    callback = get_callback(visit.db, visit.merchant.id, visit.sent.number("callback") or 0)
    if callback.order_id != order.id:
        refuse_unknown()
    send_again(visit.work, callback.id)
    return visit.path


def move_clock_from_order(visit: MerchantVisit) -> str:
    """Move the merchant's clock, so that the order proceeds; only in a sandbox."""
    if not visit.services.is_sandbox:
        refuse_unknown()
    with visit.services.database.reading() as db:
        get_order(db, visit.merchant.id, visit.number("id"))
    if visit.sent.text("by") not in CLOCK_STEPS:
        raise BadInput("Choose how far to move the clock: 1 hour, 1 day or 3 days.")
    move_clock(visit, CLOCK_STEPS[visit.sent.text("by")][1])
    return visit.path


FORM_ACTIONS: Final[tuple[FormAction[MerchantVisit], ...]] = (
    FormAction(OrderAction.SUBMIT, submit, "The order was submitted.", alone=True),
    FormAction(
        OrderAction.AWAIT_PAYMENT,
        await_payment,
        "The order is awaiting payment. Send the recipient the link below.",
    ),
    FormAction(OrderAction.CANCEL, cancel, "The order was cancelled."),
    FormAction(OrderAction.HOLD, hold, "The order is on hold. Nothing is sent to a lab."),
    FormAction(OrderAction.RELEASE, release, "The order was released."),
    FormAction("send-order-callback-again", send_callback_again, "The callback is being resent."),
    FormAction(
        "move-clock-from-order",
        move_clock_from_order,
        "Your clock was moved. Everything due by then has happened.",
        alone=True,
    ),
)
