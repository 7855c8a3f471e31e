"""The double-entry ledger: what is posted when, and what the audit verifies.

An entry belongs to one merchant and one currency. Its lines name accounts and amounts in minor
units, debits above zero and credits below, and add up to zero. Entries are numbered without gaps
and each has the hash of the one before, so changes are detected.
"""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

import msgspec

from printworks.rules.orders import OrderStatus
from printworks.rules.payments import Payer, PaymentState


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
_REVERSING: Final = frozenset(REVERSALS.values())


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


def _is_on_its_accounts(entry: LedgerEntry) -> bool:
    accounts, usual = tuple(line.account for line in entry.lines), ACCOUNTS[entry.kind]
    return accounts == usual or (entry.kind in TAXABLE and accounts == (*usual, Account.TAX))


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


class OrderMoney(msgspec.Struct, frozen=True):
    """The facts of an order that the ledger must match."""

    id: int
    status: OrderStatus
    # What is charged in all, and how much of it is tax.
    total: int
    tax: int
    currency: str | None


class PaymentMoney(msgspec.Struct, frozen=True):
    """The facts of a payment that the ledger must match."""

    key: str
    order_id: int
    payer: Payer
    state: PaymentState
    amount: int
    # What the merchant's balance paid beside it.
    from_balance: int
    currency: str


def entry_key(kind: EntryKind, reference: str) -> str:
    """Return the idempotency key of a movement."""
    return f"{kind}-{reference}"


def reversal_key(entry: LedgerEntry) -> str:
    """Return the key of the reversal of an entry, by which it is reversed once."""
    return entry_key(REVERSALS[entry.kind], f"entry-{entry.number}")


class LedgerFault(msgspec.Struct, frozen=True):
    # A word for programs, and a sentence for people.
    kind: str
    sentence: str


_PAID: Final = frozenset({OrderStatus.SUBMITTED, OrderStatus.COMPLETE})
# The entries of a payment in each state.
_WRITTEN: Final[Mapping[PaymentState, frozenset[EntryKind]]] = {
    PaymentState.PAID: frozenset({EntryKind.PAYMENT}),
    PaymentState.REFUNDING: frozenset({EntryKind.PAYMENT}),
    PaymentState.REFUNDED: frozenset({EntryKind.PAYMENT, EntryKind.REPAYMENT}),
}


class Audit:
    """Recalculates one merchant's ledger from the start.

    Add every entry by number, then every order, payment and day, then call `finish`.
    """

    def __init__(self) -> None:
        self.faults: list[LedgerFault] = []
        self._count = 0
        self._head = ""
        self._balance = 0
        # By order: what is charged for it now, and in which currency.
        self._charged: dict[int, tuple[int, str]] = {}
        self._times: dict[int, int] = {}
        # By order: how much of that is tax.
        self._taxed: dict[int, int] = {}
        # By key: what was received for an order, or repaid.
        self._moved: dict[str, LedgerEntry] = {}
        # By the key of what was received: what was charged with it.
        self._paid_for: dict[str, LedgerEntry] = {}
        self._last: LedgerEntry | None = None
        # By the keys of their reversals: what may be reversed.
        self._reversible: dict[str, LedgerEntry] = {}
        # By day, kind and currency: how many entries, and how much.
        self._days: dict[tuple[str, str, str], tuple[int, int]] = {}

    def add_entry(self, booked: Booked) -> None:
        entry = booked.entry
        name = f"Entry {entry.number}"
        if entry.number != self._count + 1:
            self._find("gap", f"Between entries {self._count} and {entry.number} one is missing.")
        if entry.previous != self._head:
            self._find("chain", f"{name} does not follow the entry before it.")
        if hash_entry(entry) != booked.hash:
            self._find("altered", f"{name} is not what was written.")
        if sum(line.amount for line in entry.lines) != 0:
            self._find("unbalanced", f"The debits and credits of entry {entry.number} differ.")
        if not _is_on_its_accounts(entry):
            self._find("accounts", f"{name} is a {entry.kind} on the wrong accounts.")
        self._count, self._head = entry.number, booked.hash
        self._add_to_totals(booked)
        self._note_parts(entry)
        if entry.order_id is None:
            self._check_reversal(entry)
            return
        if entry.kind in {EntryKind.PAYMENT, EntryKind.REPAYMENT}:
            self._moved[entry.key] = entry
        else:
            self._add_to_order(entry, entry.order_id)

    def _note_parts(self, entry: LedgerEntry) -> None:
        last, self._last = self._last, entry
        if last and _is_paid_by(entry, last):
            self._paid_for[last.key] = entry

    def _check_reversal(self, entry: LedgerEntry) -> None:
        if entry.kind in REVERSALS:
            self._reversible[reversal_key(entry)] = entry
        elif entry.kind in _REVERSING:
            reversed_one = self._reversible.pop(entry.key, None)
            if reversed_one is None or entry.owed != -reversed_one.owed:
                self._find("reversal", f"Entry {entry.number} reverses no entry.")
            elif entry.tax != reversed_one.tax:
                number, tax = reversed_one.number, reversed_one.tax
                sentence = (
                    f"Entry {entry.number} reverses {entry.tax} of tax: entry {number} has {tax}."
                )
                self._find("reversal-tax", sentence)

    def _add_to_totals(self, booked: Booked) -> None:
        entry = booked.entry
        self._balance += entry.owed
        if booked.balance != self._balance:
            sentence = f"{self._balance} is owed after entry {entry.number}: not {booked.balance}."
            self._find("running-balance", sentence)
        place = (entry.day, entry.kind, entry.currency)
        entries, amount = self._days.get(place, (0, 0))
        self._days[place] = (entries + 1, amount + entry.amount)

    def _add_to_order(self, entry: LedgerEntry, order_id: int) -> None:
        charged, currency = self._charged.get(order_id, (0, entry.currency))
        if currency != entry.currency:
            self._find("currencies", f"Order {order_id} is in {currency} and {entry.currency}.")
        self._charged[order_id] = (charged + entry.owed, currency)
        step = {EntryKind.CHARGE: 1, EntryKind.REFUND: -1}.get(entry.kind, 0)
        times = self._times.get(order_id, 0) + step
        self._times[order_id] = times
        self._taxed[order_id] = self._taxed.get(order_id, 0) + step * entry.tax
        if not 0 <= times <= 1:
            what = "charged twice" if times > 1 else "refunded without a charge"
            self._find("twice", f"Order {order_id} was {what} by entry {entry.number}.")

    def add_order(self, order: OrderMoney) -> None:
        """Compare an order with what was charged for it."""
        charged, currency = self._charged.pop(order.id, (0, order.currency))
        due, tax = (order.total, order.tax) if order.status in _PAID else (0, 0)
        taxed = self._taxed.get(order.id, 0)
        if order.status in _PAID and self._times.get(order.id, 0) != 1:
            self._find("uncharged", f"Order {order.id} is {order.status} and was not charged.")
        elif charged != due:
            sentence = (
                f"Order {order.id} is {order.status}: {charged} was charged and {due} is due."
            )
            self._find("amount", sentence)
        elif taxed != tax:
            sentence = f"Order {order.id} is {order.status}: {taxed} was taxed and {tax} is due."
            self._find("tax", sentence)
        if charged and currency != order.currency:
            self._find("currency", f"Order {order.id} is in {order.currency}, not {currency}.")

    def add_payment(self, payment: PaymentMoney) -> None:
        """Compare a payment with what was received and repaid for it."""
        expected = _WRITTEN.get(payment.state, frozenset())
        for kind in (EntryKind.PAYMENT, EntryKind.REPAYMENT):
            entry = self._moved.pop(entry_key(kind, payment.key), None)
            if (entry is not None) != (kind in expected):
                is_missing = "is missing" if entry is None else "should not be there"
                sentence = (
                    f"A payment for order {payment.order_id} is {payment.state}, "
                    f"and its {kind} {is_missing}."
                )
                self._find("payment", sentence)
            elif entry is not None and not _is_for(entry, payment):
                sentence = f"Entry {entry.number} is not the {kind} of order {payment.order_id}."
                self._find("payment-amount", sentence)
        self._check_parts(payment)

    def _check_parts(self, payment: PaymentMoney) -> None:
        """Compare what a card and the balance paid together with what was charged then."""
        charge = self._paid_for.get(entry_key(EntryKind.PAYMENT, payment.key))
        if charge is None or payment.payer is not Payer.MERCHANT:
            return
        if payment.amount + payment.from_balance != charge.amount:
            sentence = (
                f"{payment.amount} was paid and {payment.from_balance} taken from the balance for "
                f"entry {charge.number}, which charges {charge.amount}."
            )
            self._find("parts", sentence)

    def add_day(self, day: LedgerDay) -> None:
        """Compare the totals of a day with its entries."""
        counted = self._days.pop((day.day, day.kind, day.currency), (0, 0))
        if counted != (day.entries, day.amount):
            self._find("day", f"The totals of {day.day} differ from its entries ({day.kind}).")

    def finish(self, books: Books) -> list[LedgerFault]:
        for day, kind, _ in self._days:
            self._find("day", f"The totals of {day} are missing ({kind}).")
        for entry in self._moved.values():
            sentence = f"Entry {entry.number} is a {entry.kind} that nobody was asked for."
            self._find("unasked", sentence)
        for order_id in self._charged:
            self._find("stranger", f"Order {order_id} was charged and is not this merchant's.")
        if books.count != self._count or books.head != self._head:
            sentence = f"The ledger ends with entry {self._count}, and should with {books.count}."
            self._find("end", sentence)
        if books.balance != self._balance:
            sentence = f"The merchant owes {self._balance}, and the balance says {books.balance}."
            self._find("balance", sentence)
        return self.faults

    def _find(self, kind: str, sentence: str) -> None:
        self.faults.append(LedgerFault(kind, sentence))


def _is_paid_by(charge: LedgerEntry, payment: LedgerEntry) -> bool:
    """Whether an entry is the charge that was written together with a payment for its order."""
    kinds = (payment.kind, charge.kind)
    return kinds == (EntryKind.PAYMENT, EntryKind.CHARGE) and payment.order_id == charge.order_id


def _is_for(entry: LedgerEntry, payment: PaymentMoney) -> bool:
    return (abs(entry.owed), entry.currency, entry.order_id) == (
        payment.amount,
        payment.currency,
        payment.order_id,
    )


def audit(
    entries: Iterable[Booked],
    orders: Iterable[OrderMoney],
    payments: Iterable[PaymentMoney],
    days: Iterable[LedgerDay],
    books: Books,
) -> list[LedgerFault]:
    """Recalculate one merchant's ledger and return all errors."""
    work = Audit()
    for booked in entries:
        work.add_entry(booked)
    for order in orders:
        work.add_order(order)
    for payment in payments:
        work.add_payment(payment)
    for day in days:
        work.add_day(day)
    return work.finish(books)
