"""Verifies that every charge and credit has its document, and every document its number."""

from collections.abc import Sequence

from sqlalchemy import Connection

from printworks.rules.invoice_audit import CauseCheck, audit_causes, audit_invoices
from printworks.rules.ledger_audit import LedgerFault
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import consistent_snapshot
from printworks.store.money.invoices import (
    list_causes,
    list_counters,
    list_series,
    list_taxed_orders,
    list_to_audit,
)
from printworks.store.money.ledger import list_entries


def verify_causes(db: Connection, merchant_id: int) -> CauseCheck:
    """Compare the ledger of a merchant with the entries that need documents."""
    causes = {cause.entry: cause.claim for cause in list_causes(db, merchant_id)}
    taxed = set(list_taxed_orders(db, merchant_id))
    # Where nobody collects tax, a ledger need not be read again.
    entries = list_entries(db, merchant_id) if causes or taxed else ()
    return audit_causes((booked.entry for booked in entries), causes, taxed)


def verify_documents(
    db: Connection, merchants: Sequence[Merchant]
) -> tuple[int, list[tuple[Merchant, LedgerFault]]]:
    """Verify the numbers, hashes and amounts of all documents; return how many there are."""
    of = {merchant.id: merchant for merchant in merchants}
    with consistent_snapshot(db):
        counters = list_counters(db)
        series = {(each.series, each.year) for each in counters} | set(list_series(db))
        documents = (one for place in sorted(series) for one in list_to_audit(db, *place))
        check = audit_invoices(documents, counters)
    return check.documents, [
        # A number without a document is nobody's: the first merchant stands for the seller.
        (of.get(found.merchant_id or 0, merchants[0]), found.fault)
        for found in check.faults
    ]
