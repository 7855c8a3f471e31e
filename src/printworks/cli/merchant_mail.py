"""`printworks merchant mail`: how a merchant, its people and its recipients are written to."""

from typing import Annotated, Final

import msgspec
import typer

from printworks.actions.mail.choices import change_mail_settings
from printworks.cli.options import MerchantId
from printworks.cli.output import align
from printworks.cli.session import CommandSession, command
from printworks.rules.languages import Language
from printworks.store.mail.settings import MailSettings, read_mail_settings

app = typer.Typer()

_USUAL: Final = "usual"
_CHOICES: Final = f"{'|'.join(Language)}|{_USUAL}"


@command(app, "mail")
def show_mail_settings(
    session: CommandSession,
    merchant_id: MerchantId,
    *,
    language: Annotated[
        str | None,
        typer.Option(metavar=_CHOICES, help="Of emails to its people; `usual` is the operator's."),
    ] = None,
    recipients: Annotated[
        bool | None, typer.Option(help="Whether its recipients are told of their parcels.")
    ] = None,
    recipient_language: Annotated[
        str | None,
        typer.Option(metavar=_CHOICES, help="Of those emails; `usual` is that of their country."),
    ] = None,
    reply_to: Annotated[
        str | None, typer.Option(help="Where recipients reply to; empty for the operator.")
    ] = None,
) -> None:
    """Show how a merchant, its people and its recipients are written to, and change that."""
    with session.work(merchant_id) as work:
        known = read_mail_settings(work.db, work.merchant.id)
        wanted = msgspec.structs.replace(
            known,
            language=_read(language, known.language),
            writes_to_recipients=known.writes_to_recipients if recipients is None else recipients,
            recipient_language=_read(recipient_language, known.recipient_language),
            recipient_reply_to=known.recipient_reply_to if reply_to is None else reply_to,
        )
        change_mail_settings(work, wanted)
        now = read_mail_settings(work.db, work.merchant.id)
    _show(session, now)


def _show(session: CommandSession, now: MailSettings) -> None:
    facts = {
        "language": now.language,
        "recipients": now.writes_to_recipients,
        "recipientLanguage": now.recipient_language,
        "replyTo": now.recipient_reply_to,
    }
    texts = {
        "language": now.language or session.settings.mail_language,
        "recipients are told": now.writes_to_recipients,
        "language of recipients": now.recipient_language or "that of their country",
        "they reply to": now.recipient_reply_to or "the operator",
    }
    session.show(facts, *align(texts))


def _read(said: str | None, now: Language | None) -> Language | None:
    if said is None:
        return now
    if said == _USUAL:
        return None
    if said not in set(Language):
        raise typer.BadParameter(f"A language is one of: {_CHOICES}.")
    return Language(said)
