"""What programs asked lately, and when each key was last shown."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from sqlalchemy import (
    ColumnElement,
    Connection,
    bindparam,
    delete,
    or_,
    select,
    text,
    update,
)

from printworks.store.engine.columns import Timestamp
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.tables import api_keys, api_requests

LONGEST_PATH: Final = 500
# Among so many requests a filter looks at once: a merchant may have made millions.
LOOKED_THROUGH: Final = 20_000
# The last use of a key is noted no more often than this.
KEY_USES_APART: Final = timedelta(minutes=1)
# No row has a higher number, and PostgreSQL refuses to compare with one that is.
_HIGHEST_ID: Final = 2**63 - 1


class NewRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a program asked and how it was answered, to be written down."""

    merchant_id: int
    at: datetime
    method: str
    # As it was asked for, without the query string, which may hold anything.
    path: str
    status: int
    milliseconds: int
    # Chosen by the program if it likes, and so perhaps not the only one.
    request_id: str


class ApiRequest(NewRequest, frozen=True, kw_only=True):
    """A request that was written down."""

    id: int


class RequestFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which requests to show; what is left out does not matter."""

    # The first digit of the status.
    status_class: int | None = None
    # Whatever was refused or failed.
    only_errors: bool = False
    method: str | None = None
    # Part of the path, in any case, or a whole request id.
    words: str = ""


class RequestPage(msgspec.Struct, frozen=True):
    """Some requests, newest first."""

    requests: list[ApiRequest]
    # From where to go on with `before`; null if there is nothing older. A page with a filter may
    # be short, or empty, and still have older ones.
    older: int | None


_COLUMNS: Final = [api_requests.c[name] for name in ApiRequest.__struct_fields__]
_MOMENT: Final = Timestamp()
# One statement for many rows, which come as one JSON text: after each row of several statements
# the thread would have to wait for the interpreter, and whoever wants to write for the thread.
_WRITE: Final = {
    "sqlite": PreparedStatement(
        text("""
        INSERT INTO api_requests (merchant_id, at, method, path, status, milliseconds, request_id)
        SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
            value ->> 6
        FROM json_each(:rows)
    """)
    ),
    "postgresql": PreparedStatement(
        text("""
        INSERT INTO api_requests (merchant_id, at, method, path, status, milliseconds, request_id)
        SELECT CAST(value ->> 0 AS bigint), CAST(value ->> 1 AS timestamptz), value ->> 2,
            value ->> 3, CAST(value ->> 4 AS integer), CAST(value ->> 5 AS integer), value ->> 6
        FROM json_array_elements(CAST(:rows AS json))
    """)
    ),
}
# Somebody who changes the keys meanwhile must wait for nobody: those are left for the next time.
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
    """Return a text with what no database can hold, such as a zero byte, replaced."""
    words = words.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    if words.isascii():
        return words
    return words.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def write_requests(db: Connection, requests: Sequence[NewRequest]) -> None:
    """Write down what was asked, oldest first."""
    if not requests:
        return
    rows = [
        (
            request.merchant_id,
            _MOMENT.process_bind_param(request.at, db.dialect),
            request.method,
            make_storable(request.path[:LONGEST_PATH]),
            request.status,
            request.milliseconds,
            request.request_id,
        )
        for request in requests
    ]
    _WRITE[db.dialect.name].run(db, {"rows": msgspec.json.encode(rows).decode()})


def note_key_uses(db: Connection, uses: Mapping[str, datetime]) -> None:
    """Note when keys, by their hashes, were last shown; not those noted within a minute."""
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
    """Return what a merchant's programs asked, newest first, from below the number `before` on.

    A filter looks through so many requests and no more; the page says where to go on.
    """
    below = _HIGHEST_ID if before is None else min(max(before, 0), _HIGHEST_ID)
    conditions = [] if wanted is None else _list_conditions(wanted)
    floor = _find_floor(db, merchant_id, below) if conditions else None
    rows = _look(db, merchant_id, below, floor, conditions, limit=limit + 1)
    if len(rows) > limit:
        return RequestPage(rows[:limit], rows[limit - 1].id)
    return RequestPage(rows, None if floor is None else floor + 1)


def forget_requests(db: Connection, *, before: datetime, limit: int) -> int:
    """Forget the oldest requests, and return how many those are."""
    oldest = (
        select(api_requests.c.id)
        .where(api_requests.c.at < before)
        .order_by(api_requests.c.at)
        .limit(limit)
    )
    return db.execute(delete(api_requests).where(api_requests.c.id.in_(oldest))).rowcount


def _list_conditions(wanted: RequestFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if wanted.status_class is not None:
        lowest = min(max(wanted.status_class, 0), 9) * 100
        conditions.append(api_requests.c.status.between(lowest, lowest + 99))
    if wanted.only_errors:
        conditions.append(api_requests.c.status >= 400)
    if wanted.method is not None:
        conditions.append(api_requests.c.method == make_storable(wanted.method.upper()))
    words = make_storable(wanted.words.strip()[:LONGEST_PATH])
    if words:
        is_in_path = api_requests.c.path.icontains(words, autoescape=True)
        conditions.append(or_(is_in_path, api_requests.c.request_id == words))
    return conditions


def _find_floor(db: Connection, merchant_id: int, below: int) -> int | None:
    """Return the number of the first request that is too far down to be looked at."""
    return db.execute(
        select(api_requests.c.id)
        .where(api_requests.c.merchant_id == merchant_id, api_requests.c.id < below)
        .order_by(api_requests.c.id.desc())
        .offset(LOOKED_THROUGH)
        .limit(1)
    ).scalar()


def _look(
    db: Connection,
    merchant_id: int,
    below: int,
    floor: int | None,
    conditions: Sequence[ColumnElement[bool]],
    *,
    limit: int,
) -> list[ApiRequest]:
    query = (
        select(*_COLUMNS)
        .where(api_requests.c.merchant_id == merchant_id, api_requests.c.id < below, *conditions)
        .order_by(api_requests.c.id.desc())
        .limit(limit)
    )
    if floor is not None:
        query = query.where(api_requests.c.id > floor)
    rows: Sequence[Any] = db.execute(query).all()
    return [ApiRequest(**row._mapping) for row in rows]
