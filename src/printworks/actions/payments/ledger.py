"""Recomputes the ledgers of all merchants from the beginning."""

import msgspec
from sqlalchemy import Connection

from printworks.rules.ledger import LedgerFault, audit
from printworks.store.accounts.merchants import Merchant, list_merchants
from printworks.store.engine.snapshots import consistent_snapshot
from printworks.store.money.ledger import list_entries, list_order_money, read_books
from printworks.store.money.payments import list_payment_money


class FoundFault(msgspec.Struct, frozen=True):
    """Something that does not add up, and in whose ledger."""

    merchant: Merchant
    fault: LedgerFault


class LedgerCheck(msgspec.Struct, frozen=True):
    """What was recomputed, and all that does not add up."""

    merchants: int
    entries: int
    faults: list[FoundFault]


def verify_ledgers(db: Connection) -> LedgerCheck:
    """Recompute every ledger; takes long where there is much, and waits for nobody.

    Needs a connection that reads. Each merchant's ledger is read as of one moment: what is posted
    meanwhile is no fault.
    """
    everybody = list_merchants(db)
    faults: list[FoundFault] = []
    entries = 0
    for merchant in everybody:
        with consistent_snapshot(db):
            books = read_books(db, merchant.id)
            found = audit(
                list_entries(db, merchant.id),
                list_order_money(db, merchant.id),
                list_payment_money(db, merchant.id),
                books,
            )
        entries += books.count
        faults += [FoundFault(merchant, fault) for fault in found]
    return LedgerCheck(len(everybody), entries, faults)
