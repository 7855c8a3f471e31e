"""People to try things with."""

from sqlalchemy import Connection

from printworks.rules.people import Realm, Role
from printworks.store.accounts.people import NewPerson, Person, insert_person
from tests.factories import NOON, a_merchant


def a_person(db: Connection, email: str) -> Person:
    """Add a person of a merchant of their own."""
    new = NewPerson(
        realm=Realm.MERCHANT,
        email=email,
        role=Role.OWNER,
        merchant_id=a_merchant(db).id,
        password_hash="",
    )
    return insert_person(db, new, now=NOON)
