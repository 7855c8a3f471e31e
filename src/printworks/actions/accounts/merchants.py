"""Let a merchant in, give it other keys, and end them."""

import secrets
from datetime import datetime, timedelta
from typing import Final

import msgspec
from sqlalchemy import Connection, insert

from printworks.catalogue.products import Currency
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.payments import Billing
from printworks.store.accounts.merchants import (
    MOST_KEYS,
    ApiKey,
    Merchant,
    end_key,
    get_merchant_by_code,
    hash_key,
    list_keys,
    lock_keys,
)
from printworks.store.tables import api_keys, merchants

# Digits and lower-case letters without i, l, o and u: nobody misreads them on the telephone.
_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_LONGEST_NAME: Final = 200


class NewMerchant(msgspec.Struct, frozen=True):
    """A merchant and its key, which can be shown this once only."""

    merchant: Merchant
    api_key: str


def add_merchant(
    db: Connection,
    name: str,
    *,
    environment: str,
    now: datetime,
    currency: Currency = Currency.GBP,
    billing: Billing = Billing.CARD,
) -> NewMerchant:
    """Let a merchant in and make its first key."""
    name = name.strip()
    if not 1 <= len(name) <= _LONGEST_NAME or not name.isprintable():
        message = f"`name` must be 1 to {_LONGEST_NAME} printable characters."
        raise BadInput(message)
    code = "".join(secrets.choice(_ALPHABET) for _ in range(10))

    added = db.execute(
        insert(merchants)
        .values(
            code=code,
            name=name,
            clock_offset=timedelta(0),
            currency=currency,
            billing=billing,
            created_at=now,
        )
        .returning(merchants.c.id)
    ).scalar_one()

    merchant = Merchant(added, code, name, timedelta(0), currency, billing=billing)
    return NewMerchant(merchant, _add_key(db, merchant.id, environment=environment, now=now))


def add_key(db: Connection, merchant: Merchant, *, environment: str, now: datetime) -> str:
    """Return one more key for a merchant; those it has go on working."""
    # Locked, so that two at once cannot make one key too many.
    lock_keys(db, merchant.id)
    if len(list_keys(db, merchant.id, now=now)) >= MOST_KEYS:
        message = f"At most {MOST_KEYS} keys can work at the same time; revoke one first."
        raise WrongState(message)
    return _add_key(db, merchant.id, environment=environment, now=now)


def revoke_key(db: Connection, merchant_id: int, key_id: int, *, now: datetime) -> ApiKey:
    """End a key of a merchant at once, even its last one, and return what is known of it."""
    lock_keys(db, merchant_id)
    ended = end_key(db, merchant_id, key_id, at=now, now=now)
    if ended is None:
        message = "There is no such key, or it has ended already."
        raise NotFound(message)
    return ended


def rotate_key(
    db: Connection, code: str, *, old_key_valid_for: timedelta, environment: str, now: datetime
) -> str:
    """Return a new key in place of all others.

    Those without an end stay valid for a while; those that were ending end now.
    """
    merchant = get_merchant_by_code(db, code)
    # Locked, so that two rotations at once cannot leave three keys.
    lock_keys(db, merchant.id)
    keys = list_keys(db, merchant.id, now=now)
    staying = [key.id for key in keys if key.expires_at is None][: MOST_KEYS - 1]
    for key in keys:
        end = now + old_key_valid_for if key.id in staying else now
        end_key(db, merchant.id, key.id, at=end, now=now)
    return _add_key(db, merchant.id, environment=environment, now=now)


def _add_key(db: Connection, merchant_id: int, *, environment: str, now: datetime) -> str:
    key = f"pw_{environment}_{secrets.token_urlsafe(32)}"
    db.execute(
        insert(api_keys).values(
            merchant_id=merchant_id, hash=hash_key(key), hint=key[-4:], created_at=now
        )
    )
    return key
