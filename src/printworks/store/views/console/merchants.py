"""Merchants for operators, a page at a time, newest first."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

import msgspec
from sqlalchemy import Connection, literal_column, select

from printworks.catalogue.products import Currency
from printworks.errors import NotFound
from printworks.rules.merchants import MerchantState
from printworks.rules.payments import Billing
from printworks.rules.search import simplify
from printworks.store.engine.rows import LARGEST_ID, columns_of, cut_page, possible_id
from printworks.store.tables import merchants
from printworks.store.views.console.problems import count_failed

# Merchants that one statement reads when a part of a name is searched for.
MERCHANTS_AT_ONCE: Final = 1000


class MerchantLine(msgspec.Struct, frozen=True):
    """What a list shows of a merchant."""

    id: int
    code: str
    name: str
    state: MerchantState
    billing: Billing
    currency: Currency
    # What the merchant owes, in minor units, and the most it may owe; None is no limit.
    balance: int
    credit_limit: int | None
    order_count: int
    # How many bytes its files take.
    file_bytes: int
    # How far its clock is ahead.
    clock_offset: timedelta
    created_at: datetime
    # Callbacks that failed for good, counted up to a thousand.
    failed_callbacks: int


class MerchantPage(msgspec.Struct, frozen=True):
    merchants: list[MerchantLine]
    # The id below which the next page begins; None if this is the last.
    next: int | None


_SHOWN: Final = columns_of(merchants, MerchantLine, failed_callbacks=literal_column("0"))


def search_merchants(
    db: Connection, *, text: str = "", before: int | None = None, limit: int
) -> MerchantPage:
    """Return the merchants with this text in their name or code, newest first.

    `before` is the `next` of the previous page.
    """
    wanted = simplify(text)
    ids: list[int] = []
    for merchant_id, code, name in _walk_merchants(db, before):
        if wanted in simplify(name) or wanted in simplify(code):
            ids.append(merchant_id)
        if len(ids) > limit:
            break
    shown, last = cut_page(ids, limit, int)
    return MerchantPage(_read_merchants(db, shown), last)


def get_merchant_line(db: Connection, merchant_id: int) -> MerchantLine:
    """Return what a list shows of one merchant."""
    found = _read_merchants(db, [possible_id(merchant_id)])
    if not found:
        raise NotFound(f"There is no merchant {merchant_id}.")
    return found[0]


def _walk_merchants(db: Connection, before: int | None) -> Iterator[tuple[int, str, str]]:
    last = min(before or LARGEST_ID, LARGEST_ID)
    while True:
        rows = db.execute(
            select(merchants.c.id, merchants.c.code, merchants.c.name)
            .where(merchants.c.id < last)
            .order_by(merchants.c.id.desc())
            .limit(MERCHANTS_AT_ONCE)
        ).all()
        for row in rows:
            yield row.id, row.code, row.name
            last = row.id
        if len(rows) < MERCHANTS_AT_ONCE:
            return


def _read_merchants(db: Connection, ids: list[int]) -> list[MerchantLine]:
    failed_callbacks = count_failed(db, ids)
    rows = db.execute(
        select(*_SHOWN).where(merchants.c.id.in_(ids)).order_by(merchants.c.id.desc())
    )
    return [
        MerchantLine(**{**row._mapping, "failed_callbacks": failed_callbacks[row.id]})
        for row in rows
    ]


class MerchantName(msgspec.Struct, frozen=True):
    code: str
    name: str


def name_merchants(db: Connection, ids: Iterable[int | None]) -> Mapping[int, MerchantName]:
    wanted = {merchant_id for merchant_id in ids if merchant_id is not None}
    if not wanted:
        return {}
    found = select(merchants.c.id, merchants.c.code, merchants.c.name)
    rows = db.execute(found.where(merchants.c.id.in_(wanted)))
    return {row.id: MerchantName(row.code, row.name) for row in rows}
