"""Let a merchant in, and give it another key."""

import secrets
from datetime import datetime, timedelta
from typing import Final

import msgspec
from sqlalchemy import Connection, insert, or_, select, update

from printworks.catalogue.products import Currency
from printworks.errors import BadInput, NotFound
from printworks.rules.payments import Billing
from printworks.store.merchants import Merchant, hash_key
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


def rotate_key(
    db: Connection, code: str, *, old_key_valid_for: timedelta, environment: str, now: datetime
) -> str:
    """Return a new key; the one before stays valid for a while, older ones end now."""
    # Locked, so that two rotations at once cannot leave three keys.
    merchant_id = db.execute(
        select(merchants.c.id).where(merchants.c.code == code).with_for_update()
    ).scalar()
    if merchant_id is None:
        message = f"There is no merchant {code!r}."
        raise NotFound(message)

    for key in db.execute(
        select(api_keys.c.id, api_keys.c.expires_at).where(
            api_keys.c.merchant_id == merchant_id,
            or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > now),
        )
    ).all():
        # Only the newest key has no end yet.
        end = now + old_key_valid_for if key.expires_at is None else now
        db.execute(update(api_keys).where(api_keys.c.id == key.id).values(expires_at=end))
    return _add_key(db, merchant_id, environment=environment, now=now)


def _add_key(db: Connection, merchant_id: int, *, environment: str, now: datetime) -> str:
    key = f"pw_{environment}_{secrets.token_urlsafe(32)}"
    db.execute(
        insert(api_keys).values(
            merchant_id=merchant_id, hash=hash_key(key), hint=key[-4:], created_at=now
        )
    )
    return key
