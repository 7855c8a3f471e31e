"""What merchants can do about their callbacks: say where to, prove them, and get them again."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import Connection

from printworks.errors import BadInput, WrongState
from printworks.net.errors import BadAddress
from printworks.net.urls import read_url
from printworks.rules.callbacks import CallbackFormat
from printworks.store.accounts.merchants import Merchant
from printworks.store.callbacks import callbacks as store
from printworks.store.callbacks.replay import find_number_since, list_page, send_callbacks_again
from printworks.store.callbacks.settings import (
    CallbackSettings,
    Secret,
    lock_callback_settings,
    read_callback_settings,
    write_callback_settings,
)
from printworks.wire.signatures import make_secret

# How long the secret before the newest is used too: time to tell it to every receiver.
OLD_SECRET_FOR: Final = timedelta(hours=24)
# What one transaction sends again; whoever wants more asks again.
REPLAYED_AT_ONCE: Final = 500

NO_ADDRESS: Final = "There is no callback address; set one first."


class Replayed(NamedTuple):
    """How many are sent again, and with which number to go on; null at the end."""

    sent: int
    go_on_at: int | None


def set_callback(
    db: Connection,
    merchant: Merchant,
    url: str | None,
    format: CallbackFormat | None = None,  # noqa: A002  (what it is called everywhere)
) -> CallbackSettings:
    """Tell the merchant of events at this address from now on; None tells it of none.

    Without a format, each order is told of in that of the version that made it. What waits to be
    sent goes to the new address too.
    """
    if url is not None:
        _check_address(url)
    known = lock_callback_settings(db, merchant.id)
    secrets = known.secrets or ([Secret(make_secret())] if url else [])
    settings = CallbackSettings(url, format, secrets)
    write_callback_settings(db, merchant.id, settings)
    return settings


def _check_address(url: str) -> None:
    try:
        read_url(url)
    except BadAddress as error:
        raise BadInput(error.message) from error


def rotate_secret(db: Connection, merchant: Merchant, *, now: datetime) -> CallbackSettings:
    """Sign callbacks with a new secret, and for a day with the last one too.

    `now` is the real time: receivers know no other.
    """
    known = lock_callback_settings(db, merchant.id)
    old = [Secret(one.text, now + OLD_SECRET_FOR) for one in known.secrets[:1]]
    settings = CallbackSettings(known.url, known.format, [Secret(make_secret()), *old])
    write_callback_settings(db, merchant.id, settings)
    return settings


def send_again(db: Connection, merchant: Merchant, callback_id: int, *, now: datetime) -> None:
    """Send a callback now, whatever became of it before, with all its attempts.

    `now` is the merchant's time, here and below.
    """
    store.get_callback(db, merchant.id, callback_id)
    _require_address(db, merchant)
    _send(db, merchant, [callback_id], now=now)


def resend_failed(db: Connection, merchant: Merchant, *, now: datetime) -> int:
    """Send what was given up again, the newest of it; return how many there are."""
    _require_address(db, merchant)
    given_up = store.list_callbacks(db, merchant.id, is_failed=True, limit=REPLAYED_AT_ONCE)
    return _send(db, merchant, [callback.id for callback in given_up], now=now)


def replay(db: Connection, merchant: Merchant, *, since: datetime | int, now: datetime) -> Replayed:
    """Send all callbacks since a moment again, or from a number on: a page of them.

    Call it again with the number it returns, in a transaction of its own, until there is none.
    """
    _require_address(db, merchant)
    last = store.count_events(db, merchant.id)
    first = since
    if isinstance(first, datetime):
        first = find_number_since(db, merchant.id, count=last, since=first)
    page = list_page(db, merchant.id, first=first, last=last, limit=REPLAYED_AT_ONCE)
    sent = _send(db, merchant, [row.id for row in page], now=now)
    is_end = len(page) < REPLAYED_AT_ONCE or page[-1].number == last
    return Replayed(sent, None if is_end else page[-1].number + 1)


def send_test(db: Connection, merchant: Merchant, *, now: datetime) -> int:
    """Send an example to the merchant's address, once, and return the id of that callback."""
    _require_address(db, merchant)
    return store.add_test(db, merchant, now=now)


def _require_address(db: Connection, merchant: Merchant) -> None:
    if read_callback_settings(db, merchant.id).url is None:
        raise WrongState(NO_ADDRESS)


def _send(db: Connection, merchant: Merchant, ids: list[int], *, now: datetime) -> int:
    return send_callbacks_again(db, ids, now=now, real_now=now - merchant.clock_offset)
