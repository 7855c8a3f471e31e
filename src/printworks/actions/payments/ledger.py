"""Ledger entries posted by operators, and the verification of all ledgers."""

import secrets

import msgspec
from sqlalchemy import Connection

from printworks.actions.invoices.verifying import verify_causes, verify_documents
from printworks.actions.work import SystemWork, Work
from printworks.errors import WrongState
from printworks.rules.ledger import EntryKind, LedgerEntry
from printworks.rules.ledger_audit import LedgerFault, audit
from printworks.rules.sales import SalesAudit, audit_lab_debt, audit_lab_payment
from printworks.store.accounts.merchants import Merchant, list_merchants
from printworks.store.engine.database import consistent_snapshot
from printworks.store.money.lab_costs import (
    list_all_costs,
    list_sent,
    list_wrong_debts,
    list_wrong_payments,
)
from printworks.store.money.ledger import (
    NewLedgerEntry,
    list_days,
    list_entries,
    list_order_money,
    post_entry,
    read_books,
)
from printworks.store.money.payments import list_payment_money
from printworks.store.money.sales import list_sales, list_sales_days
from printworks.store.money.verifications import LEDGER, Verification, note_verification


def post_by_hand(
    work: Work, kind: EntryKind, amount: int, memo: str, *, key: str | None = None
) -> LedgerEntry | None:
    """Post a payment or a credit of a merchant; return None if that key was posted before."""
    if kind is EntryKind.CREDIT and work.backing.money_terms.needs_approval(amount):
        raise WrongState("A second person must approve such an amount: post it in the console.")
    entry = post_entry(
        work.db,
        work.merchant.id,
        NewLedgerEntry(
            key=f"{kind}-{key or secrets.token_hex(8)}",
            kind=kind,
            amount=amount,
            currency=work.merchant.currency,
            memo=memo,
        ),
        now=work.real_now,
    )
    if entry is not None:
        work.audit(f"post-{kind}", f"entry {entry.number}", amount=amount, memo=memo)
    return entry


class FoundFault(msgspec.Struct, frozen=True):
    """A fault in the ledger of a merchant, or in what labs were paid."""

    merchant: Merchant | None
    fault: LedgerFault

    @property
    def whose(self) -> str:
        """The code of the merchant, or a word for all labs."""
        return self.merchant.code if self.merchant else "labs"


class LedgerCheck(msgspec.Struct, frozen=True):
    """How much was verified, and the faults that were found."""

    merchants: int
    entries: int
    faults: list[FoundFault]
    # How many documents there are, and how many entries wait for theirs.
    invoices: int = 0
    waiting: int = 0


def note_ledger_check(system: SystemWork, check: LedgerCheck) -> None:
    """Store how a verification ended, for whoever watches over the installation."""
    faults = len(check.faults)
    note_verification(system.db, Verification(LEDGER, system.real_now, faults))


def verify_ledgers(db: Connection) -> LedgerCheck:
    """Recompute every ledger; slow for large ones, but blocks nothing.

    Needs a reading connection. Each ledger is read in one snapshot, so entries that are posted
    meanwhile are not reported as faults.
    """
    merchants = list_merchants(db)
    faults: list[FoundFault] = []
    entries = waiting = 0
    for merchant in merchants:
        with consistent_snapshot(db):
            books, sales = read_books(db, merchant.id), SalesAudit()
            found = audit(
                sales.watch(list_entries(db, merchant.id)),
                list_order_money(db, merchant.id),
                list_payment_money(db, merchant.id),
                list_days(db, merchant.id),
                books,
            )
            found += _audit_sales(db, merchant, sales)
            billed = verify_causes(db, merchant.id)
        entries += books.count
        waiting += billed.waiting
        faults += [FoundFault(merchant, fault) for fault in (*found, *billed.faults)]
    invoices, wrong = verify_documents(db, merchants)
    faults += [FoundFault(merchant, fault) for merchant, fault in wrong]
    faults += [FoundFault(None, audit_lab_payment(paid)) for paid in list_wrong_payments(db)]
    faults += [FoundFault(None, audit_lab_debt(wrong)) for wrong in list_wrong_debts(db)]
    return LedgerCheck(len(merchants), entries, faults, invoices, waiting)


def _audit_sales(db: Connection, merchant: Merchant, sales: SalesAudit) -> list[LedgerFault]:
    """Compare what reports say with the ledger and with the shipments."""
    for sale in list_sales(db, merchant.id):
        sales.add_sale(sale)
    for cost in list_all_costs(db, merchant.id):
        sales.add_cost(cost)
    for shipment in list_sent(db, merchant.id):
        sales.add_sent(shipment)
    for day in list_sales_days(db, merchant.id):
        sales.add_day(day)
    return sales.finish()
