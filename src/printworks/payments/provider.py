"""What every way of taking money promises."""

from typing import Protocol

import msgspec


class Charge(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be taken from a merchant for an order, in minor units."""

    # The same charge has the same key, however often it is tried.
    key: str
    merchant: str
    order: int
    amount: int
    currency: str


class Paid(msgspec.Struct, frozen=True, kw_only=True):
    """The money is there, or owed by somebody who may owe it."""

    provider: str
    reference: str


class PaymentProvider(Protocol):
    """Takes money, and gives it back."""

    name: str

    def charge(self, charge: Charge) -> Paid:
        """Take the money; harmless twice with the same key."""

    def refund(self, charge: Charge, paid: Paid) -> None:
        """Give the money back; harmless twice."""
