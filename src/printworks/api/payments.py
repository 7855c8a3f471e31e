"""Charging a merchant's card within a request."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection

from printworks.actions.payments.card_charges import charge_once, refuse_unpaid
from printworks.actions.payments.payments import describe_charge, settle
from printworks.api.endpoints import Call, Unfinished
from printworks.errors import ServiceUnavailable
from printworks.payments.provider import Outcome
from printworks.rules.payments import PaymentState
from printworks.store.money.payments import PaymentRequest
from printworks.store.orders.orders import Order

Show = Callable[[PaymentRequest], Any]


def pay(call: Call, order: Order, payment: PaymentRequest, show: Show) -> Any:
    """Charge the card of a merchant for an order; `show` writes the answer."""
    if payment.state is PaymentState.WAITING:
        return show(payment)
    charge = describe_charge(call.merchant, order, payment)
    is_new = payment.created_at == call.work.now

    def ask() -> Outcome | ServiceUnavailable:
        try:
            return charge_once(call.services.gateway, charge, payment, is_new=is_new)
        except ServiceUnavailable as refusal:
            return refusal

    def then(db: Connection, outcome: Outcome | ServiceUnavailable) -> Any:
        if isinstance(outcome, ServiceUnavailable):
            return outcome
        settled = settle(call.work_in(db), payment.id, outcome)
        return refuse_unpaid(settled) or show(settled)

    return Unfinished(ask, then, waits_for_others=True)
