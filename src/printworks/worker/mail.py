"""Sends mail, and writes those that are about several things."""

from collections.abc import Sequence
from datetime import datetime
from email.message import EmailMessage
from typing import Final, NamedTuple

import structlog
from sqlalchemy import Connection

from printworks.actions.brand import read_mail_logo
from printworks.actions.mail import accounts, notices
from printworks.actions.mail.composing import compose_mail
from printworks.actions.mail.reminders import ReminderTerms
from printworks.errors import NotFound
from printworks.mail.messages import BadRecipient
from printworks.mail.transport import MailRefused, MailUnavailable
from printworks.rules.jobs import PermanentFailure
from printworks.rules.mail import MailKind, MailState
from printworks.store.accounts.brand import read_brand
from printworks.store.accounts.people import get_person
from printworks.store.mail.mails import Mail, end_mail, find_mail, note_error
from printworks.store.queue.jobs import Job
from printworks.worker.context import Completion, Context
from printworks.worker.resources import infrastructure_errors

_TOO_LATE: Final = "It could not be sent in time."
_NO_SERVER: Final = "No mail server is set any more."

log = structlog.get_logger()


class _Ended(NamedTuple):
    mail_id: int
    state: MailState
    error: str = ""


async def send_mail(context: Context, job: Job) -> Completion | None:
    """Hand a mail to the mail server.

    Idempotent: a mail that has ended is not sent again. SMTP has no way to ask whether a mail was
    taken, so one whose worker dies between the server's answer and writing it down is sent twice,
    with the same Message-ID, by which mail programs recognise it.
    """
    with infrastructure_errors():
        mail = await context.in_thread(_find, context, job.args["mail"])
        if mail is None or mail.state is not MailState.WAITING:
            return None
        if context.clock() >= mail.send_before:
            return _complete(_Ended(mail.id, MailState.FAILED, _TOO_LATE))
        mailer = context.services.mailer
        if mailer is None:
            return _complete(_Ended(mail.id, MailState.FAILED, _NO_SERVER))
        try:
            message = await context.in_thread(_compose, context, mail)
            await context.in_mail_pool(mailer.send, message)
        except (MailRefused, BadRecipient) as error:
            ended = _Ended(mail.id, MailState.FAILED, str(error))
            await context.in_thread(_write, context, ended)
            raise PermanentFailure(_say_where(mail, "was refused for good")) from None
        except MailUnavailable as error:
            await context.in_thread(_note, context, mail, str(error))
            raise MailUnavailable(_say_where(mail, "was not taken")) from None
    # Without the address, which is personal.
    log.info("mail sent", mail=mail.id, about=mail.kind)
    return _complete(_Ended(mail.id, MailState.SENT))


def _say_where(mail: Mail, what: str) -> str:
    # What servers say often has the address in it, which is personal and does not belong in logs.
    return f"Email {mail.id} {what}; its page in the console says why."


def _find(context: Context, mail_id: int) -> Mail | None:
    with context.database.reading() as db:
        return find_mail(db, mail_id)


def _compose(context: Context, mail: Mail) -> EmailMessage:
    services = context.services
    with context.database.reading() as db:
        stored = read_brand(db)
    # Whoever has no logo needs no files to send a mail.
    logo = read_mail_logo(stored, services.files) if stored.logo else None
    with context.database.reading() as db:
        return compose_mail(
            services.settings, db, services.vault, mail, now=context.clock(), logo=logo
        )


def _complete(ended: _Ended) -> Completion:
    return Completion(_write_ends, ended)


def _write_ends(db: Connection, ends: Sequence[_Ended], now: datetime) -> None:
    for one in ends:
        end_mail(db, one.mail_id, one.state, now=now, error=one.error)


def _write(context: Context, ended: _Ended) -> None:
    with context.database.writing() as db:
        _write_ends(db, [ended], context.clock())


def _note(context: Context, mail: Mail, error: str) -> None:
    with context.database.writing() as db:
        note_error(db, mail.id, error)


async def write_notices(context: Context, job: Job) -> None:
    """Write the mails about what happened lately. Idempotent: each thing is told once."""
    with infrastructure_errors():
        await context.in_thread(_write_notices, context, job)


def _write_notices(context: Context, job: Job) -> None:
    with context.database.writing() as db:
        work = context.system_work(db, job)
        notices.write_notices(work, job.args["merchant"], MailKind(job.args["kind"]))


async def start_reset(context: Context, job: Job) -> None:
    """Send a link to somebody who forgot the password, if there is such a person.

    Idempotent: a mail names the job that it was written for, and is written once.
    """
    with infrastructure_errors():
        await context.in_thread(_start_reset, context, job)


def _start_reset(context: Context, job: Job) -> None:
    with context.database.writing() as db:
        try:
            person = get_person(db, job.args["person"])
        except NotFound:
            return
        accounts.start_reset(context.system_work(db, job), person, cause=f"job {job.id}")


async def check_accounts(context: Context, _job: Job) -> None:
    """Tell merchants of low credit and overdue payments. Idempotent: who was told is stored."""
    with infrastructure_errors():
        await context.in_thread(_check_accounts, context)


def _check_accounts(context: Context) -> None:
    settings = context.settings
    with context.database.writing() as db:
        accounts.check_accounts(
            context.system_work(db),
            low_percent=settings.low_credit_percent,
            reminders=ReminderTerms(settings.payment_terms, settings.reminder_steps),
        )
