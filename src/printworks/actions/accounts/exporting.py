"""Everything that a merchant has, as one ZIP: orders, money, invoices and pictures.

It is read a page at a time while it is sent, so that neither memory nor a transaction has to hold
it. An order that changes meanwhile is written as it was when its page was read.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Final, TypeVar

import msgspec
from sqlalchemy import Connection

from printworks.actions.invoices.reading import read_documents
from printworks.actions.orders.documents import describe_order, name_files
from printworks.actions.work import Work
from printworks.files.archives import ArchiveWriter
from printworks.files.store import Files
from printworks.invoices.listed import write_rows
from printworks.rules.businesses import Business
from printworks.rules.invoices import write_document
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.money.cards import find_shown_card
from printworks.store.money.ledger import list_entries
from printworks.store.money.sellers import find_business
from printworks.store.orders.orders import Order
from printworks.store.orders.pages import list_orders, list_orders_from

# What is read of an order.
Found = TypeVar("Found")

_AT_ONCE: Final = 100
_ENTRIES_AT_ONCE: Final = 1000


class MerchantExport(msgspec.Struct, frozen=True, kw_only=True):
    """Whose data is exported, and what of it."""

    merchant: Merchant
    # None if it has not named its company.
    company: Business | None
    at: datetime
    with_pictures: bool = True
    # Pictures beyond this are named and left out.
    most_bytes: int


def begin_merchant_export(work: Work, *, with_pictures: bool, most_bytes: int) -> MerchantExport:
    """Note that somebody exports all data of a merchant."""
    work.audit("export-merchant", work.merchant.code, pictures=with_pictures)
    return MerchantExport(
        merchant=work.merchant,
        company=find_business(work.db, work.merchant.id),
        at=work.real_now,
        with_pictures=with_pictures,
        most_bytes=most_bytes,
    )


def write_merchant_archive(
    database: Database, files: Files, export: MerchantExport
) -> Iterator[bytes]:
    """Write the archive, a piece at a time."""
    archive = ArchiveWriter(files, export.at, most_bytes=export.most_bytes)
    about = {
        "exportedAt": export.at,
        "merchantId": export.merchant.code,
        "name": export.merchant.name,
        "currency": export.merchant.currency,
        "billing": export.merchant.billing,
        "state": export.merchant.state,
        "card": _describe_card(database, export.merchant.id),
        "company": export.company and _describe_company(export.company),
    }
    yield from archive.add_lines("merchant.json", [_write_line(about)])
    orders = _read_orders(database, export.merchant.id, describe_order)
    yield from archive.add_lines("orders.jsonl", map(_write_line, orders))
    yield from archive.add_lines("ledger.jsonl", _write_ledger(database, export.merchant.id))
    yield from archive.add_lines("invoices.jsonl", _write_invoices(database, export.merchant.id))
    yield from archive.add_lines(
        "invoices.csv", write_rows(read_documents(database, export.merchant.id))
    )
    if export.with_pictures:
        for pictures in _read_orders(database, export.merchant.id, name_files):
            for name, key in pictures.items():
                yield from archive.add_file(name, key)
    yield from archive.finish()


def _describe_card(database: Database, merchant_id: int) -> Mapping[str, object] | None:
    """Return what is known of the card itself; the provider's own numbers are of no use to anyone."""
    with database.reading() as db:
        card = find_shown_card(db, merchant_id)
    if card is None:
        return None
    return {
        "brand": card.brand,
        "lastFour": card.last_four,
        "expiresMonth": card.expires_month,
        "expiresYear": card.expires_year,
    }


def _describe_company(company: Business) -> dict[str, str]:
    return {
        "name": company.name,
        "street": company.street,
        "postalCode": company.postal_code,
        "town": company.town,
        "countryCode": company.country,
        "vatId": company.vat_id,
    }


def _read_orders(
    database: Database, merchant_id: int, read: Callable[[Connection, Order], Found]
) -> Iterator[Found]:
    """Yield what is read of each order, newest first, from as many orders at a time as fit."""
    with database.reading() as db:
        newest = list_orders(db, merchant_id, limit=0, start=0).total
    while newest > 0:
        with database.reading() as db:
            orders = list_orders_from(db, merchant_id, newest=newest, limit=_AT_ONCE)
            page = [read(db, order) for order in orders]
        yield from page
        newest -= _AT_ONCE


def _write_ledger(database: Database, merchant_id: int) -> Iterator[bytes]:
    after = 0
    while True:
        with database.reading() as db:
            page = list(islice(list_entries(db, merchant_id, after=after), _ENTRIES_AT_ONCE))
        yield from (_write_line(booked.entry) for booked in page)
        if len(page) < _ENTRIES_AT_ONCE:
            return
        after = page[-1].entry.number


def _write_invoices(database: Database, merchant_id: int) -> Iterator[bytes]:
    for document in read_documents(database, merchant_id):
        yield write_document(document).encode() + b"\n"


def _write_line(value: object) -> bytes:
    return msgspec.json.encode(value) + b"\n"
