"""Invoices: added with their number in one transaction, and never changed."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import (
    BigInteger,
    Connection,
    Select,
    cast,
    func,
    insert,
    select,
    text,
    update,
)

from printworks.errors import NotFound
from printworks.rules.invoice_audit import AuditedInvoice, Counter, NotedEntry
from printworks.rules.invoices import (
    Invoice,
    InvoiceKind,
    hash_document,
    read_document,
    write_document,
)
from printworks.rules.ledger import EntryKind
from printworks.store.engine.rows import (
    ROWS_AT_ONCE,
    columns_of,
    find_struct,
    list_structs,
    newest_first,
    read_all,
)
from printworks.store.tables import (
    invoice_causes,
    invoice_counters,
    invoices,
    merchants,
    orders,
)


class InvoiceRow(msgspec.Struct, frozen=True):
    """What lists show of a document."""

    id: int
    number: str
    kind: InvoiceKind
    merchant_id: int
    merchant_code: str
    merchant_name: str
    year: int
    currency: str
    net: int
    tax: int
    gross: int
    issued_at: datetime


class NewInvoice(msgspec.Struct, frozen=True, kw_only=True):
    """A document whose number was taken."""

    merchant_id: int
    document: Invoice
    # The hash of the document before.
    head: str
    corrects_id: int | None = None


class InvoiceCause(msgspec.Struct, frozen=True):
    """A ledger entry that needs a document."""

    merchant_id: int
    entry: int
    kind: EntryKind
    order_id: int
    charge: int
    amount: int
    tax: int
    draft: str
    created_at: datetime
    invoice_id: int | None

    @property
    def claim(self) -> NotedEntry:
        """What the ledger is compared with."""
        return NotedEntry(self.kind, self.amount, self.tax, self.invoice_id is not None)


class NextNumber(NamedTuple):
    """The number that was taken, and the hash of the document before."""

    sequence: int
    head: str


_ROW: Final = columns_of(
    invoices, InvoiceRow, merchant_code=merchants.c.code, merchant_name=merchants.c.name
)
_ROWS: Final = select(*_ROW).join_from(invoices, merchants)
_CAUSE: Final = columns_of(invoice_causes, InvoiceCause)
# Returns what was the last number before: the first of a year begins the row.
_TAKE: Final = text("""
    INSERT INTO invoice_counters (series, year, last, head) VALUES (:series, :year, 1, '')
    ON CONFLICT (series, year) DO UPDATE SET last = invoice_counters.last + 1
    RETURNING last, head
""")
# The longest number that was ever given is shorter.
_LONGEST_NUMBER: Final = 40


def take_number(db: Connection, series: str, year: int) -> NextNumber:
    """Take the next number; others wait for it until this transaction ends."""
    return NextNumber(*db.execute(_TAKE, {"series": series, "year": year}).one())


def insert_invoice(db: Connection, new: NewInvoice, *, now: datetime) -> int:
    """Add a document whose number was taken in this transaction; return its id."""
    invoice = new.document
    document = write_document(invoice)
    hashed = hash_document(document, new.head)
    values: dict[str, Any] = {
        name: getattr(invoice, name)
        for name in (
            *("series", "year", "sequence", "number", "kind"),
            *("currency", "net", "tax", "gross"),
        )
    }
    values |= {"merchant_id": new.merchant_id, "corrects_id": new.corrects_id, "issued_at": now}
    added = insert(invoices).values(**values, document=document, hash=hashed)
    invoice_id: int = db.execute(added.returning(invoices.c.id)).scalar_one()
    of_series = (invoice_counters.c.series == invoice.series) & (
        invoice_counters.c.year == invoice.year
    )
    db.execute(update(invoice_counters).where(of_series).values(head=hashed))
    return invoice_id


def insert_cause(db: Connection, cause: InvoiceCause) -> None:
    """Note that a ledger entry needs a document."""
    db.execute(insert(invoice_causes).values(**msgspec.structs.asdict(cause)))


def get_cause_to_invoice(db: Connection, merchant_id: int, entry: int) -> InvoiceCause:
    """Return what needs a document; others wait for it until this transaction ends."""
    wanted = select(*_CAUSE).where(
        invoice_causes.c.merchant_id == merchant_id, invoice_causes.c.entry == entry
    )
    return InvoiceCause(*db.execute(wanted.with_for_update()).one())


def find_cause(db: Connection, merchant_id: int, entry: int) -> InvoiceCause | None:
    """Return what is noted of a ledger entry that needs a document or has one."""
    wanted = select(*_CAUSE).where(
        invoice_causes.c.merchant_id == merchant_id, invoice_causes.c.entry == entry
    )
    return find_struct(db, InvoiceCause, wanted)


def find_last_charge(db: Connection, order_id: int) -> InvoiceCause | None:
    """Return the last charge of an order that needs a document or has one."""
    wanted = (
        select(*_CAUSE)
        .where(invoice_causes.c.order_id == order_id, invoice_causes.c.kind == EntryKind.CHARGE)
        .order_by(invoice_causes.c.entry.desc())
        .limit(1)
    )
    return find_struct(db, InvoiceCause, wanted)


def list_waiting_causes(
    db: Connection, merchant_id: int, *, before: datetime, kinds: Iterable[EntryKind], limit: int
) -> list[InvoiceCause]:
    """Return what has waited for a document since before then, oldest first, and lock it."""
    wanted = (
        select(*_CAUSE)
        .where(
            text("invoice_id IS NULL"),
            invoice_causes.c.merchant_id == merchant_id,
            invoice_causes.c.created_at < before,
            invoice_causes.c.kind.in_(list(kinds)),
        )
        .order_by(invoice_causes.c.entry)
        .limit(limit)
    )
    return list_structs(db, InvoiceCause, wanted.with_for_update())


def set_invoice(db: Connection, merchant_id: int, entries: Iterable[int], invoice_id: int) -> None:
    """Note which document ledger entries have got."""
    db.execute(
        update(invoice_causes)
        .where(
            invoice_causes.c.merchant_id == merchant_id, invoice_causes.c.entry.in_(list(entries))
        )
        .values(invoice_id=invoice_id)
    )


def list_credits(db: Connection, merchant_id: int, charge: int) -> list[Invoice]:
    """Return the credit notes that take back parts of a charge."""
    wanted = (
        select(invoices.c.document)
        .join_from(invoice_causes, invoices)
        .where(
            invoice_causes.c.merchant_id == merchant_id,
            invoice_causes.c.charge == charge,
            invoice_causes.c.kind == EntryKind.CREDIT,
        )
    )
    return [read_document(row[0]) for row in db.execute(wanted)]


def list_invoices(
    db: Connection,
    merchant_id: int,
    *,
    year: int | None = None,
    before: int | None = None,
    limit: int,
) -> list[InvoiceRow]:
    """Return the documents of a merchant, newest first; `before` is the id of the last page's last."""
    query = _ROWS.where(invoices.c.merchant_id == merchant_id)
    if year is not None:
        query = query.where(invoices.c.year == year)
    return list_structs(
        db, InvoiceRow, newest_first(query, invoices.c.id, before=before, limit=limit)
    )


def list_any_invoices(
    db: Connection, *, number: str = "", before: int | None = None, limit: int
) -> list[InvoiceRow]:
    """Return the documents of all merchants, newest first, or the one with this number."""
    query = _ROWS.where(invoices.c.number == _possible(number)) if number else _ROWS
    return list_structs(
        db, InvoiceRow, newest_first(query, invoices.c.id, before=before, limit=limit)
    )


def list_invoices_of_order(db: Connection, order_id: int, *, limit: int) -> list[InvoiceRow]:
    """Return the documents that an order is on, oldest first."""
    wanted = (
        _ROWS.join(invoice_causes, invoice_causes.c.invoice_id == invoices.c.id)
        .where(invoice_causes.c.order_id == order_id)
        .order_by(invoices.c.id)
    )
    return list_structs(db, InvoiceRow, wanted.distinct().limit(limit))


def list_years(db: Connection, merchant_id: int) -> list[int]:
    """Return the years in which a merchant was sent documents, the last one first."""
    # Years with documents are few, and each is looked up; PostgreSQL would read all of a merchant's.
    year = invoice_counters.c.year
    any_of_year = (
        select(invoices.c.id)
        .where(invoices.c.merchant_id == merchant_id, invoices.c.year == year)
        .limit(1)
        .scalar_subquery()
    )
    wanted = select(year).distinct().where(any_of_year.is_not(None))
    return list(db.execute(wanted.order_by(year.desc())).scalars())


def get_document(db: Connection, merchant_id: int, number: str) -> Invoice:
    """Return a document of a merchant by its number."""
    return _get(
        db, select(invoices.c.document).where(invoices.c.merchant_id == merchant_id), number
    )


def get_any_document(db: Connection, number: str) -> Invoice:
    """Return a document of whichever merchant by its number."""
    return _get(db, select(invoices.c.document), number)


def get_document_by_id(db: Connection, invoice_id: int) -> Invoice:
    wanted = select(invoices.c.document).where(invoices.c.id == invoice_id)
    return read_document(db.execute(wanted).scalar_one())


def _get(db: Connection, query: Select[Any], number: str) -> Invoice:
    found = db.execute(query.where(invoices.c.number == _possible(number))).scalar()
    if found is None:
        raise NotFound(f"There is no invoice {number!r}.")
    return read_document(found)


def _possible(number: str) -> str:
    # PostgreSQL raises an error for some characters, and no number has them.
    is_possible = number.isascii() and number.isprintable() and len(number) < _LONGEST_NUMBER
    return number if is_possible else ""


def list_documents(
    db: Connection, merchant_id: int | None, *, year: int | None = None, after: int = 0
) -> list[tuple[int, Invoice]]:
    """Return some documents with their ids, oldest first, of one merchant or of all."""
    query = select(invoices.c.id, invoices.c.document).where(invoices.c.id > after)
    if merchant_id is not None:
        query = query.where(invoices.c.merchant_id == merchant_id)
    if year is not None:
        query = query.where(invoices.c.year == year)
    rows = db.execute(query.order_by(invoices.c.id).limit(ROWS_AT_ONCE))
    return [(row.id, read_document(row.document)) for row in rows]


def list_counters(db: Connection) -> list[Counter]:
    return list_structs(db, Counter, select(*columns_of(invoice_counters, Counter)))


def list_series(db: Connection) -> list[tuple[str, int]]:
    """Return every series and year of which there are documents."""
    wanted = select(invoices.c.series, invoices.c.year).distinct()
    return [(row.series, row.year) for row in db.execute(wanted)]


def list_to_audit(db: Connection, series: str, year: int) -> Iterator[AuditedInvoice]:
    """Yield the documents of a series and year by their sequence, with what the ledger says."""
    booked = (
        select(
            invoice_causes.c.invoice_id,
            cast(func.sum(invoice_causes.c.amount), BigInteger).label("booked"),
            cast(func.sum(invoice_causes.c.tax), BigInteger).label("booked_tax"),
        )
        .group_by(invoice_causes.c.invoice_id)
        .subquery()
    )
    columns = columns_of(
        invoices,
        AuditedInvoice,
        booked=func.coalesce(booked.c.booked, 0),
        booked_tax=func.coalesce(booked.c.booked_tax, 0),
    )
    query = (
        select(*columns)
        .join_from(invoices, booked, booked.c.invoice_id == invoices.c.id, isouter=True)
        .where(invoices.c.series == series, invoices.c.year == year)
    )
    for row in read_all(db, query, invoices.c.sequence):
        yield AuditedInvoice(*row)


def list_causes(db: Connection, merchant_id: int) -> Iterator[InvoiceCause]:
    """Yield the ledger entries of a merchant that need a document or have one."""
    query = select(*_CAUSE).where(invoice_causes.c.merchant_id == merchant_id)
    for row in read_all(db, query, invoice_causes.c.entry):
        yield InvoiceCause(*row)


def list_taxed_orders(db: Connection, merchant_id: int) -> Iterator[int]:
    """Yield the orders of a merchant whose charges need a document."""
    query = select(orders.c.id, orders.c.ordinal).where(
        orders.c.merchant_id == merchant_id, orders.c.tax.is_not(None)
    )
    for row in read_all(db, query, orders.c.ordinal):
        yield row.id
