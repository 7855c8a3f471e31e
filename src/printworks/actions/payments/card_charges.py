"""Charging a payer through a provider: outside any transaction, and never twice."""

from printworks.errors import ServiceUnavailable, WrongState
from printworks.payments.gateway import Gateway
from printworks.payments.provider import Charge, Outcome, ProviderUnavailable, Unknown
from printworks.rules.payments import PaymentState
from printworks.rules.reasons import Reason, ReasonCode, write_reason
from printworks.store.money.payments import PaymentRequest

_NOT_REACHED = (
    "The payment provider could not be reached. Submit the order again in a few minutes: "
    "it is paid for once."
)
_CANCELLED = "The order was cancelled while it was being paid for; nothing is charged."


def charge_once(
    gateway: Gateway, charge: Charge, payment: PaymentRequest, *, is_new: bool
) -> Outcome:
    """Charge a payer, unless the provider knows the charge already.

    Providers forget idempotency keys after a day, so only a payment that was created in this
    request is charged without looking it up. Raise `ServiceUnavailable` if there is no answer;
    a job checks the payment later.
    """
    try:
        provider = gateway.open(payment.provider)
        known = Unknown() if is_new else provider.look_up(charge, payment.reference)
        return provider.charge(charge) if isinstance(known, Unknown) else known
    except ProviderUnavailable as error:
        raise ServiceUnavailable(_NOT_REACHED) from error


def refuse_unpaid(payment: PaymentRequest) -> WrongState | None:
    """Return the refusal for a settled payment that failed; None if it is paid or waiting."""
    if payment.state in {PaymentState.PAID, PaymentState.WAITING}:
        return None
    if not payment.reason:
        return WrongState(_CANCELLED)
    return WrongState(write_reason(Reason(ReasonCode.PAYMENT_REFUSED, detail=payment.reason)))
