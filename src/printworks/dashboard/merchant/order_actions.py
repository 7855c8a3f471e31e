"""What the forms of an order's page ask for."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from sqlalchemy import Connection

from printworks.actions.callbacks.callbacks import send_again
from printworks.actions.orders import orders as actions
from printworks.actions.payments.payments import describe_charge, settle
from printworks.actions.production.production import hold_order, release_order
from printworks.dashboard.shared.order_actions import Doing
from printworks.dashboard.site.router import FormAction
from printworks.dashboard.site.visits import MerchantVisit, refuse_unknown
from printworks.errors import BadInput, ServiceUnavailable, WrongState
from printworks.payments.provider import Outcome, ProviderUnavailable, Unknown
from printworks.rules.payments import PaymentState, explain_refusal
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
_NOT_REACHED: Final = (
    "The payment provider could not be reached. Submit the order again in a few minutes: "
    "it is paid for once."
)
_ENDED: Final = "The order was cancelled while it was being paid for; nothing is charged."


def find_order(visit: MerchantVisit, db: Connection) -> Order:
    """Return the order of this page as it stays until the transaction ends."""
    return get_order_to_change(db, visit.merchant.id, visit.number("id"))


def submit(visit: MerchantVisit) -> str:
    """Submit the order; where its card has to be charged, that happens in between."""
    services = visit.services
    with services.database.writing() as db:
        order = find_order(visit, db)
        submitted = actions.submit_order(
            db,
            visit.merchant,
            order,
            catalogue=services.catalogue,
            cards=services.gateway.cards,
            now=visit.now,
            request_id=visit.request.state.request_id,
        )
        visit.within(db).note(
            Doing.SUBMIT, str(order.id), price=order.price, currency=order.currency
        )
    if isinstance(submitted, Order):
        return visit.path
    return _pay(visit, order, submitted)


def _pay(visit: MerchantVisit, order: Order, request: PaymentRequest) -> str:
    """Ask the provider, in no transaction, and do what follows from what it says."""
    if request.state is not PaymentState.WAITING:
        outcome = _ask(visit, order, request)
        with visit.services.database.writing() as db:
            # The provider may have taken its time.
            now = visit.services.clock()
            request = settle(db, request.id, outcome, catalogue=visit.services.catalogue, now=now)
    if request.state is PaymentState.WAITING:
        return f"{visit.path}?{LEAVING}=1"
    if request.state is PaymentState.PAID:
        return visit.path
    raise WrongState(explain_refusal(request.reason) if request.reason else _ENDED)


def _ask(visit: MerchantVisit, order: Order, request: PaymentRequest) -> Outcome:
    charge = describe_charge(visit.merchant, order, request)
    is_new = order.payment_request_id is None
    try:
        provider = visit.services.gateway.open(request.provider)
        # Providers forget keys after a day: who asks again looks first.
        known = Unknown() if is_new else provider.look_up(charge, request.reference)
        return provider.charge(charge) if isinstance(known, Unknown) else known
    except ProviderUnavailable:
        raise ServiceUnavailable(_NOT_REACHED) from None


def await_payment(visit: MerchantVisit) -> str:
    """Let the recipient pay for the order."""
    order = find_order(visit, visit.db)
    actions.await_payment(
        visit.db,
        visit.merchant,
        order,
        catalogue=visit.services.catalogue,
        cards=visit.services.gateway.cards,
        now=visit.now,
    )
    visit.note(Doing.AWAIT_PAYMENT, str(order.id))
    return visit.path


def cancel(visit: MerchantVisit) -> str:
    """Cancel the order."""
    order = find_order(visit, visit.db)
    actions.cancel_order(
        visit.db, visit.merchant, order, catalogue=visit.services.catalogue, now=visit.now
    )
    visit.note(Doing.CANCEL, str(order.id), was=order.status)
    return visit.path


def hold(visit: MerchantVisit) -> str:
    """Keep the order from being sent to a lab."""
    order = find_order(visit, visit.db)
    hold_order(visit.db, order, catalogue=visit.services.catalogue, now=visit.now)
    visit.note(Doing.HOLD, str(order.id))
    return visit.path


def release(visit: MerchantVisit) -> str:
    """Let the order go on."""
    order = find_order(visit, visit.db)
    release_order(visit.db, visit.merchant, order, now=visit.now)
    visit.note(Doing.RELEASE, str(order.id))
    return visit.path


def send_callback_again(visit: MerchantVisit) -> str:
    """Send one of the order's callbacks now."""
    order = find_order(visit, visit.db)
    callback = get_callback(visit.db, visit.merchant.id, visit.sent.number("callback") or 0)
    if callback.order_id != order.id:
        refuse_unknown()
    send_again(visit.db, visit.merchant, callback.id, now=visit.now)
    visit.note("send-order-callback-again", str(order.id), callback=callback.id)
    return visit.path


def move_clock(visit: MerchantVisit) -> str:
    """Move the merchant's clock, so that the order goes on; only a sandbox has one to move."""
    services = visit.services
    if not services.is_sandbox:
        refuse_unknown()
    with services.database.reading() as db:
        order = get_order(db, visit.merchant.id, visit.number("id"))
    if visit.sent.text("by") not in CLOCK_STEPS:
        raise BadInput("Say how far to move the clock: 1 hour, 1 day or 3 days.")
    text, by = CLOCK_STEPS[visit.sent.text("by")]
    services.advance_clock(visit.merchant.id, by)
    with services.database.writing() as db:
        visit.within(db).note("move-clock", str(order.id), by=text)
    return visit.path


FORM_ACTIONS: Final[tuple[FormAction[MerchantVisit], ...]] = (
    FormAction(name=Doing.SUBMIT, take=submit, says="The order was submitted.", alone=True),
    FormAction(
        name=Doing.AWAIT_PAYMENT,
        take=await_payment,
        says="The order waits for its payment. Send the recipient the address below.",
    ),
    FormAction(name=Doing.CANCEL, take=cancel, says="The order was cancelled."),
    FormAction(name=Doing.HOLD, take=hold, says="The order is held. Nothing is sent to a lab."),
    FormAction(name=Doing.RELEASE, take=release, says="The order goes on."),
    FormAction(
        name="send-order-callback-again",
        take=send_callback_again,
        says="The callback is being sent again.",
    ),
    FormAction(
        name="move-clock-from-order",
        take=move_clock,
        says="Your clock was moved. Whatever fell due has happened.",
        alone=True,
    ),
)
