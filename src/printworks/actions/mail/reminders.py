"""Reminds merchants of what is overdue: once a week, or by steps that become firmer."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from printworks.actions.mail.notices import notify
from printworks.actions.work import SystemWork, Work
from printworks.errors import WrongState
from printworks.rules.mail import MailKind, NoticeFact, find_overdue, should_remind
from printworks.rules.reminders import find_due_step, find_tone, read_pause_reason
from printworks.store.mail.choices import list_readers
from printworks.store.money.accounts import (
    CreditAccount,
    find_oldest_unpaid,
    set_told,
    sum_charged_since,
)
from printworks.store.money.reminders import (
    NewReminder,
    add_reminder,
    find_last_reminder,
    read_reminder_standing,
    set_reminders_paused,
)


class ReminderTerms(msgspec.Struct, frozen=True):
    """How long merchants have to pay, and how many days after that each reminder is sent.

    Without such days they are reminded once a week.
    """

    payment_terms: timedelta
    days: Sequence[int] = ()


def remind_overdue(system: SystemWork, account: CreditAccount, terms: ReminderTerms) -> None:
    """Remind a merchant of what is overdue, if it is time for that.

    Idempotent: an overdue time begins once and ends when nothing is overdue any more, and what was
    sent in it is stored.
    """
    # Its ledger is written in its own time.
    now = system.real_now + account.clock_offset
    first_in_time = (now - terms.payment_terms).date()
    charged = sum_charged_since(system.db, account.id, first_in_time.isoformat())
    amount, since = find_overdue(account.balance, charged), account.overdue_since
    if not amount:
        if since is not None:
            set_told(system.db, account.id, overdue_told_at=None, overdue_since=None)
        return
    if since is None:
        since = now
        set_told(system.db, account.id, overdue_since=since)
    if account.reminders_paused:
        return
    if terms.days:
        _take_step(system, _Overdue(account, amount, since, now, first_in_time), terms.days)
    elif should_remind(account.overdue_told_at, now=system.real_now):
        _tell(system, account, _describe(account, amount))


class _Overdue(NamedTuple):
    """What a merchant owes for too long."""

    account: CreditAccount
    amount: int
    since: datetime
    # In its own time.
    now: datetime
    # Whatever was charged before this day is overdue.
    first_in_time: date


def _take_step(system: SystemWork, owed: _Overdue, days: Sequence[int]) -> None:
    """Send the next reminder if it is due."""
    account, today = owed.account, owed.now.date()
    oldest = find_oldest_unpaid(system.db, account.id, account.balance)
    overdue_for = owed.first_in_time - oldest
    last = find_last_reminder(system.db, account.id, owed.since)
    step = find_due_step(
        days,
        overdue_days=overdue_for.days,
        sent=last.step if last else 0,
        days_since=(today - last.sent_at.date()).days if last else 0,
    )
    if step is None:
        return
    new = NewReminder(
        merchant_id=account.id,
        overdue_since=owed.since,
        step=step,
        tone=find_tone(step, len(days)),
        amount=owed.amount,
        currency=account.currency,
        due_on=(today - overdue_for).isoformat(),
        readers=len(list_readers(system.db, account.id, MailKind.OVERDUE)),
        sent_at=owed.now,
    )
    add_reminder(system.db, new)
    fact = _describe(account, owed.amount)
    _tell(system, account, replace(fact, tone=new.tone, due_on=today - overdue_for))


def _describe(account: CreditAccount, amount: int) -> NoticeFact:
    return NoticeFact(
        amount=amount,
        currency=account.currency,
        merchant=account.name,
        merchant_code=account.code,
    )


def _tell(system: SystemWork, account: CreditAccount, fact: NoticeFact) -> None:
    notify(system, account.id, MailKind.OVERDUE, [fact])
    notify(system, None, MailKind.MERCHANTS_OVERDUE, [fact])
    set_told(system.db, account.id, overdue_told_at=system.real_now)


def pause_reminders(work: Work, reason: str) -> None:
    """Remind a merchant of nothing until somebody lets that go on."""
    why = read_pause_reason(reason)
    set_reminders_paused(work.db, work.merchant.id, why)
    work.audit("pause-reminders", work.merchant.code, reason=why)


def resume_reminders(work: Work) -> None:
    """Remind a merchant again of what is overdue."""
    if not read_reminder_standing(work.db, work.merchant.id).reminders_paused:
        raise WrongState("The reminders of this merchant are not paused.")
    set_reminders_paused(work.db, work.merchant.id, "")
    work.audit("resume-reminders", work.merchant.code)
