"""Requests that carry an Idempotency-Key, and what they were answered."""

from datetime import datetime

import msgspec
from sqlalchemy import ColumnElement, Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from printworks.store.tables import idempotency_keys as keys


class KeptRequest(msgspec.Struct, frozen=True):
    """What is known of the first request that came with a key."""

    fingerprint: str
    claimed_until: datetime
    answer_status: int | None
    answer_media_type: str | None
    answer_body: bytes | None


class KeyClaim(msgspec.Struct, frozen=True):
    """The right to answer the request with this key, for a while."""

    merchant_id: int
    key: str
    # Who holds it: a request that ran too long must not answer for the one that replaced it.
    claim: str


_KEPT = [keys.c[name] for name in KeptRequest.__struct_fields__]


def find_request(db: Connection, merchant_id: int, key: str) -> KeptRequest | None:
    """Return what is known of the key."""
    query = select(*_KEPT).where(keys.c.merchant_id == merchant_id, keys.c.key == key)
    row = db.execute(query).one_or_none()
    return None if row is None else KeptRequest(*row)


def claim_key(
    db: Connection, claim: KeyClaim, *, fingerprint: str, now: datetime, until: datetime
) -> bool:
    """Take a key that is new, or whose first request died; say whether that worked."""
    values = {
        "fingerprint": fingerprint,
        "claim": claim.claim,
        "claimed_until": until,
        "created_at": now,
    }
    taken_over = db.execute(
        update(keys)
        .where(
            keys.c.merchant_id == claim.merchant_id,
            keys.c.key == claim.key,
            keys.c.answer_status.is_(None),
            keys.c.claimed_until <= now,
        )
        .values(**values)
    )
    if taken_over.rowcount:
        return True
    try:
        with db.begin_nested():
            db.execute(insert(keys).values(merchant_id=claim.merchant_id, key=claim.key, **values))
    except IntegrityError:
        return False
    return True


def keep_answer(
    db: Connection, claim: KeyClaim, *, status: int, media_type: str, body: bytes
) -> bool:
    """Keep the answer for as long as keys are kept; say whether the claim still held."""
    kept = db.execute(
        update(keys)
        .where(_is_held(claim))
        .values(answer_status=status, answer_media_type=media_type, answer_body=body)
    )
    return kept.rowcount == 1


def give_up_claim(db: Connection, claim: KeyClaim) -> None:
    """Forget the key: the request failed and may be tried again."""
    db.execute(delete(keys).where(_is_held(claim)))


def _is_held(claim: KeyClaim) -> ColumnElement[bool]:
    return (
        (keys.c.merchant_id == claim.merchant_id)
        & (keys.c.key == claim.key)
        & (keys.c.claim == claim.claim)
        & keys.c.answer_status.is_(None)
    )
