"""Refunds at Stripe: making them, and what has become of them.

Stripe takes a refund at once, and the payer's bank may reject it days later. The money is then in
the balance at Stripe again, and the charge can be refunded anew.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec
import stripe

from printworks.conversion import reader_of
from printworks.payments.provider import (
    Charge,
    Paid,
    Refunded,
    RefundOutcome,
    RefundRejected,
)
from printworks.payments.webhooks import KEY
from printworks.rules.payments import name_refund

if TYPE_CHECKING:
    from stripe import RefundService

_REJECTED: Final = frozenset({"failed", "canceled"})
NO_REASON: Final = "The bank gave no reason."
# What operators read, who decide what to do about it.
REASONS: Final[Mapping[str, str]] = {
    "charge_for_pending_refund_disputed": (
        "The payer disputes the payment: wait until that is decided, so that it is not repaid twice."
    ),
    "declined": "The bank declined it.",
    "expired_or_canceled_card": "The card has expired or was cancelled.",
    "insufficient_funds": "There was not enough money in the balance at Stripe.",
    "lost_or_stolen_card": "The card was lost or stolen.",
    "merchant_request": "It was cancelled at Stripe.",
}


class Refund(msgspec.Struct):
    """The fields of a refund that we read."""

    id: str
    status: str | None
    amount: int = 0
    failure_reason: str | None = None

    @property
    def is_rejected(self) -> bool:
        return self.status in _REJECTED


_read: Final = reader_of(Refund)


class StripeRefunds:
    """The refunds of payments."""

    def __init__(self, refunds: "RefundService") -> None:
        self._refunds = refunds

    def make(self, charge: Charge, paid: Paid) -> RefundOutcome:
        """Refund all of it; Stripe refuses what was refunded before, even without the key."""
        name = name_refund(charge.key, charge.rejected_refunds)
        try:
            made = self._refunds.create(
                {"payment_intent": paid.reference, "metadata": {KEY: charge.key}},
                {"idempotency_key": f"{name}-refund"},
            )
        except stripe.InvalidRequestError as error:
            if error.code != "charge_already_refunded":
                raise
            return self.look_up(charge, paid)
        refund = _read_refund(made)
        return _reject(refund) if refund.is_rejected else Refunded()

    def look_up(self, charge: Charge, paid: Paid) -> RefundOutcome:
        """Add up what is on its way, whoever has sent it; without a rejected refund, all is well."""
        asked = self._refunds.list({"payment_intent": paid.reference, "limit": 100})
        found = [_read_refund(one) for one in asked.auto_paging_iter()]
        # The newest first.
        rejected = [one for one in found if one.is_rejected]
        sent = sum(one.amount for one in found if not one.is_rejected)
        return _reject(rejected[0]) if rejected and sent < charge.amount else Refunded()


def _read_refund(refund: stripe.Refund) -> Refund:
    found: Any = refund.to_dict()
    return _read(found)


def _reject(refund: Refund) -> RefundRejected:
    usual = "merchant_request" if refund.status == "canceled" else "unknown"
    return RefundRejected(reason=REASONS.get(refund.failure_reason or usual, NO_REASON))
