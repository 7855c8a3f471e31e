"""A merchant's callback settings: the URL, the format and the signing secrets."""

from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, func, select, update

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


class CallbackCandidate(msgspec.Struct, frozen=True):
    """A new address that is used once its owner has answered the challenge."""

    url: str
    # When it was given, or its challenge was asked for again, in real time.
    since: datetime
    failures: int = 0
    # Why the last challenge failed; null before.
    error: str | None = None
    # Whether it is not challenged any more, unless somebody asks for it.
    is_over: bool = False


_read_candidate: Final = reader_of(CallbackCandidate | None)


class CallbackSettings(msgspec.Struct, frozen=True):
    """The callback settings of a merchant."""

    url: str | None
    # Null is the format of the API version that created the order.
    format: str | None
    # Newest first: at most two.
    secrets: list[SigningSecret]
    candidate: CallbackCandidate | None = None
    # Whether the operator vouches for its addresses.
    is_trusted: bool = False


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
            callback_candidate=msgspec.to_builtins(settings.candidate),
            callback_is_trusted=settings.is_trusted,
        )
    )


def count_unencrypted(db: Connection) -> int:
    """Return how many merchants have their callbacks sent to an http address."""
    plain = func.lower(merchants.c.callback_url).like("http://%")
    return int(db.execute(select(func.count()).select_from(merchants).where(plain)).scalar_one())


def _select(merchant_id: int) -> Any:
    return select(
        merchants.c.callback_url,
        merchants.c.callback_format,
        merchants.c.callback_secrets,
        merchants.c.callback_candidate,
        merchants.c.callback_is_trusted,
    ).where(merchants.c.id == merchant_id)


def _read(row: Any) -> CallbackSettings:
    url, chosen, secrets, candidate, is_trusted = row
    return CallbackSettings(
        url, chosen, read_secrets(secrets), _read_candidate(candidate), is_trusted
    )
