"""Asking a payment provider on the way to an answer."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from printworks.actions.payments.payments import describe_charge, settle
from printworks.api.endpoints import Call, Unfinished
from printworks.errors import ServiceError, ServiceUnavailable, WrongState
from printworks.payments.provider import Outcome, ProviderUnavailable, Unknown
from printworks.rules.payments import PaymentState, explain_refusal
from printworks.store.money.payments import PaymentRequest
from printworks.store.orders.orders import Order

Show = Callable[[Call, PaymentRequest], Any]

_NOT_REACHED = (
    "The payment provider could not be reached. Submit the order again in a few minutes: "
    "it is paid for once."
)
_ENDED = "The order was cancelled while it was being paid for; nothing is charged."


def pay(call: Call, order: Order, request: PaymentRequest, show: Show) -> Any:
    """Charge the card of a merchant for an order; `show` says what an answer looks like."""
    if request.state is PaymentState.WAITING:
        return show(call, request)
    charge = describe_charge(call.merchant, order, request)
    is_new = request.created_at == call.now

    def ask() -> Outcome | None:
        try:
            provider = call.gateway.open(request.provider)
            # Providers forget keys after a day: who asks again looks first.
            known = Unknown() if is_new else provider.look_up(charge, request.reference)
            return provider.charge(charge) if isinstance(known, Unknown) else known
        except ProviderUnavailable:
            return None

    def then(db: Connection, outcome: Outcome | None) -> Any:
        if outcome is None:
            return ServiceUnavailable(_NOT_REACHED)
        # The provider may have taken its time.
        settled = settle(db, request.id, outcome, catalogue=call.catalogue, now=call.clock())
        return _refuse(settled) or show(call, settled)

    return Unfinished(ask, then, waits_for_others=True)


def _refuse(request: PaymentRequest) -> ServiceError | None:
    """Say what became of a payment, if that is not what was asked for."""
    if request.state in {PaymentState.PAID, PaymentState.WAITING}:
        return None
    return WrongState(explain_refusal(request.reason) if request.reason else _ENDED)
