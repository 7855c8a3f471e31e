"""What people and merchants choose about mail."""

from collections.abc import Collection

import msgspec

from printworks.actions.work import SystemWork, Work
from printworks.errors import BadInput
from printworks.rules.mail import MailKind, find_address, list_choices
from printworks.store.accounts.people import Person, get_person_to_change
from printworks.store.mail.choices import refuse_mails, write_choice
from printworks.store.mail.settings import (
    MailSettings,
    read_mail_settings,
    write_mail_settings,
)


def choose_mails(work: SystemWork, person: Person, wanted: Collection[MailKind]) -> None:
    """Tell a person of these things and of no others."""
    for kind in list_choices(person.realm, person.role):
        write_choice(work.db, person.id, kind, is_wanted=kind in wanted)
    work.audit("choose-mails", wanted=sorted(wanted))


def change_mail_settings(work: Work, settings: MailSettings) -> None:
    """Change how a merchant, its people and its recipients are written to."""
    reply_to = settings.recipient_reply_to.strip()
    if reply_to and find_address(reply_to) is None:
        message = "Enter an email address for replies, such as hello@example.com, or none."
        raise BadInput(message, field="recipient_reply_to")
    tidied = msgspec.structs.replace(settings, recipient_reply_to=find_address(reply_to) or "")
    before = read_mail_settings(work.db, work.merchant.id)
    if tidied == before:
        return
    write_mail_settings(work.db, work.merchant.id, tidied)
    was, now = msgspec.structs.asdict(before), msgspec.structs.asdict(tidied)
    changed = {name: value for name, value in now.items() if value != was[name]}
    work.audit("change-mail-settings", work.merchant.code, **changed)


def stop_mails(work: SystemWork, kind: MailKind, reader: str) -> None:
    """End mails of a kind for somebody who followed the link in one. Idempotent.

    The reader is a person's id, or what stands for a recipient; the caller has checked the link.
    """
    if kind is MailKind.PARCEL_SENT:
        refuse_mails(work.db, reader, now=work.real_now)
        return
    person = get_person_to_change(work.db, int(reader))
    write_choice(work.db, person.id, kind, is_wanted=False)
