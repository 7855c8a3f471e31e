"""The double-entry ledger: what is posted when.

An entry belongs to one merchant and one currency. Its lines name accounts and amounts in minor
units, debits above zero and credits below, and add up to zero. Entries are numbered without gaps
and each has the hash of the one before, so changes are detected.
"""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

import msgspec


class EntryKind(StrEnum):
    """Why money moved."""

    CHARGE = "charge"
    REFUND = "refund"
    CREDIT = "credit"
    PAYMENT = "payment"
    # A payment for an order is returned to its payer.
    REPAYMENT = "repayment"
    # Something else that the merchant owes.
    DEBIT = "debit"
    # What the merchant has in its favour is paid to it.
    PAYOUT = "payout"
    CREDIT_REVERSAL = "credit-reversal"
    PAYMENT_REVERSAL = "payment-reversal"
    DEBIT_REVERSAL = "debit-reversal"
    PAYOUT_REVERSAL = "payout-reversal"
    # The bank of a payer rejected what was returned.
    REPAYMENT_REVERSAL = "repayment-reversal"


class Account(StrEnum):
    # What the merchant owes; below zero, what it has paid ahead.
    RECEIVABLE = "receivable"
    SALES = "sales"
    # Compensation for issues.
    GOODWILL = "goodwill"
    BANK = "bank"
    # What merchants owe beside their orders.
    FEES = "fees"
    # What is owed to tax offices, of what was charged.
    TAX = "tax"


# The account that is debited, and the one that is credited.
ACCOUNTS: Final[Mapping[EntryKind, tuple[Account, Account]]] = {
    EntryKind.CHARGE: (Account.RECEIVABLE, Account.SALES),
    EntryKind.REFUND: (Account.SALES, Account.RECEIVABLE),
    EntryKind.CREDIT: (Account.GOODWILL, Account.RECEIVABLE),
    EntryKind.PAYMENT: (Account.BANK, Account.RECEIVABLE),
    EntryKind.REPAYMENT: (Account.RECEIVABLE, Account.BANK),
    EntryKind.DEBIT: (Account.RECEIVABLE, Account.FEES),
    EntryKind.PAYOUT: (Account.RECEIVABLE, Account.BANK),
    EntryKind.CREDIT_REVERSAL: (Account.RECEIVABLE, Account.GOODWILL),
    EntryKind.PAYMENT_REVERSAL: (Account.RECEIVABLE, Account.BANK),
    EntryKind.DEBIT_REVERSAL: (Account.FEES, Account.RECEIVABLE),
    EntryKind.PAYOUT_REVERSAL: (Account.BANK, Account.RECEIVABLE),
    EntryKind.REPAYMENT_REVERSAL: (Account.BANK, Account.RECEIVABLE),
}
# What makes a merchant owe more, or have less in its favour.
DEBITS: Final = tuple(kind for kind, (debit, _) in ACCOUNTS.items() if debit is Account.RECEIVABLE)
# What an operator may reverse, and by what. Charges, and what was paid for orders, change only
# with their orders.
REVERSALS: Final[Mapping[EntryKind, EntryKind]] = {
    EntryKind.CREDIT: EntryKind.CREDIT_REVERSAL,
    EntryKind.PAYMENT: EntryKind.PAYMENT_REVERSAL,
    EntryKind.DEBIT: EntryKind.DEBIT_REVERSAL,
    EntryKind.PAYOUT: EntryKind.PAYOUT_REVERSAL,
}

# The kinds of entries of which a part may be tax: on a third line, on the side of the sale.
TAXABLE: Final = frozenset(
    {EntryKind.CHARGE, EntryKind.REFUND, EntryKind.CREDIT, EntryKind.CREDIT_REVERSAL}
)


class LedgerLine(msgspec.Struct, frozen=True, array_like=True):
    """An amount on an account: a debit above zero, a credit below."""

    account: Account
    amount: int


class LedgerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A movement of money, as it is stored."""

    merchant_id: int
    # 1, 2, 3 … for each merchant.
    number: int
    # The idempotency key of the movement.
    key: str
    kind: EntryKind
    order_id: int | None
    currency: str
    lines: tuple[LedgerLine, ...]
    memo: str
    created_at: datetime
    # The hash of the entry before; empty for the first.
    previous: str

    @property
    def owed(self) -> int:
        """The change of what the merchant owes."""
        return sum(line.amount for line in self.lines if line.account is Account.RECEIVABLE)

    @property
    def amount(self) -> int:
        """How much was debited, and therefore credited."""
        return sum(line.amount for line in self.lines if line.amount > 0)

    @property
    def tax(self) -> int:
        """How much of the amount is tax."""
        return abs(sum(line.amount for line in self.lines if line.account is Account.TAX))

    @property
    def day(self) -> str:
        """The day whose totals it belongs to."""
        return self.created_at.astimezone(UTC).date().isoformat()


def write_lines(kind: EntryKind, amount: int, tax: int = 0) -> tuple[LedgerLine, ...]:
    """Return the two sides of a movement, and the part of the sale that is tax, if there is any."""
    debit, credit = ACCOUNTS[kind]
    if not tax:
        return LedgerLine(debit, amount), LedgerLine(credit, -amount)
    if debit is Account.RECEIVABLE:
        sides = LedgerLine(debit, amount), LedgerLine(credit, tax - amount)
        return *sides, LedgerLine(Account.TAX, -tax)
    sides = LedgerLine(debit, amount - tax), LedgerLine(credit, -amount)
    return *sides, LedgerLine(Account.TAX, tax)


def hash_entry(entry: LedgerEntry) -> str:
    """Return the hash of an entry, which the next one contains."""
    return hashlib.sha256(msgspec.json.encode(entry, order="sorted")).hexdigest()


class Booked(msgspec.Struct, frozen=True):
    """An entry with the hash and the balance that were stored with it."""

    entry: LedgerEntry
    hash: str
    balance: int


class LedgerDay(msgspec.Struct, frozen=True):
    """The totals of a merchant's entries of one day, as they are stored."""

    # In UTC, in ISO 8601.
    day: str
    kind: EntryKind
    currency: str
    entries: int
    amount: int


class Books(msgspec.Struct, frozen=True):
    """The totals of a merchant's ledger, stored outside of it."""

    count: int
    head: str
    balance: int


def entry_key(kind: EntryKind, reference: str) -> str:
    """Return the idempotency key of a movement."""
    return f"{kind}-{reference}"


def reversal_key(entry: LedgerEntry) -> str:
    """Return the key of the reversal of an entry, by which it is reversed once."""
    return entry_key(REVERSALS[entry.kind], f"entry-{entry.number}")
