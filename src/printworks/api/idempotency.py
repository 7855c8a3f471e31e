"""Idempotency keys: the same request with the same key happens once, with the same answer."""

import hashlib
import re
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection

from printworks.api.bodies import UploadedFile
from printworks.api.endpoints import Unfinished
from printworks.api.messages import Request, Response
from printworks.errors import BadInput, IdempotencyKeyReused, StillRunning
from printworks.store.accounts import idempotency as store
from printworks.store.accounts.idempotency import KeyClaim, KeyedAnswer, StoredRequest
from printworks.store.engine.database import Database

LONGEST_KEY: Final = 255
# No request runs longer: one without an answer by then died with its process.
RUNS_AT_MOST: Final = timedelta(minutes=2)
# How often a key is claimed that others claim and free at the same time.
_CLAIMS: Final = 3
_ORDER_IN_PATH: Final = re.compile(r"/orders/([0-9]{1,18})(?:/|$)", re.IGNORECASE)
_NEW_ORDER: Final = re.compile(rb"""(?:"id":|<id>)([0-9]{1,18})""")
_ORDER_OF: Final = re.compile(rb"""(?:"orderId":"?|<orderId>)([0-9]{1,18})""")


class StartedRequest(NamedTuple):
    """A request that must call another service before it has an answer, and its claim to a key."""

    work: Unfinished[Any]
    claim: KeyClaim | None = None


class KeyedRequest(NamedTuple):
    """A request of a merchant that carries an Idempotency-Key, and its parsed body."""

    merchant_id: int
    request: Request
    body: object


def answer_once(
    database: Database,
    keyed: KeyedRequest,
    perform: Callable[[Connection], Response | Unfinished[Any]],
    *,
    now: datetime,
) -> Response | StartedRequest:
    """Perform a request that carries a key, unless it was performed before.

    The answer is stored in the transaction of the change, so there is never one without the
    other. A request that is refused or fails changes nothing, and leaves its key free.
    """
    claim = KeyClaim(keyed.merchant_id, _read_key(keyed.request), secrets.token_hex(8))
    known = _claim_or_replay(database, claim, _fingerprint(keyed.request, keyed.body), now=now)
    if known is not None:
        return known
    try:
        with database.writing() as db:
            response = perform(db)
            if isinstance(response, Unfinished):
                return StartedRequest(response, claim)
            store_response(db, claim, response, keyed.request.path)
    except BaseException:
        release_claim(database, claim)
        raise
    return response


def release_claim(database: Database, claim: KeyClaim) -> None:
    """Let the next request with this key be performed again."""
    with database.writing() as db:
        store.release_key(db, claim)


def _read_key(request: Request) -> str:
    key = request.headers["idempotency-key"].strip()
    if not key or len(key) > LONGEST_KEY or not key.isprintable():
        raise BadInput(f"The Idempotency-Key must have 1 to {LONGEST_KEY} printable characters.")
    return key


def _fingerprint(request: Request, body: object) -> str:
    content_type = request.headers.get("content-type", "")
    content = [content_type.encode(), request.body]
    if content_type.lower().startswith("multipart/") and isinstance(body, dict):
        # Clients choose another boundary each time, so only the parts count.
        content = [part for name, value in body.items() for part in (name.encode(), _digest(value))]
    head = [
        request.method.encode(),
        request.path.lower().rstrip("/").encode(),
        request.query.encode(errors="surrogateescape"),
    ]
    whole = hashlib.sha256()
    for part in (*head, *content):
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.hexdigest()


def _digest(value: object) -> bytes:
    if not isinstance(value, UploadedFile):
        return repr(value).encode()
    whole = hashlib.sha256(value.name.encode())
    while chunk := value.content.read(65536):
        whole.update(chunk)
    value.content.seek(0)
    return whole.digest()


def _claim_or_replay(
    database: Database, claim: KeyClaim, fingerprint: str, *, now: datetime
) -> Response | None:
    for _ in range(_CLAIMS):
        with database.writing() as db:
            is_mine = store.claim_key(
                db, claim, fingerprint=fingerprint, now=now, until=now + RUNS_AT_MOST
            )
            first = None if is_mine else store.find_request(db, claim.merchant_id, claim.key)
        if is_mine:
            return None
        # Otherwise the first was refused just now, and the key is free again.
        if first is not None:
            return _replay(first, fingerprint)
    raise StillRunning("Other requests with this Idempotency-Key are being refused; try again.")


def _replay(first: StoredRequest, fingerprint: str) -> Response:
    if first.fingerprint != fingerprint:
        message = "This Idempotency-Key came with another request before; use a new one."
        raise IdempotencyKeyReused(message)
    if first.answer_status is None:
        message = "The first request with this Idempotency-Key is still running; try again later."
        raise StillRunning(message)
    return Response(
        first.answer_status,
        first.answer_media_type or "",
        first.answer_body or b"",
        (("Idempotent-Replayed", "true"),),
    )


def store_response(db: Connection, claim: KeyClaim, response: Response, path: str) -> None:
    """Store the answer to a request at this path for repetitions with the same key."""
    answer = KeyedAnswer(
        status=response.status,
        media_type=response.media_type,
        body=response.body,
        order_id=_find_order(path, response.body),
    )
    if not store.store_answer(db, claim, answer):
        raise StillRunning("Another request with this Idempotency-Key took over; try again.")


def _find_order(path: str, body: bytes) -> int | None:
    """Return the order that an answer tells of, so that the answer can be erased with it."""
    named = _ORDER_IN_PATH.search(path)
    if named is not None:
        return int(named[1])
    # A new order has its id before anything else, and an issue names its order.
    is_new = path.lower().rstrip("/").endswith("/orders")
    told = (_NEW_ORDER if is_new else _ORDER_OF).search(body)
    return None if told is None else int(told[1])
