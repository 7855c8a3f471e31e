"""The states of a payment, its timing, and what recipients pay."""

from collections.abc import Iterable
from datetime import timedelta
from enum import StrEnum
from typing import Final

import msgspec


class Billing(StrEnum):
    """How a merchant pays for what it orders."""

    # A saved card is charged with every order.
    CARD = "card"
    # Orders are charged to an account, up to a limit, and paid by invoice.
    ACCOUNT = "account"


class Payer(StrEnum):
    MERCHANT = "merchant"
    RECIPIENT = "recipient"


class PaymentState(StrEnum):
    # Sent to the provider; the outcome is not known yet.
    ASKED = "asked"
    # The payer has to authorise it.
    WAITING = "waiting"
    PAID = "paid"
    # Nothing was charged: declined, not authorised, or not in time.
    DECLINED = "declined"
    # Cancelled before the outcome was known: if it was charged, it is refunded.
    CANCELLED = "cancelled"
    REFUNDING = "refunding"
    # All of it is on its way to the payer; a bank may still reject it.
    REFUNDED = "refunded"
    # The bank rejected the refund: an operator has to act.
    REFUND_REJECTED = "refund-rejected"
    # An operator has noted that the payer got it in another way.
    REPAID = "repaid"


# While an order has one of these, it cannot be changed.
OPEN_PAYMENTS: Final = frozenset({PaymentState.ASKED, PaymentState.WAITING})

# When a job checks a payment, in case the process that started it has died: late enough for a
# slow provider.
CHECK_AFTER: Final = timedelta(minutes=2)
# A payment that the provider does not know by then was never made.
UNKNOWN_AFTER: Final = timedelta(minutes=10)
# When a payment that was declined as unknown is checked once more.
LAST_CHECK_AFTER: Final = timedelta(days=1)
# How long a payment that has ended is looked up at a provider that does not answer.
LOOK_UP_FOR: Final = timedelta(days=30)
# When a refund is looked up once more, in case no webhook said that it was rejected: by then
# banks have decided.
CHECK_REFUND_AFTER: Final = timedelta(days=30)
# How long to wait for a provider that does not answer, at first and at most.
FIRST_WAIT: Final = timedelta(minutes=1)
LONGEST_WAIT: Final = timedelta(hours=1)
# When a payment that waits for its payer is first checked again; providers also send webhooks.
CHECK_AGAIN_AFTER: Final = timedelta(minutes=15)


def wait_for_payer(waited: timedelta, left: timedelta, *, is_clock_moving: bool) -> timedelta:
    """Return when to check a payment again that waits for its payer: as long as it has waited.

    While a clock is being moved, no payer can do anything until the payment expires.
    """
    return left if is_clock_moving else min(max(CHECK_AGAIN_AFTER, waited), left)


def wait_for_provider(waited: timedelta, left: timedelta) -> timedelta:
    """Return when to ask a provider again that does not answer: as long as it has not answered.

    `left` is the time until the payment ends without an answer; it is not missed, and counts no
    more once it is over.
    """
    wait = min(max(waited, FIRST_WAIT), LONGEST_WAIT)
    return min(wait, left) if left > timedelta(0) else wait


def name_refund(key: str, rejected: int) -> str:
    """Return what a payment's refund is called: after each that was rejected, something else."""
    return f"{key}-{rejected + 1}" if rejected else key


# The least that a card is charged, in minor units: providers refuse less.
LEAST_CHARGE: Final = 100
# In minor units: no bank accepts more at once, and no column holds much more.
MOST_TO_PAY: Final = 10**11


def find_free_balance(balance: int, claimed: int) -> int:
    """Return how much of its balance a merchant may use.

    `balance` is what the merchant owes, and below zero what it has in its favour; `claimed` is how
    much of that is on its way to somebody, or pays for other orders.
    """
    return max(0, -balance - claimed)


def share_balance(total: int, free: int) -> int:
    """Return how much of what an order costs is taken from the free balance.

    Nothing is left for the card, or enough for it to be charged.
    """
    if free >= total:
        return total
    return max(0, min(free, total - LEAST_CHARGE))


class CheckoutLine(msgspec.Struct, frozen=True):
    """A number of copies for a recipient, and the price of each."""

    copies: int
    each: int

    @property
    def total(self) -> int:
        """The price of all copies."""
        return self.copies * self.each


class CheckoutTotal(msgspec.Struct, frozen=True):
    """What a recipient pays, in minor units."""

    items: int
    shipping: int
    tax: int
    # Whether the prices include it.
    tax_included: bool = False

    @property
    def total(self) -> int:
        added = 0 if self.tax_included else self.tax
        return self.items + self.shipping + added


def add_up(
    lines: Iterable[CheckoutLine], *, shipping: int, tax: int, tax_included: bool = False
) -> CheckoutTotal:
    """Return what a recipient pays for an order."""
    return CheckoutTotal(sum(line.total for line in lines), shipping, tax, tax_included)


def find_price_for_recipient(price_to_user: int | None, price: int) -> int:
    """Return what a recipient pays for one copy: the price set by the merchant, else its own."""
    return price if price_to_user is None else price_to_user


class Cards(msgspec.Struct, frozen=True):
    """The provider that charges cards, and how long a payer has to authorise a charge."""

    provider: str
    authorise_within: timedelta
    # How long a recipient has to pay.
    checkout_within: timedelta
    # Whether it can only charge merchants who have saved a card.
    needs_saved_card: bool = False
    # Whether what a merchant has in its favour pays for its orders first.
    uses_balance: bool = True


def is_on_account(billing: Billing, cards: Cards | None) -> bool:
    """Whether a merchant pays on account, as all do where cards are not charged."""
    return cards is None or billing is Billing.ACCOUNT


def may_owe(added: int, *, owed: int, limit: int | None, on_account: bool) -> bool:
    """Whether a merchant who owes an amount may owe another one in addition.

    One who pays by card and has no limit may owe for one order at a time: the difference to what
    a recipient pays, or to another shipping method.
    """
    if limit is not None:
        return owed + added <= limit
    return on_account or added <= 0 or owed <= 0
