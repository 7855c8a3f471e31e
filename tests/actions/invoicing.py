"""Sellers, orders and the jobs that invoice them, to test with."""

from datetime import timedelta
from typing import Any

import msgspec
from sqlalchemy import Connection

from printworks.actions.accounts.merchants import change_invoicing
from printworks.actions.invoices.issuing import collect_documents, make_document
from printworks.actions.payments.ledger import verify_ledgers
from printworks.rules.invoice_drafts import find_month_end
from printworks.rules.invoices import Invoice, Invoicing
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.engine.database import Database
from printworks.store.money.invoices import list_causes, list_documents
from tests.actions.test_taxes import sell, work_of
from tests.factories import NOON, a_merchant

TERMS = timedelta(days=30)


def a_shop(db: Connection, invoicing: Invoicing = Invoicing.EACH_ORDER, **seller: Any) -> Merchant:
    """Add a seller and a merchant that is invoiced."""
    sell(db, **seller)
    return a_customer(db, invoicing)


def a_customer(db: Connection, invoicing: Invoicing = Invoicing.EACH_ORDER) -> Merchant:
    """Add a merchant that is invoiced."""
    merchant = a_merchant(db)
    change_invoicing(work_of(db, merchant), invoicing)
    return get_merchant(db, merchant.id)


def make_all(db: Connection, merchant: Merchant, **given: Any) -> list[Invoice]:
    """Issue all documents that wait, as the jobs would; return all there are."""
    work = work_of(db, merchant, **given)
    for cause in list(list_causes(db, merchant.id)):
        make_document(work, cause.entry, payment_terms=TERMS)
    return documents_of(db, merchant)


def collect_all(db: Connection, merchant: Merchant) -> list[Invoice]:
    """Issue the documents of the month that the orders of tests are in."""
    while collect_documents(work_of(db, merchant), find_month_end(NOON), payment_terms=TERMS):
        pass
    return documents_of(db, merchant)


def documents_of(db: Connection, merchant: Merchant) -> list[Invoice]:
    return [document for _, document in list_documents(db, merchant.id)]


def find_problems(database: Database) -> list[str]:
    """Verify everything; return the kinds of what does not agree."""
    with database.reading() as db:
        return [found.fault.kind for found in verify_ledgers(db).faults]


def like(document: Invoice, **values: Any) -> Invoice:
    """Return a document with something else in it."""
    return msgspec.structs.replace(document, **values)
