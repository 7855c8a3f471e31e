"""What a person is told by mail."""

from typing import Any

from printworks.actions.mail.choices import choose_mails
from printworks.dashboard.shared.mail_words import MAIL_NAMES
from printworks.dashboard.site.visits import Visit
from printworks.rules.mail import MailKind, is_wanted, list_choices
from printworks.store.mail.choices import read_choices


def describe_choices(visit: Visit) -> dict[str, Any]:
    """Return what the form shows: everything that the person can choose, and what is chosen."""
    person = visit.person
    chosen = read_choices(visit.db, person.id)
    kinds = list_choices(person.realm, person.role)
    return {
        "choices": [(kind, MAIL_NAMES[kind]) for kind in kinds],
        "wanted": {kind for kind in kinds if is_wanted(kind, person.role, chosen)},
        "sends_mail": visit.services.mail_terms is not None,
    }


def take_choices(visit: Visit) -> None:
    """Store what the person has ticked, and that the rest is not wanted."""
    ticked = set(visit.sent.texts("kind"))
    choose_mails(visit.own_work, visit.person, {kind for kind in MailKind if kind in ticked})
