"""Sign-in rules: realms, roles, sessions and waits."""

import re
import unicodedata
from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from printworks.errors import BadInput


class Realm(StrEnum):
    """The merchant area or the operator area; a person may have access to both."""

    MERCHANT = "merchant"
    OPERATOR = "operator"


class Role(StrEnum):
    """The role of a person; a viewer may be of either area."""

    OWNER = "owner"
    MEMBER = "member"
    FINANCE = "finance"
    VIEWER = "viewer"
    PRODUCTION = "production"
    SUPPORT = "support"
    ADMIN = "admin"


class Duty(StrEnum):
    """The permission that a page or a form requires."""

    # In both areas: everything that only shows something, and one's own settings.
    LOOK = "look"
    # In the merchant area: orders with their images, issues, and the clock of a sandbox.
    ORDER = "order"
    # What was spent and what is owed.
    ACCOUNT = "see the account"
    # API keys, callbacks, people, and how the shop presents itself.
    MANAGE = "manage the shop"
    # In the operator area.
    # Lab jobs: accept, dispatch, reject; holds.
    PRODUCE = "produce"
    # Issues, and other requests of merchants.
    SUPPORT = "support"
    # Merchants, money, jobs, people.
    ADMINISTER = "administer"


MAY: Final[Mapping[Role, frozenset[Duty]]] = {
    Role.OWNER: frozenset({Duty.LOOK, Duty.ORDER, Duty.ACCOUNT, Duty.MANAGE}),
    Role.MEMBER: frozenset({Duty.LOOK, Duty.ORDER}),
    Role.FINANCE: frozenset({Duty.LOOK, Duty.ACCOUNT}),
    Role.VIEWER: frozenset({Duty.LOOK}),
    Role.PRODUCTION: frozenset({Duty.LOOK, Duty.PRODUCE}),
    Role.SUPPORT: frozenset({Duty.LOOK, Duty.SUPPORT}),
    Role.ADMIN: frozenset({Duty.LOOK, Duty.PRODUCE, Duty.SUPPORT, Duty.ADMINISTER}),
}
OPERATORS: Final = (Role.VIEWER, Role.PRODUCTION, Role.SUPPORT, Role.ADMIN)
# The team of a merchant.
TEAM: Final = (Role.OWNER, Role.MEMBER, Role.FINANCE, Role.VIEWER)
# What a form requires that names no duty: whoever forgets to name one, lets nobody do too much.
USUAL_DUTY: Final[Mapping[Realm, Duty]] = {
    Realm.MERCHANT: Duty.ORDER,
    Realm.OPERATOR: Duty.ADMINISTER,
}

# How long a session lasts without use, and in all.
IDLE: Final[Mapping[Realm, timedelta]] = {
    Realm.MERCHANT: timedelta(days=7),
    Realm.OPERATOR: timedelta(hours=12),
}
LONGEST: Final = timedelta(days=30)
# How long a re-authentication is valid, which API keys and callback addresses require.
PROOF_LASTS: Final = timedelta(minutes=10)
INVITATION_LASTS: Final = timedelta(days=7)

# Of one merchant, with those who are invited.
MOST_IN_TEAM: Final = 50

LONGEST_EMAIL: Final = 254
# Failed sign-ins without a wait, and the waits after more of them.
FREE_FAILURES: Final = 4
_FIRST_WAIT: Final = timedelta(seconds=15)
_LONGEST_WAIT: Final = timedelta(minutes=15)
_EMAIL: Final = re.compile(
    r"[^@\s\"<>()\[\],;:\\]+@[^@\s\"<>()\[\],;:\\]+\.[^@\s.\"<>()\[\],;:\\]+"
)


def read_email(text: str) -> str:
    """Return an email address in normal form; refuse an invalid one."""
    email = unicodedata.normalize("NFC", text).strip().lower()
    if len(email) > LONGEST_EMAIL or not email.isprintable() or not _EMAIL.fullmatch(email):
        raise BadInput("Enter an email address, such as name@example.com.", field="email")
    return email


def wait_after(failures: int) -> timedelta:
    """Return how long sign-in is blocked after this many failures in a row."""
    beyond = failures - FREE_FAILURES
    if beyond <= 0:
        return timedelta()
    return min(_FIRST_WAIT * (1 << min(beyond - 1, 10)), _LONGEST_WAIT)


def is_proved(proved_at: datetime | None, *, now: datetime) -> bool:
    """Return whether a re-authentication is still valid."""
    return proved_at is not None and now < proved_at + PROOF_LASTS


def end_of_session(realm: Realm, begun_at: datetime, *, now: datetime) -> datetime:
    """Return the end of a session that was just used."""
    return min(now + IDLE[realm], begun_at + LONGEST)
