"""One address signs in as one person, however many links were sent to it."""

import pytest

from printworks.actions.accounts.people import accept_invitation, invite_colleague
from printworks.actions.work import SystemWork
from printworks.catalogue.products import Currency
from printworks.errors import WrongState
from printworks.rules.people import Realm
from printworks.store.accounts.people import Person, find_person
from printworks.store.engine.database import Database
from tests.factories import a_merchant, a_system_work, a_work

EMAIL = "tom@shop.example"


def accept(work: SystemWork, token: str) -> Person:
    """Follow a link, and choose a password."""
    return accept_invitation(
        work, token, shop="", password_hash=f"of {token}", currency=Currency.GBP
    )


def test_of_two_links_to_the_same_address_one_makes_a_person(database: Database) -> None:
    with database.writing() as db:
        work = a_work(db, a_merchant(db))
        first, second = (invite_colleague(work, EMAIL) for _ in range(2))
        person = accept(a_system_work(db), first)

    with pytest.raises(WrongState, match="already in use"), database.writing() as db:
        accept(a_system_work(db), second)

    with database.reading() as db:
        assert find_person(db, Realm.MERCHANT, EMAIL) == person
