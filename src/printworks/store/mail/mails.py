"""Mails: written with what causes them, sent by a worker, listed for those whom they concern."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, select, update

from printworks.conversion import reader_of
from printworks.rules.languages import Language
from printworks.rules.mail import MailFacts, MailKind, MailState
from printworks.store.engine.columns import spelled_out
from printworks.store.engine.purging import delete_oldest
from printworks.store.engine.rows import (
    columns_of,
    cut_page,
    find_struct,
    get_struct,
    list_structs,
    newest_first,
    possible_id,
)
from printworks.store.engine.upsert import insert_unless_there
from printworks.store.tables import mails

_read_facts: Final = reader_of(MailFacts)
# The part of what a mail server said that is stored.
_LONGEST_ERROR: Final = 500
_LATE: Final = "It could not be sent in time."


class NewMail(msgspec.Struct, frozen=True, kw_only=True):
    """A mail that is about to be written."""

    message_id: str
    kind: MailKind
    email: str
    language: Language
    facts: MailFacts
    send_before: datetime
    name: str = ""
    # Sealed.
    secret: str | None = None
    merchant_id: int | None = None
    person_id: int | None = None
    order_id: int | None = None
    cause: str | None = None


class Mail(msgspec.Struct, frozen=True):
    """A mail, and what has become of it."""

    id: int
    message_id: str
    kind: MailKind
    state: MailState
    email: str
    name: str
    language: Language
    # As they are stored.
    stored_facts: Any
    secret: str | None
    merchant_id: int | None
    person_id: int | None
    order_id: int | None
    error: str | None
    created_at: datetime
    send_before: datetime
    sent_at: datetime | None

    @property
    def facts(self) -> MailFacts:
        return _read_facts(self.stored_facts)


class MailPage(msgspec.Struct, frozen=True):
    """Some of the mails, newest first."""

    mails: list[Mail]
    # Below which the next page begins; None if there is none.
    next: int | None


class MailSearch(msgspec.Struct, frozen=True):
    """Which mails are wanted; None is any."""

    # How the address begins.
    email: str = ""
    state: MailState | None = None
    merchant_id: int | None = None
    # Kinds that are not for whoever searches.
    hidden: Sequence[MailKind] = ()


_COLUMNS: Final = columns_of(mails, Mail, stored_facts=mails.c.facts)
# After every text that begins like another.
_LAST_CHARACTER: Final = "\U0010ffff"


def insert_mail(db: Connection, new: NewMail, *, now: datetime) -> int | None:
    """Add a mail and return its id; None if one with the same cause was written before."""
    values = {**msgspec.structs.asdict(new), "facts": msgspec.to_builtins(new.facts)}
    values |= {"state": MailState.WAITING, "created_at": now}
    if not insert_unless_there(db, mails, **values):
        return None
    wanted = select(mails.c.id).where(mails.c.message_id == new.message_id)
    return int(db.execute(wanted).scalar_one())


def is_written(db: Connection, cause: str) -> bool:
    """Return whether a mail was written for this cause."""
    return db.execute(select(mails.c.id).where(mails.c.cause == cause)).first() is not None


def find_mail(db: Connection, mail_id: int) -> Mail | None:
    return find_struct(db, Mail, select(*_COLUMNS).where(mails.c.id == possible_id(mail_id)))


def get_mail_to_change(db: Connection, mail_id: int) -> Mail:
    """Return a mail, and lock its row until the transaction ends."""
    wanted = select(*_COLUMNS).where(mails.c.id == possible_id(mail_id)).with_for_update()
    return get_struct(db, Mail, wanted, missing=f"There is no email {mail_id}.")


def get_mail(
    db: Connection,
    mail_id: int,
    *,
    merchant_id: int | None = None,
    hidden: Sequence[MailKind] = (),
) -> Mail:
    """Return a mail: any, or one of a merchant, but none of the kinds that are hidden."""
    wanted = select(*_COLUMNS).where(mails.c.id == possible_id(mail_id))
    if merchant_id is not None:
        wanted = wanted.where(mails.c.merchant_id == merchant_id)
    if hidden:
        wanted = wanted.where(mails.c.kind.not_in(hidden))
    return get_struct(db, Mail, wanted, missing=f"There is no email {mail_id}.")


def search_mails(
    db: Connection, search: MailSearch, *, before: int | None = None, limit: int
) -> MailPage:
    """Return mails, newest first; `before` is the `next` of the page before."""
    fits: list[ColumnElement[bool]] = []
    if search.merchant_id is not None:
        fits.append(mails.c.merchant_id == search.merchant_id)
    if search.state is not None:
        fits.append(mails.c.state == spelled_out(search.state))
    if search.hidden:
        fits.append(mails.c.kind.not_in(search.hidden))
    if search.email:
        # PostgreSQL raises an error for a zero byte, and no address has one.
        text = search.email.replace("\0", "").lower()
        fits += [mails.c.email >= text, mails.c.email < text + _LAST_CHARACTER]
    query = newest_first(select(*_COLUMNS).where(*fits), mails.c.id, before=before, limit=limit + 1)
    return MailPage(*cut_page(list_structs(db, Mail, query), limit, lambda mail: mail.id))


def end_mail(db: Connection, mail_id: int, state: MailState, *, now: datetime, error: str) -> bool:
    """Store that a mail was sent, or never will be, unless that is known; its secret is deleted."""
    ended = (
        update(mails)
        .where(mails.c.id == mail_id, mails.c.state == spelled_out(MailState.WAITING))
        .values(
            state=state,
            secret=None,
            error=error[:_LONGEST_ERROR] or None,
            sent_at=now if state is MailState.SENT else None,
        )
    )
    return db.execute(ended).rowcount == 1


def note_error(db: Connection, mail_id: int, error: str) -> None:
    """Store why a mail could not be sent yet."""
    db.execute(update(mails).where(mails.c.id == mail_id).values(error=error[:_LONGEST_ERROR]))


def send_again(db: Connection, mail_id: int, *, send_before: datetime) -> None:
    """Let a mail wait to be sent once more."""
    values = {"state": MailState.WAITING, "error": None, "send_before": send_before}
    db.execute(update(mails).where(mails.c.id == mail_id).values(**values))


def end_late_mails(db: Connection, *, now: datetime, limit: int) -> int:
    """End mails that nobody sends any more, such as after a job was cancelled; return how many."""
    is_waiting = mails.c.state == spelled_out(MailState.WAITING)
    late = select(mails.c.id).where(is_waiting, mails.c.send_before <= now).limit(limit)
    values = {"state": MailState.FAILED, "secret": None, "error": _LATE}
    return db.execute(update(mails).where(mails.c.id.in_(late)).values(**values)).rowcount


def purge_mails(db: Connection, *, before: datetime, limit: int) -> int:
    """Delete mails that were written before then, the oldest first; return how many."""
    return delete_oldest(db, mails.c.created_at, mails.c.created_at < before, limit=limit)
