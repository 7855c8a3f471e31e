"""Who needs a second factor, and who has one."""

from sqlalchemy import Connection

from printworks.dashboard.site.services import PageServices
from printworks.store.accounts.passkeys import count_passkeys
from printworks.store.accounts.people import Person


def is_required(services: PageServices, person: Person) -> bool:
    """Say whether the role of a person needs a second factor."""
    return person.role in services.settings.second_factor_roles


def has_any(db: Connection, person: Person) -> bool:
    """Say whether a person could sign in with a second factor."""
    return person.has_totp or count_passkeys(db, person.id) > 0
