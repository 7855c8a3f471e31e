"""Charging a merchant's card within a request."""

from collections.abc import Callable
from typing import Any, NamedTuple

from sqlalchemy import Connection

from printworks.actions.payments.card_charges import charge_once, refuse_unpaid
from printworks.actions.payments.payments import describe_charge, prepare_settling, settle
from printworks.actions.submission.check import ReadySubmission
from printworks.api.endpoints import Call, Needs, Unfinished
from printworks.errors import ServiceUnavailable
from printworks.payments.provider import Outcome
from printworks.rules.payments import PaymentState
from printworks.store.money.payments import PaymentRequest
from printworks.store.orders.orders import Order

Show = Callable[[PaymentRequest], Any]


class _Answer(NamedTuple):
    """What the provider said, and the labs of the order if it was paid."""

    outcome: Outcome
    ready: ReadySubmission | None


def pay(call: Call, order: Order, payment: PaymentRequest, show: Show) -> Any:
    """Charge the card of a merchant for an order; `show` writes the answer."""
    if payment.state is PaymentState.WAITING:
        return show(payment)
    charge = describe_charge(call.merchant, order, payment)
    is_new = payment.created_at == call.work.now

    def ask() -> _Answer | ServiceUnavailable:
        try:
            outcome = charge_once(call.services.gateway, charge, payment, is_new=is_new)
        except ServiceUnavailable as refusal:
            return refusal
        with call.services.database.reading() as db:
            return _Answer(outcome, prepare_settling(call.work_in(db), payment.id, outcome))

    def then(db: Connection, answer: _Answer | ServiceUnavailable) -> Any:
        if isinstance(answer, ServiceUnavailable):
            return answer
        settled = settle(call.work_in(db), payment.id, *answer)
        return refuse_unpaid(settled) or show(settled)

    return Unfinished(ask, then, Needs.SERVER)
