"""What every way of taking money promises.

A refusal is a return value. A provider that cannot be asked is an exception: what it did is not
known then, and it is asked again with the same key.
"""

from datetime import datetime
from typing import Protocol

import msgspec


class Charge(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be taken for an order, from its merchant or somebody else: a minor unit or more."""

    # The same charge has the same key, however often it is tried. No other charge may have it,
    # not even one of another deployment that shares an account with the provider.
    key: str
    merchant: str
    order: int
    amount: int
    currency: str
    # When it was first asked for: a look-up goes no further back.
    asked_at: datetime | None = None
    # Who pays, and with what, in the provider's own words; a payer who is asked has neither.
    customer: str = ""
    payment_method: str = ""
    # Where the provider may write to a payer who is asked.
    payer_email: str = ""
    # What the simulated bank decides by; nobody else is told.
    destination_country: str = ""
    recipient: str = ""
    merchant_reference: str = ""


class Paid(msgspec.Struct, frozen=True, kw_only=True):
    """The money is there, or owed by somebody who may owe it."""

    provider: str
    reference: str


class NeedsAuthorisation(msgspec.Struct, frozen=True, kw_only=True):
    """The payer has something to do at an address; nothing is taken until then."""

    url: str
    reference: str


class Declined(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing was taken and nothing will be; the reason is a sentence for the merchant."""

    reason: str


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """The provider has not heard of the charge.

    A request that is still on its way may arrive yet: charge again with the same key, or wait
    for some minutes and look again before you take it that nothing was charged.
    """


Outcome = Paid | NeedsAuthorisation | Declined


class ProviderUnavailable(Exception):
    """The provider did not say what it did; `detail` is for the log alone."""

    def __init__(self, detail: str = "") -> None:
        super().__init__("The payment provider could not be asked.")
        self.detail = detail


class PaymentProvider(Protocol):
    """Takes money, and gives it back; each method may raise `ProviderUnavailable`.

    A provider that asks somebody else must not be asked in a transaction.
    """

    name: str

    def charge(self, charge: Charge) -> Outcome:
        """Take the money; with the same key it is taken once, however often this is called."""

    def ask_payer(self, charge: Charge) -> Outcome:
        """Let somebody pay whose card is not known, usually at the address that is returned.

        With the same key it is asked for once. What is paid may have another reference then.
        """

    def look_up(self, charge: Charge, reference: str = "") -> Outcome | Unknown:
        """Say what became of a charge, by its key alone; a reference makes it quicker."""

    def cancel(self, charge: Charge, reference: str) -> Paid | Declined:
        """End the wait for the payer; `Paid` if that came first. Harmless twice."""

    def refund(self, charge: Charge, paid: Paid) -> None:
        """Give the money back, all of it; harmless twice."""
