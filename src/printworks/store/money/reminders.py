"""Reminders: which were sent to a merchant, and whether they are paused."""

from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, insert, select, update

from printworks.rules.reminders import ReminderTone
from printworks.store.engine.rows import columns_of, find_struct, list_structs
from printworks.store.tables import merchants, reminders


class NewReminder(msgspec.Struct, frozen=True, kw_only=True):
    """A reminder that is about to be sent, and why."""

    merchant_id: int
    overdue_since: datetime
    step: int
    tone: ReminderTone
    amount: int
    currency: str
    # In ISO 8601.
    due_on: str
    # How many people of the merchant are told.
    readers: int
    sent_at: datetime


class Reminder(msgspec.Struct, frozen=True):
    """A reminder that was sent, unless nobody wants to be told."""

    step: int
    tone: ReminderTone
    amount: int
    currency: str
    due_on: str
    readers: int
    sent_at: datetime


class ReminderStanding(msgspec.Struct, frozen=True):
    """Since when a merchant is overdue, if it is, and why it is not reminded; empty if it is."""

    overdue_since: datetime | None
    reminders_paused: str


_COLUMNS: Final = columns_of(reminders, Reminder)
_STANDING: Final = columns_of(merchants, ReminderStanding)


def add_reminder(db: Connection, new: NewReminder) -> None:
    """Store a reminder; whoever would send the same one at the same time fails here."""
    db.execute(insert(reminders).values(**msgspec.structs.asdict(new)))


def find_last_reminder(
    db: Connection, merchant_id: int, overdue_since: datetime
) -> Reminder | None:
    """Return the latest step of an overdue time."""
    query = select(*_COLUMNS).where(
        reminders.c.merchant_id == merchant_id, reminders.c.overdue_since == overdue_since
    )
    return find_struct(db, Reminder, query.order_by(reminders.c.step.desc()).limit(1))


def list_reminders(db: Connection, merchant_id: int, *, limit: int) -> list[Reminder]:
    """Return the reminders that a merchant was sent, newest first."""
    query = (
        select(*_COLUMNS)
        .where(reminders.c.merchant_id == merchant_id)
        .order_by(reminders.c.overdue_since.desc(), reminders.c.step.desc())
        .limit(limit)
    )
    return list_structs(db, Reminder, query)


def read_reminder_standing(db: Connection, merchant_id: int) -> ReminderStanding:
    query = select(*_STANDING).where(merchants.c.id == merchant_id)
    return ReminderStanding(*db.execute(query).one())


def set_reminders_paused(db: Connection, merchant_id: int, reason: str) -> None:
    """Pause reminders; without a reason they go on."""
    paused = update(merchants).where(merchants.c.id == merchant_id)
    db.execute(paused.values(reminders_paused=reason))
