"""What merchants are called, for lists that know only their numbers."""

from collections.abc import Iterable, Mapping

import msgspec
from sqlalchemy import Connection, case, func, select

from printworks.catalogue.products import Currency
from printworks.store.tables import merchants


class MerchantName(msgspec.Struct, frozen=True):
    """By what people know a merchant."""

    code: str
    name: str


class Owed(msgspec.Struct, frozen=True):
    """What merchants owe in one currency, and what others have paid ahead, in minor units."""

    currency: Currency
    owed: int
    paid_ahead: int


def name_merchants(db: Connection, ids: Iterable[int | None]) -> Mapping[int, MerchantName]:
    """Return the names of some merchants, by number."""
    wanted = {merchant_id for merchant_id in ids if merchant_id is not None}
    if not wanted:
        return {}
    found = select(merchants.c.id, merchants.c.code, merchants.c.name)
    rows = db.execute(found.where(merchants.c.id.in_(wanted)))
    return {row.id: MerchantName(row.code, row.name) for row in rows}


def sum_balances(db: Connection) -> list[Owed]:
    """Return what all merchants together owe, by currency."""
    owed = case((merchants.c.balance > 0, merchants.c.balance), else_=0)
    ahead = case((merchants.c.balance < 0, -merchants.c.balance), else_=0)
    rows = db.execute(
        select(merchants.c.currency, func.sum(owed), func.sum(ahead))
        .group_by(merchants.c.currency)
        .order_by(merchants.c.currency)
    )
    return [Owed(currency, int(due), int(paid)) for currency, due, paid in rows]
