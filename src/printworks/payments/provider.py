"""The protocol of every payment provider.

A declined payment is a return value. A provider that cannot be reached is an exception: its
outcome is unknown then, and the call is retried with the same key.
"""

from datetime import datetime
from typing import Protocol

import msgspec

from printworks.payments.cards import CardOutcome, CardPage, CardRequest


class Charge(msgspec.Struct, frozen=True, kw_only=True):
    """An amount to charge for an order, to its merchant or its recipient, in minor units."""

    # The idempotency key: every attempt of a charge has the same. No other charge may have it, not
    # even one of another deployment with the same account at the provider.
    key: str
    merchant: str
    order: int
    amount: int
    currency: str
    # When it was first attempted: a lookup goes no further back.
    asked_at: datetime | None = None
    # The saved customer and card at the provider; empty if the payer is asked on a page.
    customer: str = ""
    payment_method: str = ""
    # The email address of a payer who is asked.
    payer_email: str = ""
    # How many refunds of it were rejected: each next one is another refund.
    rejected_refunds: int = 0
    # For the simulated bank only.
    destination_country: str = ""
    recipient: str = ""
    merchant_reference: str = ""


class Paid(msgspec.Struct, frozen=True, kw_only=True):
    """The charge is paid, or on account."""

    provider: str
    reference: str


class NeedsAuthorisation(msgspec.Struct, frozen=True, kw_only=True):
    """The payer has to authorise the charge at an address; until then nothing is charged."""

    url: str
    reference: str


class Declined(msgspec.Struct, frozen=True, kw_only=True):
    """The charge failed; the reason is a sentence for the merchant."""

    reason: str


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """The provider does not know the charge.

    A request may still be in flight: charge again with the same key, or wait for some minutes
    and look it up again before you assume that nothing was charged.
    """


Outcome = Paid | NeedsAuthorisation | Declined


class Refunded(msgspec.Struct, frozen=True, kw_only=True):
    """The whole amount is on its way to the payer, or there; a bank may still reject it."""


class RefundRejected(msgspec.Struct, frozen=True, kw_only=True):
    """The payer does not get it, and the provider has it again; why is a sentence for operators."""

    reason: str


RefundOutcome = Refunded | RefundRejected


class ProviderUnavailable(Exception):
    """The outcome is unknown; `detail` is only for the log."""

    def __init__(self, detail: str = "") -> None:
        super().__init__("The payment provider could not be asked.")
        self.detail = detail


class PaymentProvider(Protocol):
    """Charges and refunds; each method may raise `ProviderUnavailable`.

    Never call it in a database transaction: it may use the network.
    """

    name: str

    def charge(self, charge: Charge) -> Outcome:
        """Charge the saved card. Idempotent by the key."""

    def ask_payer(self, charge: Charge) -> Outcome:
        """Ask a payer without a saved card, usually at the address that is returned.

        Idempotent by the key. The reference may change once it is paid.
        """

    def look_up(self, charge: Charge, reference: str = "") -> Outcome | Unknown:
        """Return the outcome of a charge by its key; a reference makes it faster."""

    def cancel(self, charge: Charge, reference: str) -> Paid | Declined:
        """Cancel a charge that waits for the payer; `Paid` if that came first. Idempotent."""

    def refund(self, charge: Charge, paid: Paid) -> RefundOutcome:
        """Refund the whole amount. Idempotent by the key and the number of rejected refunds."""

    def look_up_refund(self, charge: Charge, paid: Paid) -> RefundOutcome:
        """Return what has become of a refund that was made."""

    def ask_for_card(self, request: CardRequest) -> CardPage:
        """Open a page on which a merchant saves a card. Idempotent by the key."""

    def look_up_card(self, reference: str) -> CardOutcome:
        """Return what became of such a page."""

    def forget_card(self, payment_method: str) -> None:
        """Make a saved card one that can never be charged again. Idempotent."""
