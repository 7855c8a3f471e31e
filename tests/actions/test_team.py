"""The people of a shop: there is always an owner, and whoever is removed is out at once."""

import threading

import pytest

from printworks.actions.accounts.people import accept_invitation, invite_colleague, sign_up
from printworks.actions.accounts.team import change_team_role, remove_from_team
from printworks.actions.work import Actor
from printworks.catalogue.products import Currency
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.people import MOST_IN_TEAM, Realm, Role
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.invitations import find_invitation
from printworks.store.accounts.merchants import Merchant, list_keys
from printworks.store.accounts.people import Person, find_person, get_person, list_people
from printworks.store.accounts.sessions import NewSession, begin_session, find_session
from printworks.store.engine.database import Database
from tests.actions.test_operators import add_person
from tests.factories import NOON, a_merchant, a_system_work, a_work


@pytest.fixture
def merchant(database: Database) -> Merchant:
    with database.writing() as db:
        return a_merchant(db)


@pytest.fixture
def owner(database: Database, merchant: Merchant) -> Person:
    return add_person(database, Role.OWNER, "owner@shop.example", merchant.id)


def test_a_colleague_comes_with_the_role_of_the_invitation(
    database: Database, merchant: Merchant, owner: Person
) -> None:
    with database.writing() as db:
        token = invite_colleague(a_work(db, merchant), "tom@shop.example", Role.FINANCE)
        person = accept_invitation(
            a_system_work(db), token, shop="", password_hash="x", currency=Currency.GBP
        )

    assert (person.role, person.merchant_id) == (Role.FINANCE, owner.merchant_id)


def test_an_operators_role_is_none_of_a_shop(
    database: Database, merchant: Merchant, owner: Person
) -> None:
    with database.writing() as db:
        work = a_work(db, merchant)
        with pytest.raises(BadInput, match="owner, member, finance, viewer"):
            invite_colleague(work, "tom@shop.example", Role.ADMIN)
        with pytest.raises(BadInput, match="owner, member, finance, viewer"):
            change_team_role(work, owner.id, Role.SUPPORT)


def test_a_team_does_not_grow_for_ever(database: Database, merchant: Merchant) -> None:
    with database.writing() as db:
        work = a_work(db, merchant)
        for number in range(MOST_IN_TEAM):
            invite_colleague(work, f"tom{number}@shop.example", Role.VIEWER)
        with pytest.raises(WrongState, match="at most 50 people"):
            invite_colleague(work, "one.more@shop.example", Role.VIEWER)


def test_the_last_owner_stays_one(database: Database, merchant: Merchant, owner: Person) -> None:
    member = add_person(database, Role.MEMBER, "member@shop.example", merchant.id)
    with database.writing() as db:
        work = a_work(db, merchant)
        with pytest.raises(WrongState, match="is the only owner"):
            change_team_role(work, owner.id, Role.VIEWER)
        with pytest.raises(WrongState, match="is the only owner"):
            remove_from_team(work, owner.id)
        change_team_role(work, owner.id, Role.OWNER)
        change_team_role(work, member.id, Role.OWNER)
        change_team_role(work, owner.id, Role.VIEWER)

        assert get_person(db, owner.id).role is Role.VIEWER


def test_who_changed_a_role_and_who_went_is_written_down(
    database: Database, merchant: Merchant, owner: Person
) -> None:
    tom = add_person(database, Role.MEMBER, "tom@shop.example", merchant.id)
    actor = Actor(Realm.MERCHANT, owner.email)
    with database.writing() as db:
        work = a_work(db, merchant, actor=actor)
        change_team_role(work, tom.id, Role.FINANCE)
        remove_from_team(work, tom.id)
        removed, changed = list_audit(db, merchant_id=merchant.id, limit=2)

    assert (changed.action, changed.who, changed.subject) == (
        "change-team-role",
        owner.email,
        tom.email,
    )
    assert changed.details == {"role": "finance", "before": "member"}
    assert (removed.action, removed.subject) == ("remove-from-team", tom.email)


def test_two_owners_who_remove_each_other_at_once_leave_one(
    database: Database, merchant: Merchant, owner: Person
) -> None:
    other = add_person(database, Role.OWNER, "other@shop.example", merchant.id)
    begun = threading.Barrier(2)
    refused: list[str] = []

    def go(whom: Person) -> None:
        begun.wait()
        try:
            with database.writing() as db:
                remove_from_team(a_work(db, merchant), whom.id)
        except WrongState as error:
            refused.append(error.message)

    threads = [threading.Thread(target=go, args=(whom,)) for whom in (owner, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with database.reading() as db:
        assert len(list_people(db, Realm.MERCHANT, merchant_id=merchant.id)) == 1
    assert len(refused) == 1


def test_whoever_is_removed_is_signed_out_and_cannot_return_by_an_old_link(
    database: Database, merchant: Merchant, owner: Person
) -> None:
    with database.writing() as db:
        token = invite_colleague(a_work(db, merchant), "tom@shop.example", Role.MEMBER)
        elsewhere = invite_colleague(a_work(db, a_merchant(db)), "tom@shop.example", Role.MEMBER)
    tom = add_person(database, Role.MEMBER, "tom@shop.example", merchant.id)
    with database.writing() as db:
        session = begin_session(db, tom, NewSession("", ""), now=NOON)
        remove_from_team(a_work(db, merchant), tom.id)

    with database.reading() as db:
        assert find_person(db, Realm.MERCHANT, tom.email) is None
        assert find_session(db, Realm.MERCHANT, session, now=NOON) is None
        assert find_invitation(db, token, now=NOON) is None
        # Another shop may want them.
        assert find_invitation(db, elsewhere, now=NOON) is not None


def test_people_of_other_shops_and_operators_are_not_there(
    database: Database, merchant: Merchant, owner: Person
) -> None:
    with database.writing() as db:
        other = a_merchant(db)
    strangers = [
        add_person(database, Role.OWNER, "else@shop.example", other.id),
        add_person(database, Role.ADMIN),
    ]
    with database.writing() as db:
        for stranger in strangers:
            with pytest.raises(NotFound):
                change_team_role(a_work(db, merchant), stranger.id, Role.VIEWER)
            with pytest.raises(NotFound):
                remove_from_team(a_work(db, merchant), stranger.id)


def test_signing_up_makes_no_key_that_nobody_sees(database: Database) -> None:
    with database.writing() as db:
        person = sign_up(
            a_system_work(db),
            email="mary@shop.example",
            shop="Fox",
            password_hash="x",
            currency=Currency.GBP,
        )
        assert person.merchant_id is not None
        assert list_keys(db, person.merchant_id, now=NOON) == []
