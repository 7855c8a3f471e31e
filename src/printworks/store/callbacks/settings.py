"""A merchant's callback settings: the URL, the format and the signing secrets."""

from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, select, update

from printworks.conversion import reader_of
from printworks.store.tables import merchants


class SigningSecret(msgspec.Struct, frozen=True):
    """A signing secret as it is stored: sealed, and how it ends, for people to recognise it."""

    sealed: str
    hint: str
    # When it expires; null is never.
    until: datetime | None = None

    def is_valid(self, now: datetime) -> bool:
        """Whether callbacks are signed with it."""
        return self.until is None or self.until > now


# Reads a merchant's secrets as they are stored.
read_secrets: Final = reader_of(list[SigningSecret])


class CallbackSettings(msgspec.Struct, frozen=True):
    """The callback settings of a merchant."""

    url: str | None
    # Null is the format of the API version that created the order.
    format: str | None
    # Newest first: at most two.
    secrets: list[SigningSecret]


def read_callback_settings(db: Connection, merchant_id: int) -> CallbackSettings:
    return _read(db.execute(_select(merchant_id)).one())


def lock_callback_settings(db: Connection, merchant_id: int) -> CallbackSettings:
    return _read(db.execute(_select(merchant_id).with_for_update(key_share=True)).one())


def write_callback_settings(db: Connection, merchant_id: int, settings: CallbackSettings) -> None:
    db.execute(
        update(merchants)
        .where(merchants.c.id == merchant_id)
        .values(
            callback_url=settings.url,
            callback_format=settings.format,
            callback_secrets=msgspec.to_builtins(settings.secrets),
        )
    )


def _select(merchant_id: int) -> Any:
    return select(
        merchants.c.callback_url, merchants.c.callback_format, merchants.c.callback_secrets
    ).where(merchants.c.id == merchant_id)


def _read(row: Any) -> CallbackSettings:
    url, chosen, secrets = row
    return CallbackSettings(url, chosen, read_secrets(secrets))
