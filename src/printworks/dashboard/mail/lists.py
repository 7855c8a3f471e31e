"""Lists of mails, for operators and for merchants."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from printworks.actions.mail.composing import write_harmless_text, write_subject
from printworks.dashboard.shared.mail_words import MAIL_NAMES, MAIL_STATES
from printworks.dashboard.site.branding import find_brand
from printworks.dashboard.site.forms import find_choice
from printworks.dashboard.site.visits import Visit
from printworks.rules.mail import MailKind, MailState
from printworks.store.mail.mails import Mail, MailSearch, search_mails

_ROWS: Final = 50


class MailLine(msgspec.Struct, frozen=True):
    """A mail as a list shows it."""

    mail: Mail
    subject: str


def list_mails(
    visit: Visit, *, merchant_id: int | None = None, hidden: Sequence[MailKind] = ()
) -> dict[str, Any]:
    """Return what the page of a list shows."""
    state = find_choice(MailState, visit.query.get("state", ""))
    text = visit.search_text
    search = MailSearch(email=text, state=state, merchant_id=merchant_id, hidden=hidden)
    page = search_mails(visit.db, search, before=visit.cursor(), limit=_ROWS)
    settings = visit.services.settings
    return {
        "lines": [
            MailLine(mail, write_subject(settings, find_brand().brand, mail)) for mail in page.mails
        ],
        "names": MAIL_NAMES,
        "states": MAIL_STATES,
        "state_choices": [(one.value, MAIL_STATES[one].text) for one in MailState],
        "state": state or "",
        "text": text,
        "days": settings.keep_mails.days,
        "sends_mail": visit.services.mail_terms is not None,
        "pages": visit.pages(page.next),
    }


def describe_mail(visit: Visit, mail: Mail) -> dict[str, Any]:
    """Return what the page of a mail shows: never a link that lets somebody in."""
    settings = visit.services.settings
    return {
        "mail": mail,
        "subject": write_subject(settings, find_brand().brand, mail),
        "text": write_harmless_text(settings, find_brand().brand, mail),
        "name": MAIL_NAMES[mail.kind],
        "state": MAIL_STATES[mail.state],
    }
