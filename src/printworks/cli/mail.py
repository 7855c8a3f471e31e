"""`printworks mail`: send a test, see what was sent, send one again."""

import secrets
from typing import Annotated, Any

import typer

from printworks.actions.brand import read_mail_logo
from printworks.actions.mail.composing import compose_test, write_subject
from printworks.actions.mail.writing import resend_mail
from printworks.cli.options import Limit
from printworks.cli.output import Columns, pick
from printworks.cli.session import CommandSession, command
from printworks.clock import system_clock
from printworks.errors import WrongState
from printworks.mail.smtp import open_mailer
from printworks.rules.mail import MailState
from printworks.rules.people import read_email
from printworks.store.accounts.brand import read_brand
from printworks.store.mail.mails import MailSearch, search_mails

app = typer.Typer(no_args_is_help=True)


@command(app, "test")
def send_test(
    session: CommandSession,
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="Who gets the email.")],
) -> None:
    """Send an email now, and say what the mail server answers."""
    settings, email = session.settings, read_email(address)
    mailer = open_mailer(settings)
    if mailer is None:
        raise WrongState("No mail server is set: set `smtp_host` and `mail_from`.")
    message_id = f"{secrets.token_hex(16)}@{settings.mail_from.rpartition('@')[2]}"
    with session.reading() as db:
        stored = read_brand(db)
    message = compose_test(
        settings,
        stored.brand,
        email,
        now=system_clock(),
        message_id=message_id,
        logo=read_mail_logo(stored, session.services.files) if stored.logo else None,
    )
    mailer.send(message)
    place = f"{settings.smtp_host}:{settings.smtp_port}"
    session.done(f"{place} has taken an email to {email}.", email=email, messageId=message_id)


@command(app, "list")
def list_newest(
    session: CommandSession,
    *,
    address: Annotated[str, typer.Option(help="Only to addresses that begin like this.")] = "",
    state: Annotated[MailState | None, typer.Option(help="Only emails in this state.")] = None,
    limit: Limit = 50,
) -> None:
    """List emails, the newest first."""
    with session.reading() as db:
        search = MailSearch(email=address, state=state)
        found = search_mails(db, search, limit=limit + 1).mails
        brand = read_brand(db).brand
    columns: Columns = {
        **{name: name for name in ("id", "kind", "email", "state", "subject")},
        "written": "createdAt",
        "sent": "sentAt",
        "error": lambda mail: (mail["error"] or "")[:60],
    }
    mails: list[dict[str, Any]] = [
        {
            **pick(mail, "id", "kind", "email", "state", "created_at", "sent_at", "error"),
            "subject": write_subject(session.settings, brand, mail),
        }
        for mail in found
    ]
    session.show_list(mails, columns, "There is no such email.", limit=limit)


@command(app, "resend")
def resend(
    session: CommandSession,
    mail_id: Annotated[int, typer.Argument(metavar="MAIL", help="The number of the email.")],
) -> None:
    """Send an email again, or for the first time if that failed."""
    with session.system_work() as system:
        mail = resend_mail(system, mail_id)
    session.done(f"Email {mail.id} to {mail.email} is sent again.", id=mail.id, email=mail.email)
