"""How a payment goes from being asked for to its end, and what recipients pay."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Final

import msgspec


class Billing(StrEnum):
    """How a merchant pays for what it orders."""

    # A saved card is charged with every order.
    CARD = "card"
    # What is owed is written down, up to a limit, and paid by invoice.
    ACCOUNT = "account"


class Payer(StrEnum):
    """Whose money it is."""

    MERCHANT = "merchant"
    RECIPIENT = "recipient"


class PaymentState(StrEnum):
    """What is known of a payment."""

    # The provider is asked, and what it did is not known yet.
    ASKED = "asked"
    # The payer has to authorise it.
    WAITING = "waiting"
    PAID = "paid"
    # Nothing was taken: declined, not authorised, or not in time.
    DECLINED = "declined"
    # Not wanted any more, while it was asked for: whatever was taken is given back.
    CANCELLED = "cancelled"
    REFUNDING = "refunding"
    REFUNDED = "refunded"


_S = PaymentState

# Read a line as: a payment here ... may become any of these.
PAYMENT_MOVES: Final[Mapping[PaymentState, frozenset[PaymentState]]] = {
    _S.ASKED: frozenset({_S.WAITING, _S.PAID, _S.DECLINED, _S.CANCELLED, _S.REFUNDING}),
    _S.WAITING: frozenset({_S.PAID, _S.DECLINED, _S.CANCELLED, _S.REFUNDING}),
    _S.PAID: frozenset({_S.REFUNDING}),
    # Money that comes after all goes back.
    _S.DECLINED: frozenset({_S.REFUNDING}),
    _S.CANCELLED: frozenset({_S.DECLINED, _S.REFUNDING}),
    _S.REFUNDING: frozenset({_S.REFUNDED}),
    _S.REFUNDED: frozenset(),
}

# While an order has one of these, nobody may change what is paid for.
OPEN_PAYMENTS: Final = frozenset({_S.ASKED, _S.WAITING})

# When somebody else looks what became of a payment, should whoever asked for it have died:
# not before a provider that is slow has had its time.
CHECK_AFTER: Final = timedelta(minutes=2)
# A payment of which the provider has not heard by then was never made.
UNHEARD_OF_AFTER: Final = timedelta(minutes=10)
# When a payment that was given up is looked for once more.
LAST_LOOK_AFTER: Final = timedelta(days=1)
# How often one that waits for its payer is looked at; providers tell of it by themselves, too.
LOOK_EVERY: Final = timedelta(minutes=15)


_NOT_PAID: Final = "The order was not paid for."


def explain_refusal(reason: str) -> str:
    """Say on an order why it was not paid for."""
    return f"{_NOT_PAID} {reason}"


def forget_refusal(error_message: str | None) -> str | None:
    """Return what else is said on an order, once somebody tries to pay again."""
    return None if (error_message or "").startswith(_NOT_PAID) else error_message


class CheckoutLine(msgspec.Struct, frozen=True):
    """So many copies for a recipient, at so much each."""

    copies: int
    each: int

    @property
    def total(self) -> int:
        """What the line comes to."""
        return self.copies * self.each


class CheckoutTotal(msgspec.Struct, frozen=True):
    """What a recipient pays, in minor units."""

    items: int
    shipping: int
    tax: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.items + self.shipping + self.tax


def add_up(lines: Iterable[CheckoutLine], *, shipping: int, tax: int) -> CheckoutTotal:
    """Return what a recipient pays for an order."""
    return CheckoutTotal(sum(line.total for line in lines), shipping, tax)


def find_price_for_recipient(price_to_user: int | None, price: int) -> int:
    """Return what a recipient pays for one copy: what the merchant asks, else what it pays."""
    return price if price_to_user is None else price_to_user


class Cards(msgspec.Struct, frozen=True):
    """Who charges cards here, and how long a payer has to authorise that."""

    provider: str
    authorise_within: timedelta
    # How long a recipient has to pay.
    checkout_within: timedelta


def is_on_account(billing: Billing, cards: Cards | None) -> bool:
    """Whether a merchant owes what it orders; so it is wherever nobody charges cards."""
    return cards is None or billing is Billing.ACCOUNT
