"""The state of a merchant's account, and what must be settled before it changes."""

from typing import Final

import msgspec
from sqlalchemy import Connection, delete, func, select, update

from printworks.catalogue.products import Currency
from printworks.rules.merchants import MerchantState
from printworks.rules.orders import ENDED, OrderStatus
from printworks.store.tables import merchants, orders, people, sessions

_OPEN: Final = [status for status in OrderStatus if status not in ENDED]
# More are not counted.
_MOST_COUNTED: Final = 1000


class MerchantStanding(msgspec.Struct, frozen=True):
    """The state of an account as it is now, and what the merchant owes."""

    state: MerchantState
    currency: Currency
    balance: int


_COLUMNS: Final = [merchants.c[name] for name in MerchantStanding.__struct_fields__]


def read_standing(db: Connection, merchant_id: int) -> MerchantStanding:
    query = select(*_COLUMNS).where(merchants.c.id == merchant_id)
    return MerchantStanding(*db.execute(query).one())


def lock_standing(db: Connection, merchant_id: int) -> MerchantStanding:
    """Lock an account until the transaction ends: no order can be created meanwhile."""
    query = select(*_COLUMNS).where(merchants.c.id == merchant_id)
    return MerchantStanding(*db.execute(query.with_for_update(key_share=True)).one())


def count_open_orders(db: Connection, merchant_id: int) -> int:
    """Count the orders that are neither complete nor cancelled, up to a thousand."""
    found = (
        select(orders.c.id)
        .where(orders.c.merchant_id == merchant_id, orders.c.status.in_(_OPEN))
        .limit(_MOST_COUNTED)
        .subquery()
    )
    return int(db.execute(select(func.count()).select_from(found)).scalar_one())


def set_state(db: Connection, merchant_id: int, state: MerchantState, reason: str) -> None:
    values = {"state": state, "state_reason": reason}
    db.execute(update(merchants).where(merchants.c.id == merchant_id).values(values))


def set_name(db: Connection, merchant_id: int, name: str) -> None:
    db.execute(update(merchants).where(merchants.c.id == merchant_id).values(name=name))


def set_currency(db: Connection, merchant_id: int, currency: Currency) -> None:
    db.execute(update(merchants).where(merchants.c.id == merchant_id).values(currency=currency))


def end_sessions_of_merchant(db: Connection, merchant_id: int) -> None:
    """Sign out everybody who works for a merchant."""
    theirs = select(people.c.id).where(people.c.merchant_id == merchant_id)
    db.execute(delete(sessions).where(sessions.c.person_id.in_(theirs)))
