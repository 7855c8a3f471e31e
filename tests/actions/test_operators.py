"""Who runs the console: there is always somebody who may do everything."""

import threading

import pytest

from printworks.actions.accounts.operators import (
    FIRST_OPERATOR,
    change_role,
    invite_first_operator,
    remove_operator,
)
from printworks.actions.accounts.people import accept_invitation
from printworks.catalogue.products import Currency
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.people import Realm, Role
from printworks.store.accounts.invitations import find_invitation
from printworks.store.accounts.people import (
    NewPerson,
    Person,
    find_person,
    insert_person,
    list_people,
)
from printworks.store.engine.database import Database
from tests.factories import NOON, a_merchant, a_system_work


def add_person(
    database: Database, role: Role, email: str = "", merchant_id: int | None = None
) -> Person:
    """Add somebody."""
    realm = Realm.OPERATOR if merchant_id is None else Realm.MERCHANT
    with database.writing() as db:
        return insert_person(
            db,
            NewPerson(
                realm=realm,
                email=email or f"{role}@works.example",
                role=role,
                merchant_id=merchant_id,
                password_hash="x",
            ),
            now=NOON,
        )


def test_two_admins_who_remove_each_other_at_once_leave_one(database: Database) -> None:
    first = add_person(database, Role.ADMIN, "first@works.example")
    second = add_person(database, Role.ADMIN, "second@works.example")
    begun = threading.Barrier(2)
    refused: list[str] = []

    def go(whom: Person) -> None:
        begun.wait()
        try:
            with database.writing() as db:
                remove_operator(a_system_work(db), whom.id)
        except WrongState as error:
            refused.append(error.message)

    threads = [threading.Thread(target=go, args=(whom,)) for whom in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with database.reading() as db:
        left = list_people(db, Realm.OPERATOR)
    assert [person.role for person in left] == [Role.ADMIN]
    assert len(refused) == 1
    assert "is the only admin" in refused[0]


def test_the_last_admin_may_stay_one_and_others_may_change(database: Database) -> None:
    admin, viewer = add_person(database, Role.ADMIN), add_person(database, Role.VIEWER)
    with database.writing() as db:
        change_role(a_system_work(db), admin.id, Role.ADMIN)
        change_role(a_system_work(db), viewer.id, Role.SUPPORT)
        with pytest.raises(WrongState):
            change_role(a_system_work(db), admin.id, Role.VIEWER)
        with pytest.raises(BadInput):
            change_role(a_system_work(db), viewer.id, Role.OWNER)
        found = find_person(db, Realm.OPERATOR, viewer.email)
    assert found is not None
    assert found.role is Role.SUPPORT


def test_a_merchants_person_is_no_operator(database: Database) -> None:
    add_person(database, Role.ADMIN)
    with database.writing() as db:
        merchant = a_merchant(db)
    owner = add_person(database, Role.OWNER, "o@shop.example", merchant.id)

    with database.writing() as db:
        with pytest.raises(NotFound):
            remove_operator(a_system_work(db), owner.id)
        with pytest.raises(NotFound):
            change_role(a_system_work(db), owner.id, Role.ADMIN)


def test_the_first_operator_is_invited_until_somebody_has_come(database: Database) -> None:
    with database.writing() as db:
        old = invite_first_operator(a_system_work(db, now=NOON))
        new = invite_first_operator(a_system_work(db, now=NOON))
        assert old is not None
        assert new is not None
        assert find_invitation(db, old, now=NOON) is None
        person = accept_invitation(
            a_system_work(db, now=NOON, environment="sandbox"),
            new,
            shop="",
            password_hash="x",
            currency=Currency.GBP,
        )
        assert invite_first_operator(a_system_work(db, now=NOON)) is None
    assert (person.email, person.role, person.realm) == (
        FIRST_OPERATOR,
        Role.ADMIN,
        Realm.OPERATOR,
    )
