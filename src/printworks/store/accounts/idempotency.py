"""Requests that carry an Idempotency-Key, and the answers they got."""

from datetime import datetime

import msgspec
from sqlalchemy import ColumnElement, Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from printworks.store.engine.purging import delete_oldest
from printworks.store.engine.rows import columns_of, find_struct
from printworks.store.tables import idempotency_keys as keys


class StoredRequest(msgspec.Struct, frozen=True):
    """The first request that came with a key, and its answer."""

    fingerprint: str
    claimed_until: datetime
    answer_status: int | None
    answer_media_type: str | None
    answer_body: bytes | None


class KeyedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a request with a key, and the order that it tells of."""

    status: int
    media_type: str
    body: bytes
    order_id: int | None


class KeyClaim(msgspec.Struct, frozen=True):
    """The right to answer the request with this key, for a while."""

    merchant_id: int
    key: str
    # A request that ran too long must not answer for the one that replaced it.
    claim: str


def find_request(db: Connection, merchant_id: int, key: str) -> StoredRequest | None:
    """Return the first request that came with this key."""
    query = select(*columns_of(keys, StoredRequest))
    query = query.where(keys.c.merchant_id == merchant_id, keys.c.key == key)
    return find_struct(db, StoredRequest, query)


def claim_key(
    db: Connection, claim: KeyClaim, *, fingerprint: str, now: datetime, until: datetime
) -> bool:
    """Claim a key that is new, or whose first request died; say whether that worked."""
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


def store_answer(db: Connection, claim: KeyClaim, answer: KeyedAnswer) -> bool:
    """Store the answer; say whether the claim was still held."""
    kept = db.execute(
        update(keys)
        .where(_is_held(claim))
        .values(
            answer_status=answer.status,
            answer_media_type=answer.media_type,
            answer_body=answer.body,
            order_id=answer.order_id,
        )
    )
    return kept.rowcount == 1


def release_key(db: Connection, claim: KeyClaim) -> None:
    """Delete the key: the request failed and may be sent again."""
    db.execute(delete(keys).where(_is_held(claim)))


def purge_idempotency_keys(db: Connection, *, before: datetime, limit: int) -> int:
    """Delete the oldest keys and their answers; return how many."""
    return delete_oldest(db, keys.c.created_at, keys.c.created_at < before, limit=limit)


def _is_held(claim: KeyClaim) -> ColumnElement[bool]:
    return (
        (keys.c.merchant_id == claim.merchant_id)
        & (keys.c.key == claim.key)
        & (keys.c.claim == claim.claim)
        & keys.c.answer_status.is_(None)
    )
