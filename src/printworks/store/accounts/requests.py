"""The latest API requests, and when each key was last used."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec
from sqlalchemy import ColumnElement, Connection, bindparam, or_, select, text, update

from printworks.store.engine.columns import Timestamp
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.purging import delete_oldest
from printworks.store.engine.rows import (
    LARGEST_ID,
    columns_of,
    cut_page,
    get_struct,
    list_structs,
    possible_id,
)
from printworks.store.tables import api_keys, api_requests

LONGEST_PATH: Final = 500
# A filter reads this many requests at once: a merchant may have made millions.
MOST_FILTERED: Final = 20_000
# The last use of a key is stored no more often than this.
KEY_USES_APART: Final = timedelta(minutes=1)


class NewRequest(msgspec.Struct, frozen=True):
    """A request and its outcome, to be stored."""

    merchant_id: int
    at: datetime
    method: str
    # Without the query string, which may contain anything.
    path: str
    status: int
    milliseconds: int
    # The client may choose it, so it need not be unique.
    request_id: str
    key_hash: str = ""
    # Where it came from.
    address: str | None = None
    # Of a refusal: the sentence, what was sent and answered, and the order that its path names.
    refusal: str | None = None
    body: str | None = None
    answer: str | None = None
    order_id: int | None = None


class ApiRequest(msgspec.Struct, frozen=True):
    """A stored request, as a list shows it."""

    id: int
    merchant_id: int
    at: datetime
    method: str
    path: str
    status: int
    milliseconds: int
    request_id: str
    refusal: str | None


class WholeRequest(ApiRequest, frozen=True):
    """All that is known of a request."""

    key_id: int | None
    # Null if the key is gone.
    key_name: str | None
    key_hint: str | None
    address: str | None
    body: str | None
    answer: str | None


class RequestFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which requests to list; what is not set does not matter."""

    # The first digit of the status.
    status_class: int | None = None
    # Requests that were refused or failed.
    only_errors: bool = False
    method: str | None = None
    # Part of the path, in any case, or a whole request id.
    words: str = ""
    key_id: int | None = None


class RequestPage(msgspec.Struct, frozen=True):
    """A page of requests, newest first."""

    requests: list[ApiRequest]
    # Where the next page begins (`before`); null if there is none. A page with a filter may be
    # short, or empty, and still not be the last.
    older: int | None


_COLUMNS: Final = columns_of(api_requests, ApiRequest)
_TIMESTAMP: Final = Timestamp()
# One statement for many rows, passed as one JSON text: between several statements the thread
# would wait for the interpreter, and other writers for the thread.
_WRITE: Final = {
    "sqlite": PreparedStatement(
        text("""
        INSERT INTO api_requests (merchant_id, at, method, path, status, milliseconds, request_id,
            key_id, address, refusal, body, answer, order_id)
        SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
            value ->> 6, (SELECT id FROM api_keys WHERE hash = value ->> 7), value ->> 8,
            value ->> 9, value ->> 10, value ->> 11, value ->> 12
        FROM json_each(:rows)
    """)
    ),
    "postgresql": PreparedStatement(
        text("""
        INSERT INTO api_requests (merchant_id, at, method, path, status, milliseconds, request_id,
            key_id, address, refusal, body, answer, order_id)
        SELECT CAST(value ->> 0 AS bigint), CAST(value ->> 1 AS timestamptz), value ->> 2,
            value ->> 3, CAST(value ->> 4 AS integer), CAST(value ->> 5 AS integer), value ->> 6,
            (SELECT id FROM api_keys WHERE hash = value ->> 7), value ->> 8, value ->> 9,
            value ->> 10, value ->> 11, CAST(value ->> 12 AS bigint)
        FROM json_array_elements(CAST(:rows AS json))
    """)
    ),
}
# A transaction that changes keys must not wait for this: its keys are skipped until next time.
_KEYS_SHOWN: Final = (
    select(api_keys.c.id, api_keys.c.hash, api_keys.c.last_used_at)
    .where(
        api_keys.c.hash.in_(bindparam("hashes", expanding=True)),
        or_(
            api_keys.c.last_used_at.is_(None),
            api_keys.c.last_used_at <= bindparam("latest", type_=Timestamp()),
        ),
    )
    .with_for_update(skip_locked=True)
)
_NOTE_USE: Final = (
    update(api_keys)
    .where(api_keys.c.id == bindparam("key_id"))
    .values(last_used_at=bindparam("used_at"))
)


def make_storable(words: str) -> str:
    """Replace what no database can store, such as a zero byte."""
    words = words.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    if words.isascii():
        return words
    return words.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def write_requests(db: Connection, requests: Sequence[NewRequest]) -> None:
    """Store requests, oldest first."""
    if not requests:
        return
    rows = [
        (
            request.merchant_id,
            _TIMESTAMP.process_bind_param(request.at, db.dialect),
            request.method,
            make_storable(request.path[:LONGEST_PATH]),
            request.status,
            request.milliseconds,
            request.request_id,
            request.key_hash,
            request.address,
            *(text and make_storable(text) for text in (request.refusal, request.body)),
            request.answer and make_storable(request.answer),
            request.order_id,
        )
        for request in requests
    ]
    _WRITE[db.dialect.name].run(db, {"rows": msgspec.json.encode(rows).decode()})


def note_key_uses(db: Connection, uses: Mapping[str, datetime]) -> None:
    """Store when keys, by hash, were last used, unless that was stored within the last minute."""
    if not uses:
        return
    latest = max(uses.values()) - KEY_USES_APART
    found = db.execute(_KEYS_SHOWN, {"hashes": list(uses), "latest": latest}).all()
    noted = [
        {"key_id": key.id, "used_at": uses[key.hash]}
        for key in found
        if key.last_used_at is None or uses[key.hash] - key.last_used_at >= KEY_USES_APART
    ]
    if noted:
        db.execute(_NOTE_USE, noted)


def list_requests(
    db: Connection,
    merchant_id: int,
    *,
    limit: int,
    before: int | None = None,
    wanted: RequestFilter | None = None,
) -> RequestPage:
    """Return a merchant's requests, newest first, beginning below the id `before`.

    A filter reads a limited number of requests; the page says where to continue.
    """
    below = LARGEST_ID if before is None else min(max(before, 0), LARGEST_ID)
    conditions = [] if wanted is None else _list_conditions(wanted)
    floor = _find_floor(db, merchant_id, below) if conditions else None
    query = (
        select(*_COLUMNS)
        .where(
            api_requests.c.merchant_id == merchant_id,
            api_requests.c.id < below,
            api_requests.c.id > (floor or 0),
            *conditions,
        )
        .order_by(api_requests.c.id.desc())
        .limit(limit + 1)
    )
    shown, older = cut_page(list_structs(db, ApiRequest, query), limit, lambda one: one.id)
    return RequestPage(shown, older or (floor and floor + 1))


def get_request(db: Connection, merchant_id: int, request_id: int) -> WholeRequest:
    """Return all that is known of a merchant's request."""
    query = (
        select(
            *columns_of(
                api_requests, WholeRequest, key_name=api_keys.c.name, key_hint=api_keys.c.hint
            )
        )
        .join_from(api_requests, api_keys, api_keys.c.id == api_requests.c.key_id, isouter=True)
        .where(
            api_requests.c.id == possible_id(request_id), api_requests.c.merchant_id == merchant_id
        )
    )
    return get_struct(db, WholeRequest, query, missing="There is no such request.")


def purge_requests(db: Connection, *, before: datetime, limit: int) -> int:
    """Delete the oldest requests; return how many."""
    return delete_oldest(db, api_requests.c.at, api_requests.c.at < before, limit=limit)


def _list_conditions(wanted: RequestFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.status_class is not None:
        lowest = min(max(wanted.status_class, 0), 9) * 100
        conditions.append(api_requests.c.status.between(lowest, lowest + 99))
    if wanted.only_errors:
        conditions.append(api_requests.c.status >= 400)
    if wanted.method is not None:
        conditions.append(api_requests.c.method == make_storable(wanted.method.upper()))
    if wanted.key_id is not None:
        conditions.append(api_requests.c.key_id == possible_id(wanted.key_id))
    words = make_storable(wanted.words.strip()[:LONGEST_PATH])
    if words:
        is_in_path = api_requests.c.path.icontains(words, autoescape=True)
        conditions.append(or_(is_in_path, api_requests.c.request_id == words))
    return conditions


def _find_floor(db: Connection, merchant_id: int, below: int) -> int | None:
    """Return the id of the first request that a filter does not reach."""
    return db.execute(
        select(api_requests.c.id)
        .where(api_requests.c.merchant_id == merchant_id, api_requests.c.id < below)
        .order_by(api_requests.c.id.desc())
        .offset(MOST_FILTERED)
        .limit(1)
    ).scalar()
