"""Mail: what it can be about, who gets it, and how often."""

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec

from printworks.errors import BadInput
from printworks.rules.languages import Language
from printworks.rules.people import MAY, Duty, Realm, Role, read_email
from printworks.rules.reminders import ReminderTone


class MailKind(StrEnum):
    """What a mail is about."""

    MERCHANT_INVITATION = "merchant-invitation"
    COLLEAGUE_INVITATION = "colleague-invitation"
    OPERATOR_INVITATION = "operator-invitation"
    PASSWORD_RESET = "password-reset"  # noqa: S105  (a kind of mail)
    PASSWORD_CHANGED = "password-changed"  # noqa: S105
    NEW_DEVICE = "new-device"
    CALLBACKS_FAILED = "callbacks-failed"
    IMAGES_FAILED = "images-failed"
    PAYMENTS_REFUSED = "payments-refused"
    ISSUES_ANSWERED = "issues-answered"
    SHIPMENTS_SENT = "shipments-sent"
    LOW_CREDIT = "low-credit"
    OVERDUE = "overdue"
    INVOICES_READY = "invoices-ready"
    # To the recipient of an order, on behalf of the merchant.
    PARCEL_SENT = "parcel-sent"
    # To operators.
    ISSUES_RAISED = "issues-raised"
    MERCHANTS_OVERDUE = "merchants-overdue"
    TEST = "test"


class MailState(StrEnum):
    """What has become of a mail."""

    WAITING = "waiting"
    # The mail server has taken it.
    SENT = "sent"
    FAILED = "failed"


class NoticeTerms(NamedTuple):
    """Who is told of something that happened, unless they have chosen otherwise."""

    realm: Realm
    # Whether those who have not chosen are told.
    is_usual: bool = True
    # Of those people, the ones with this duty.
    duty: Duty = Duty.LOOK
    # How long to collect before the first mail: what fails, rarely fails alone.
    collects: timedelta = timedelta(0)
    # One person gets at most one mail of the kind in each such part of the clock.
    every: timedelta = timedelta(hours=1)


_A_MINUTE: Final = timedelta(minutes=1)
_AN_HOUR: Final = timedelta(hours=1)
_A_DAY: Final = timedelta(days=1)
# What a person can choose. All others concern the security of an account, or were asked for.
NOTICES: Final[Mapping[MailKind, NoticeTerms]] = {
    MailKind.ISSUES_ANSWERED: NoticeTerms(Realm.MERCHANT),
    MailKind.IMAGES_FAILED: NoticeTerms(Realm.MERCHANT, collects=_A_MINUTE),
    MailKind.PAYMENTS_REFUSED: NoticeTerms(Realm.MERCHANT, collects=_A_MINUTE),
    MailKind.CALLBACKS_FAILED: NoticeTerms(Realm.MERCHANT, collects=_A_MINUTE),
    # Programs learn of them by callback, and shops have many.
    MailKind.SHIPMENTS_SENT: NoticeTerms(Realm.MERCHANT, is_usual=False, collects=_A_MINUTE),
    MailKind.LOW_CREDIT: NoticeTerms(Realm.MERCHANT, duty=Duty.ACCOUNT),
    MailKind.OVERDUE: NoticeTerms(Realm.MERCHANT, duty=Duty.ACCOUNT),
    # Nobody acts on an invoice within the hour, and a month's end issues many.
    MailKind.INVOICES_READY: NoticeTerms(
        Realm.MERCHANT, duty=Duty.ACCOUNT, collects=_AN_HOUR, every=_A_DAY
    ),
    MailKind.ISSUES_RAISED: NoticeTerms(Realm.OPERATOR, duty=Duty.SUPPORT),
    MailKind.MERCHANTS_OVERDUE: NoticeTerms(
        Realm.OPERATOR, duty=Duty.ADMINISTER, collects=_A_MINUTE
    ),
}
# Whose links let somebody in: such a link is stored sealed, and only until its mail has ended.
WITH_LINK: Final = frozenset(
    {
        MailKind.MERCHANT_INVITATION,
        MailKind.COLLEAGUE_INVITATION,
        MailKind.OPERATOR_INVITATION,
        MailKind.PASSWORD_RESET,
    }
)

# How long the link works with which somebody who forgot the password chooses another.
RESET_LASTS: Final = timedelta(hours=1)
# After this time a mail is of no use any more: nobody acts on older news.
NEWS_LASTS: Final = timedelta(days=3)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# What a mail about many things lists; it counts the rest.
MOST_LISTED: Final = 10
# Reminders of what is overdue, where no days are set for them.
REMIND_EVERY: Final = timedelta(days=7)
LONGEST_NAME: Final = 100
LONGEST_LINE: Final = 500


class NoticeFact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that happened, as far as a mail tells of it."""

    order: int = 0
    # The merchant's own name for the order.
    reference: str = ""
    # The issue, the image, the shipment.
    subject: int = 0
    # Why, or what was said.
    text: str = ""
    amount: int = 0
    currency: str = ""
    carrier: str = ""
    tracking_number: str = ""
    tracking_url: str = ""
    # The merchant, in a mail to operators.
    merchant: str = ""
    merchant_code: str = ""
    # Of a reminder: how firm it is, and since when something is due.
    tone: ReminderTone | None = None
    due_on: date | None = None
    # The number of a document, and whether it is a credit note.
    number: str = ""
    is_credit: bool = False


class MailFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a mail tells, from which its text is written when it is sent."""

    # The name of the merchant whose people or customers are written to.
    shop: str = ""
    role: str = ""
    # When its link ends.
    until: datetime | None = None
    at: datetime | None = None
    browser: str = ""
    address: str = ""
    country: str = ""
    # How many things happened, and the first of them.
    count: int = 1
    items: Sequence[NoticeFact] = ()
    # Whether the reader can do something about the merchant's card.
    may_change_card: bool = False


class MailTerms(msgspec.Struct, frozen=True):
    """What a deployment that sends mail says about itself."""

    # As people know who runs it.
    operator: str
    public_url: str
    # That of operators, and of merchants that have not chosen one.
    language: Language = Language.EN
    # The domain of message ids.
    domain: str = "localhost"


def list_choices(realm: Realm, role: Role) -> list[MailKind]:
    """Return what a person in a role can choose to be told of."""
    return [
        kind for kind, terms in NOTICES.items() if terms.realm is realm and terms.duty in MAY[role]
    ]


def list_hidden(realm: Realm, role: Role) -> list[MailKind]:
    """Return which mails to others of the realm are not for a person in a role."""
    return [
        kind
        for kind, terms in NOTICES.items()
        if terms.realm is realm and terms.duty not in MAY[role]
    ]


def is_wanted(kind: MailKind, role: Role, chosen: Mapping[MailKind, bool]) -> bool:
    """Return whether a person in a role is told, given what they have chosen."""
    terms = NOTICES[kind]
    return terms.duty in MAY[role] and chosen.get(kind, terms.is_usual)


def find_slot(now: datetime, every: timedelta) -> tuple[int, timedelta]:
    """Return the number of this part of the clock, and how long it is until the next."""
    since = now - _EPOCH
    number = since // every
    return number, (number + 1) * every - since


def find_end(facts: MailFacts, *, now: datetime) -> datetime:
    """Return when a mail has no use any more if it could not be sent before."""
    return facts.until or now + NEWS_LASTS


def tidy_line(text: str, longest: int = LONGEST_LINE) -> str:
    """Return a text as one line without control characters, and no longer than this.

    Neither a header nor a line of a mail can be ended by what somebody has entered.
    """
    seen = "".join(" " if unicodedata.category(one)[0] in "CZ" else one for one in text)
    line = " ".join(seen.split())
    return line if len(line) <= longest else f"{line[: longest - 1].rstrip()}…"


# What a browser says of itself begins with what it pretends to be: the first that fits is it.
_BROWSERS: Final = (
    *(("Edg", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser", "Samsung Internet")),
    *(("Firefox/", "Firefox"), ("FxiOS", "Firefox"), ("CriOS", "Chrome"), ("Chrome/", "Chrome")),
    *(("Safari/", "Safari"), ("curl/", "curl")),
)
_SYSTEMS: Final = (
    *(("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows")),
    *(("Macintosh", "macOS"), ("CrOS", "ChromeOS"), ("Linux", "Linux")),
)


def recognise_browser(agent: str) -> list[str]:
    """Return a browser and its system as people know them, as far as they are known."""
    browser = next((name for sign, name in _BROWSERS if sign in agent), "")
    system = next((name for sign, name in _SYSTEMS if sign in agent), "")
    return [name for name in (browser, system) if name]


def name_browser(agent: str) -> str:
    """Return a browser and its system as people know them; of others, what they say themselves."""
    return ", ".join(recognise_browser(agent)) or tidy_line(agent, LONGEST_NAME)


def find_address(text: str | None) -> str | None:
    """Return the email address that somebody gave for a recipient; None if it cannot be one."""
    try:
        return read_email(text or "")
    except BadInput:
        return None


def is_credit_low(limit: int, balance: int, *, percent: int) -> bool:
    """Return whether less than this part of a credit limit is left."""
    return percent > 0 and (limit - balance) * 100 < limit * percent


def find_overdue(balance: int, charged_lately: int) -> int:
    """Return how much of what a merchant owes is past its term.

    Payments settle the oldest charges first, so what is not explained by the charges within the
    term is older.
    """
    return max(balance - charged_lately, 0)


def should_remind(told_at: datetime | None, *, now: datetime) -> bool:
    """Return whether it is time to tell a merchant, again, that something is overdue."""
    return told_at is None or now - told_at >= REMIND_EVERY
