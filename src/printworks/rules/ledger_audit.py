"""What the audit of the ledger verifies: each merchant's entries, held against orders and payments."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from printworks.rules.ledger import (
    ACCOUNTS,
    REVERSALS,
    TAXABLE,
    Account,
    Booked,
    Books,
    EntryKind,
    LedgerDay,
    LedgerEntry,
    entry_key,
    hash_entry,
    reversal_key,
)
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import Payer, PaymentState, name_refund


class AuditedOrder(msgspec.Struct, frozen=True):
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
    # How many refunds of it were rejected.
    rejected_refunds: int = 0


class LedgerFault(msgspec.Struct, frozen=True):
    # A word for programs, and a sentence for people.
    kind: str
    sentence: str


_PAID: Final = frozenset({OrderStatus.SUBMITTED, OrderStatus.COMPLETE})
_MOVES: Final = frozenset({EntryKind.PAYMENT, EntryKind.REPAYMENT, EntryKind.REPAYMENT_REVERSAL})
# The entries of a payment in each state, without those of refunds that were rejected.
_WRITTEN: Final[Mapping[PaymentState, frozenset[EntryKind]]] = {
    PaymentState.PAID: frozenset({EntryKind.PAYMENT}),
    PaymentState.REFUNDING: frozenset({EntryKind.PAYMENT}),
    PaymentState.REFUNDED: frozenset({EntryKind.PAYMENT, EntryKind.REPAYMENT}),
    PaymentState.REFUND_REJECTED: frozenset({EntryKind.PAYMENT}),
    PaymentState.REPAID: frozenset({EntryKind.PAYMENT, EntryKind.REPAYMENT}),
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
        # By key: what was received for an order, repaid, or not accepted as repaid.
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
        if entry.kind in _MOVES:
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
            return
        reversed_one = self._reversible.pop(entry.key, None)
        if reversed_one is None or entry.owed != -reversed_one.owed:
            sentence = f"Entry {entry.number} is of no order, and reverses no entry."
            self._find("reversal", sentence)
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

    def add_order(self, order: AuditedOrder) -> None:
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
        refund = name_refund(payment.key, payment.rejected_refunds)
        for kind, name in ((EntryKind.PAYMENT, payment.key), (EntryKind.REPAYMENT, refund)):
            entry = self._take(kind, name, payment)
            if (entry is not None) != (kind in expected):
                is_missing = "is missing" if entry is None else "should not be there"
                sentence = (
                    f"A payment for order {payment.order_id} is {payment.state}, "
                    f"and its {kind} {is_missing}."
                )
                self._find("payment", sentence)
        for number in range(payment.rejected_refunds):
            self._check_rejected(name_refund(payment.key, number), payment)
        self._check_parts(payment)

    def _take(self, kind: EntryKind, name: str, payment: PaymentMoney) -> LedgerEntry | None:
        """Return an entry that belongs to a payment, after a look at its amount."""
        entry = self._moved.pop(entry_key(kind, name), None)
        if entry is not None and not _is_for(entry, payment):
            sentence = f"Entry {entry.number} is not the {kind} of order {payment.order_id}."
            self._find("payment-amount", sentence)
        return entry

    def _check_rejected(self, name: str, payment: PaymentMoney) -> None:
        """Compare a refund that was rejected with what was written of it: both sides or none."""
        repaid = self._take(EntryKind.REPAYMENT, name, payment)
        reversed_one = self._take(EntryKind.REPAYMENT_REVERSAL, name, payment)
        if (repaid is None) != (reversed_one is None):
            missing = EntryKind.REPAYMENT if repaid is None else EntryKind.REPAYMENT_REVERSAL
            sentence = (
                f"A refund for order {payment.order_id} was rejected, and its {missing} is missing."
            )
            self._find("rejected-refund", sentence)

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


def _is_on_its_accounts(entry: LedgerEntry) -> bool:
    accounts, usual = tuple(line.account for line in entry.lines), ACCOUNTS[entry.kind]
    return accounts == usual or (entry.kind in TAXABLE and accounts == (*usual, Account.TAX))


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
    orders: Iterable[AuditedOrder],
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
