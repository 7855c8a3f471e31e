"""Merchants and their API keys."""

import hashlib
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import Connection, bindparam, insert, literal_column, or_, select, update

from printworks.catalogue.products import Currency
from printworks.errors import NotFound
from printworks.rules.invoices import Invoicing
from printworks.rules.keys import KeyAccess, KeyLimits
from printworks.rules.merchants import MerchantState
from printworks.rules.payments import Billing
from printworks.rules.shares import ShareTerms
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.rows import columns_of, find_struct, list_structs, possible_id
from printworks.store.tables import api_keys, merchants


class Merchant(msgspec.Struct, frozen=True):
    """The merchant whose request or job it is."""

    id: int
    code: str
    name: str
    clock_offset: timedelta
    currency: Currency = Currency.GBP
    advancing_until: datetime | None = None
    billing: Billing = Billing.CARD
    # How many bytes its files take.
    file_bytes: int = 0
    # Its own limits of requests; None is that of the installation.
    requests_per_second: int | None = None
    requests_burst: int | None = None
    requests_in_work: int | None = None
    state: MerchantState = MerchantState.ACTIVE
    # Why it is suspended or closed.
    state_reason: str = ""
    # When it is sent invoices.
    invoicing: Invoicing = Invoicing.EACH_ORDER
    # With which others it has price lists.
    group_id: int | None = None

    @property
    def share_terms(self) -> ShareTerms:
        return ShareTerms(self.requests_per_second, self.requests_burst, self.requests_in_work)


class ApiKey(msgspec.Struct, frozen=True):
    """What is stored about a key, which is never the key itself."""

    id: int
    merchant_code: str
    hint: str
    name: str
    access: KeyAccess
    lab: str | None
    created_at: datetime
    expires_at: datetime | None
    # When another took its place.
    replaced_at: datetime | None
    # To within about a minute; null if never.
    last_used_at: datetime | None

    @property
    def limits(self) -> KeyLimits:
        """What it is called, and what it may do."""
        return KeyLimits(self.name, self.access, self.lab)


class NewKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key that is to be added; only its hash and its last characters are stored."""

    merchant_id: int
    key: str
    limits: KeyLimits
    expires_at: datetime | None = None


class FoundKey(NamedTuple):
    """The merchant of a key that is valid, what the key may do, and until when."""

    merchant: Merchant
    limits: KeyLimits
    expires_at: datetime | None


_COLUMNS: Final = columns_of(merchants, Merchant)
_ONE: Final = PreparedStatement(select(*_COLUMNS).where(merchants.c.id == bindparam("id")))
_CLOCK: Final = PreparedStatement(
    select(merchants.c.clock_offset).where(merchants.c.id == bindparam("id"))
)
_is_valid = or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > bindparam("now"))

# By its hash, whatever the number of keys: the time that this takes tells nothing, since nobody can
# choose the beginning of a hash.
_FIND_KEY: Final = PreparedStatement(
    select(*_COLUMNS, api_keys.c.name, api_keys.c.access, api_keys.c.lab, api_keys.c.expires_at)
    .join_from(merchants, api_keys)
    .where(
        api_keys.c.hash == bindparam("hash"),
        merchants.c.code == bindparam("code"),
        merchants.c.state != literal_column(f"'{MerchantState.CLOSED}'"),
        _is_valid,
    )
)
_LIST_KEYS: Final = (
    select(*columns_of(api_keys, ApiKey, merchant_code=merchants.c.code))
    .join_from(merchants, api_keys)
    .where(_is_valid)
)


def hash_key(key: str) -> str:
    """Return the hash under which a key is stored."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def find_key(db: Connection, code: str, key_hash: str, *, now: datetime) -> FoundKey | None:
    """Return the merchant with this code if the key with this hash is one of its valid ones."""
    # PostgreSQL raises an error for some text, such as a zero byte.
    code = code if code.isascii() and code.isalnum() else ""
    rows = _FIND_KEY.all(db, {"hash": key_hash, "code": code, "now": now})
    if not rows:
        return None
    *merchant, name, access, lab, expires_at = rows[0]
    return FoundKey(Merchant(*merchant), KeyLimits(name, access, lab), expires_at)


def insert_merchant(db: Connection, merchant: Merchant, *, now: datetime) -> Merchant:
    """Add a merchant; the database chooses its id."""
    values: dict[str, Any] = msgspec.structs.asdict(merchant)
    del values["id"]
    added = insert(merchants).values(**values, created_at=now).returning(merchants.c.id)
    return msgspec.structs.replace(merchant, id=db.execute(added).scalar_one())


def insert_key(db: Connection, new: NewKey, *, now: datetime) -> None:
    """Add a key of a merchant."""
    values = {
        "merchant_id": new.merchant_id,
        "hash": hash_key(new.key),
        "hint": new.key[-4:],
        "created_at": now,
        "expires_at": new.expires_at,
        **msgspec.structs.asdict(new.limits),
    }
    db.execute(insert(api_keys).values(**values))


def get_merchant(db: Connection, merchant_id: int) -> Merchant:
    return Merchant(*_ONE.one(db, {"id": merchant_id}))


def read_clock_offset(db: Connection, merchant_id: int) -> timedelta:
    """Return how far the clock of a merchant is ahead of the real one."""
    offset: timedelta
    (offset,) = _CLOCK.one(db, {"id": merchant_id})
    return offset


def get_merchant_by_code(db: Connection, code: str) -> Merchant:
    """Return a merchant by the code that it sends as its id."""
    merchant = find_merchant_by_code(db, code)
    if merchant is None:
        raise NotFound(f"There is no merchant {code!r}.")
    return merchant


def find_merchant_by_code(db: Connection, code: str) -> Merchant | None:
    """Return the merchant with a code that was typed in, if there is one."""
    # PostgreSQL raises an error for some characters, and no code has them.
    if not code.isascii() or not code.isprintable():
        return None
    return find_struct(db, Merchant, select(*_COLUMNS).where(merchants.c.code == code))


def read_clock_offsets(db: Connection, merchant_ids: Iterable[int]) -> dict[int, timedelta]:
    """Return how far ahead each merchant's clock is."""
    wanted = select(merchants.c.id, merchants.c.clock_offset).where(
        merchants.c.id.in_(set(merchant_ids))
    )
    return {row.id: row.clock_offset for row in db.execute(wanted)}


def add_clock_offset(db: Connection, merchant_id: int, by: timedelta) -> timedelta:
    """Move a merchant's clock further ahead; return how far ahead it is now."""
    # Added, not set: two moves at the same time are two moves.
    offset: timedelta = db.execute(
        update(merchants)
        .where(merchants.c.id == merchant_id)
        .values(clock_offset=merchants.c.clock_offset + by)
        .returning(merchants.c.clock_offset)
    ).scalar_one()
    return offset


def set_billing(db: Connection, merchant_id: int, billing: Billing) -> None:
    """Set how a merchant pays from now on."""
    db.execute(update(merchants).where(merchants.c.id == merchant_id).values(billing=billing))


def set_invoicing(db: Connection, merchant_id: int, invoicing: Invoicing) -> None:
    """Set when a merchant is sent invoices, from the next charge on."""
    db.execute(update(merchants).where(merchants.c.id == merchant_id).values(invoicing=invoicing))


def set_share_terms(db: Connection, merchant_id: int, terms: ShareTerms) -> None:
    """Set the limits of a merchant's requests."""
    values = {
        "requests_per_second": terms.per_second,
        "requests_burst": terms.burst,
        "requests_in_work": terms.in_work,
    }
    db.execute(update(merchants).where(merchants.c.id == merchant_id).values(**values))


def list_merchants(db: Connection) -> list[Merchant]:
    """Return all merchants, oldest first."""
    return list_structs(db, Merchant, select(*_COLUMNS).order_by(merchants.c.id))


def list_valid_keys(db: Connection, *, now: datetime) -> list[ApiKey]:
    """Return every valid key, by merchant and oldest first."""
    query = _LIST_KEYS.order_by(merchants.c.id, api_keys.c.id)
    return [ApiKey(*row) for row in db.execute(query, {"now": now})]


def list_keys(db: Connection, merchant_id: int, *, now: datetime) -> list[ApiKey]:
    """Return the valid keys of one merchant, newest first."""
    query = _LIST_KEYS.where(merchants.c.id == merchant_id).order_by(api_keys.c.id.desc())
    return [ApiKey(*row) for row in db.execute(query, {"now": now})]


def lock_keys(db: Connection, merchant_id: int) -> None:
    """Lock a merchant's keys until the transaction ends."""
    # Rows that refer to the merchant, such as new orders, need not wait.
    mine = select(merchants.c.id).where(merchants.c.id == merchant_id)
    db.execute(mine.with_for_update(key_share=True)).one()


def end_key(
    db: Connection, merchant_id: int, key_id: int, *, at: datetime, now: datetime
) -> ApiKey | None:
    """Let a key expire at this time; return it as it was, or None if it is not valid."""
    mine = (merchants.c.id == merchant_id, api_keys.c.id == possible_id(key_id))
    row = db.execute(_LIST_KEYS.where(*mine), {"now": now}).one_or_none()
    if row is None:
        return None
    db.execute(
        update(api_keys)
        .where(api_keys.c.id == key_id)
        # What ends now was not replaced, but revoked.
        .values(expires_at=at, replaced_at=now if at > now else None)
    )
    return ApiKey(*row)
