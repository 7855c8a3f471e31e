"""Where a merchant wants to be told of events, in which words, and how it knows that it is us."""

from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, select, update

from printworks.conversion import reader_of
from printworks.store.tables import merchants


class Secret(msgspec.Struct, frozen=True):
    """What callbacks are signed with, and until when; null is until further notice."""

    text: str
    until: datetime | None = None


# The secrets of a merchant, as they are kept.
read_secrets: Final = reader_of(list[Secret])


class CallbackSettings(msgspec.Struct, frozen=True):
    """What a merchant said about its callbacks."""

    url: str | None
    # Null is the format of the version that made the order.
    format: str | None
    # Newest first: at most two.
    secrets: list[Secret]


def read_callback_settings(db: Connection, merchant_id: int) -> CallbackSettings:
    """Return what a merchant said about its callbacks."""
    row = db.execute(_look(merchant_id)).one()
    return _show(row)


def lock_callback_settings(db: Connection, merchant_id: int) -> CallbackSettings:
    """Return what a merchant said about its callbacks, as it stays until the transaction ends."""
    row = db.execute(_look(merchant_id).with_for_update(key_share=True)).one()
    return _show(row)


def write_callback_settings(db: Connection, merchant_id: int, settings: CallbackSettings) -> None:
    """Remember what a merchant says about its callbacks."""
    db.execute(
        update(merchants)
        .where(merchants.c.id == merchant_id)
        .values(
            callback_url=settings.url,
            callback_format=settings.format,
            callback_secrets=msgspec.to_builtins(settings.secrets),
        )
    )


def _look(merchant_id: int) -> Any:
    return select(
        merchants.c.callback_url, merchants.c.callback_format, merchants.c.callback_secrets
    ).where(merchants.c.id == merchant_id)


def _show(row: Any) -> CallbackSettings:
    url, chosen, secrets = row
    return CallbackSettings(url, chosen, read_secrets(secrets))
