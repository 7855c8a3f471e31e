"""Merchants and the keys they show."""

import hashlib
import hmac
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Final

import msgspec
from sqlalchemy import Connection, bindparam, or_, select, update

from printworks.catalogue.products import Currency
from printworks.errors import NotFound
from printworks.rules.payments import Billing
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.tables import api_keys, merchants


class Merchant(msgspec.Struct, frozen=True):
    """Whose request or job it is."""

    id: int
    code: str
    name: str
    clock_offset: timedelta
    currency: Currency = Currency.GBP
    advancing_until: datetime | None = None
    billing: Billing = Billing.CARD


class ApiKey(msgspec.Struct, frozen=True):
    """What is remembered of a key: never the key itself."""

    id: int
    merchant_code: str
    hint: str
    created_at: datetime
    expires_at: datetime | None
    # Within a minute or so; null if never.
    last_used_at: datetime | None


_COLUMNS: Final = [merchants.c[name] for name in Merchant.__struct_fields__]
_is_valid = or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > bindparam("now"))

_KEYS_OF_MERCHANT: Final = PreparedStatement(
    select(*_COLUMNS, api_keys.c.hash)
    .join_from(merchants, api_keys)
    .where(merchants.c.code == bindparam("code"), _is_valid)
)
# Keys of one merchant that may work at the same time.
MOST_KEYS: Final = 5
# What is compared when there are fewer keys, so that it takes as long as with all of them.
_NO_KEYS: Final = ("0" * 64,) * MOST_KEYS
_LIST_KEYS: Final = (
    select(
        api_keys.c.id,
        merchants.c.code,
        api_keys.c.hint,
        api_keys.c.created_at,
        api_keys.c.expires_at,
        api_keys.c.last_used_at,
    )
    .join_from(merchants, api_keys)
    .where(_is_valid)
)
# No row has a higher number, and PostgreSQL refuses to compare with one that is.
_HIGHEST_ID: Final = 2**63 - 1


def hash_key(key: str) -> str:
    """Return what is stored of a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def find_merchant_by_key(db: Connection, code: str, key: str, *, now: datetime) -> Merchant | None:
    """Return the merchant with this code if the key is one of its valid ones."""
    shown = hash_key(key)
    # Some text, a zero byte for one, is an error to PostgreSQL and not merely unknown.
    code = code if code.isascii() and code.isalnum() else ""
    rows = _KEYS_OF_MERCHANT.all(db, {"code": code, "now": now})
    found = None
    for *merchant, stored in rows:
        if hmac.compare_digest(stored, shown):
            found = Merchant(*merchant)
    for nothing in _NO_KEYS[len(rows) :]:
        hmac.compare_digest(nothing, shown)
    return found


def get_merchant(db: Connection, merchant_id: int) -> Merchant:
    """Return a merchant by its number, as jobs know it."""
    row = db.execute(select(*_COLUMNS).where(merchants.c.id == merchant_id)).one()
    return Merchant(*row)


def get_merchant_by_code(db: Connection, code: str) -> Merchant:
    """Return a merchant by the id that it sends, as operators know it."""
    merchant = find_merchant_by_code(db, code)
    if merchant is None:
        raise NotFound(f"There is no merchant {code!r}.")
    return merchant


def find_merchant_by_code(db: Connection, code: str) -> Merchant | None:
    """Return the merchant with an id that somebody typed, if there is one."""
    # No code has other letters, and some of them are an error to PostgreSQL.
    if not code.isascii() or not code.isprintable():
        return None
    row = db.execute(select(*_COLUMNS).where(merchants.c.code == code)).one_or_none()
    return None if row is None else Merchant(*row)


def read_clock_offsets(db: Connection, merchant_ids: Iterable[int]) -> dict[int, timedelta]:
    """Return how far each merchant's clock is ahead."""
    wanted = select(merchants.c.id, merchants.c.clock_offset).where(
        merchants.c.id.in_(set(merchant_ids))
    )
    return {row.id: row.clock_offset for row in db.execute(wanted)}


def set_billing(db: Connection, merchant_id: int, billing: Billing) -> None:
    """Say how a merchant pays from now on."""
    db.execute(update(merchants).where(merchants.c.id == merchant_id).values(billing=billing))


def list_merchants(db: Connection) -> list[Merchant]:
    """Return all merchants, oldest first."""
    return [Merchant(*row) for row in db.execute(select(*_COLUMNS).order_by(merchants.c.id))]


def list_valid_keys(db: Connection, *, now: datetime) -> list[ApiKey]:
    """Return every key that opens a door now, by merchant and oldest first."""
    query = _LIST_KEYS.order_by(merchants.c.id, api_keys.c.id)
    return [ApiKey(*row) for row in db.execute(query, {"now": now})]


def list_keys(db: Connection, merchant_id: int, *, now: datetime) -> list[ApiKey]:
    """Return the keys of one merchant that open a door now, newest first."""
    query = _LIST_KEYS.where(merchants.c.id == merchant_id).order_by(api_keys.c.id.desc())
    return [ApiKey(*row) for row in db.execute(query, {"now": now})]


def lock_keys(db: Connection, merchant_id: int) -> None:
    """Keep others from changing a merchant's keys until the transaction ends."""
    # What refers to the merchant, such as a new order, need not wait.
    mine = select(merchants.c.id).where(merchants.c.id == merchant_id)
    db.execute(mine.with_for_update(key_share=True)).one()


def end_key(
    db: Connection, merchant_id: int, key_id: int, *, at: datetime, now: datetime
) -> ApiKey | None:
    """Let a key of a merchant end at a moment; return it as it was, or None if it works no more."""
    if not 0 < key_id <= _HIGHEST_ID:
        return None
    mine = (merchants.c.id == merchant_id, api_keys.c.id == key_id)
    row = db.execute(_LIST_KEYS.where(*mine), {"now": now}).one_or_none()
    if row is None:
        return None
    db.execute(update(api_keys).where(api_keys.c.id == key_id).values(expires_at=at))
    return ApiKey(*row)
