"""Charges and refunds by product and lab, and the figures of each day."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, bindparam, insert, select, text

from printworks.conversion import reader_of
from printworks.rules.sales import Figures, Sale, SalePart, SalesDay, SalesPlace, figures_of_sale
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.rows import columns_of, read_all
from printworks.store.tables import ledger_entries, sales, sales_days

_read_parts: Final = reader_of(tuple[SalePart, ...])
_COLUMNS: Final = columns_of(sales, Sale)
_DAY: Final = (
    *(sales_days.c[name] for name in SalesPlace._fields),
    *columns_of(sales_days, Figures),
)
_INSERT: Final = PreparedStatement(
    insert(sales)
    .values({name: bindparam(name) for name in ("merchant_id", *Sale.__struct_fields__)})
    .inline()
)
_OF_KEY: Final = PreparedStatement(
    select(*_COLUMNS)
    .join_from(
        ledger_entries,
        sales,
        (sales.c.merchant_id == ledger_entries.c.merchant_id)
        & (sales.c.number == ledger_entries.c.number),
    )
    .where(
        ledger_entries.c.merchant_id == bindparam("merchant"),
        ledger_entries.c.key == bindparam("key"),
    )
)
_ADD: Final = PreparedStatement(
    text("""
    INSERT INTO sales_days (
        day, merchant_id, currency, country, lab, sku,
        orders, copies, net, tax, refunded_net, refunded_tax, items_cost, shipping_cost,
        credited, credited_tax, debited
    )
    VALUES (
        :day, :merchant_id, :currency, :country, :lab, :sku,
        :orders, :copies, :net, :tax, :refunded_net, :refunded_tax, :items_cost, :shipping_cost,
        :credited, :credited_tax, :debited
    )
    ON CONFLICT (day, merchant_id, currency, country, lab, sku) DO UPDATE
    SET orders = sales_days.orders + excluded.orders,
        copies = sales_days.copies + excluded.copies,
        net = sales_days.net + excluded.net,
        tax = sales_days.tax + excluded.tax,
        refunded_net = sales_days.refunded_net + excluded.refunded_net,
        refunded_tax = sales_days.refunded_tax + excluded.refunded_tax,
        items_cost = sales_days.items_cost + excluded.items_cost,
        shipping_cost = sales_days.shipping_cost + excluded.shipping_cost,
        credited = sales_days.credited + excluded.credited,
        credited_tax = sales_days.credited_tax + excluded.credited_tax,
        debited = sales_days.debited + excluded.debited
""")
)


def insert_sale(db: Connection, merchant_id: int, sale: Sale) -> None:
    """Add the parts of a charge or refund that was just posted, and add them to its day."""
    values: dict[str, Any] = msgspec.structs.asdict(sale)
    values |= {"merchant_id": merchant_id, "parts": msgspec.to_builtins(sale.parts)}
    _INSERT.run(db, values)
    add_to_days(db, merchant_id, figures_of_sale(sale))


def add_to_days(db: Connection, merchant_id: int, days: Iterable[SalesDay]) -> None:
    """Add figures to the sums of days; the caller has locked the merchant's books."""
    rows = [
        {**place._asdict(), **msgspec.structs.asdict(figures), "merchant_id": merchant_id}
        for place, figures in days
    ]
    _ADD.run_each(db, rows)


def get_sale(db: Connection, merchant_id: int, key: str) -> Sale:
    """Return the parts of the entry with this key."""
    return _read(_OF_KEY.one(db, {"merchant": merchant_id, "key": key}))


def list_sales(db: Connection, merchant_id: int) -> Iterator[Sale]:
    """Yield the charges and refunds of a merchant, oldest first."""
    query = select(*_COLUMNS).where(sales.c.merchant_id == merchant_id)
    for row in read_all(db, query, sales.c.number):
        yield _read(row)


def _read(row: Any) -> Sale:
    found = dict(zip(Sale.__struct_fields__, row, strict=True))
    return Sale(**{**found, "parts": _read_parts(found["parts"])})


def list_sales_days(db: Connection, merchant_id: int) -> list[SalesDay]:
    """Return the figures of all days of a merchant."""
    query = select(*_DAY).where(sales_days.c.merchant_id == merchant_id)
    size = len(SalesPlace._fields)
    return [SalesDay(SalesPlace(*row[:size]), Figures(*row[size:])) for row in db.execute(query)]
