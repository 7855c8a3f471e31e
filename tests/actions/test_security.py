"""Second factors: what may be added and removed."""

import pytest

from printworks.actions.accounts.security import (
    MOST_PASSKEYS,
    add_passkey,
    begin_totp,
    end_totp,
    forget_second_factor,
    remove_passkey,
)
from printworks.errors import BadInput, WrongState
from printworks.store.accounts.passkeys import (
    NewPasskey,
    count_passkeys,
    count_passkeys_of,
    list_passkeys,
    use_challenge,
)
from printworks.store.accounts.people import delete_person, find_person, get_person
from printworks.store.accounts.recovery_codes import count_codes
from printworks.store.accounts.sessions import NewSession, begin_session, hash_token, list_sessions
from printworks.store.engine.database import Database
from tests.actions.people import a_person
from tests.factories import NOON, a_system_work

EMAIL = "mary@shop.example"
SECRET = "A" * 32


def a_key(number: int = 1, name: str = "Telephone") -> NewPasskey:
    """Return a passkey that an authenticator has made."""
    return NewPasskey(f"credential-{number}", b"key", 0, name)


def test_the_first_factor_brings_recovery_codes_and_makes_the_session_strong(
    database: Database,
) -> None:
    with database.writing() as db:
        mary, work = a_person(db, EMAIL), a_system_work(db)
        session = hash_token(begin_session(db, mary, NewSession("", ""), now=NOON))
        before = [one.is_strong for one in list_sessions(db, mary.id, now=NOON)]
        codes = begin_totp(work, mary.id, SECRET, step=1, session=session)
        more = add_passkey(work, mary.id, a_key(), session=session)

        assert (len(codes), more) == (10, [])
        assert before == [False]
        assert [one.is_strong for one in list_sessions(db, mary.id, now=NOON)] == [True]
        assert count_passkeys_of(db, [mary]) == {mary.id: 1}


def test_a_required_factor_is_not_removed_while_there_is_no_other(database: Database) -> None:
    with database.writing() as db:
        mary, work = a_person(db, EMAIL), a_system_work(db)
        begin_totp(work, mary.id, SECRET, step=1, session="")
        with pytest.raises(WrongState, match="Add a passkey before"):
            end_totp(work, mary.id, is_required=True)
        add_passkey(work, mary.id, a_key(), session="")
        end_totp(work, mary.id, is_required=True)
        [passkey] = list_passkeys(db, mary.id)

    with pytest.raises(WrongState, match="needs a second factor"), database.writing() as db:
        remove_passkey(a_system_work(db), mary.id, passkey.id, is_required=True)

    with database.writing() as db:
        work = a_system_work(db)
        assert count_passkeys(db, mary.id) == 1
        remove_passkey(work, mary.id, passkey.id, is_required=False)
        with pytest.raises(BadInput, match="removed already"):
            remove_passkey(work, mary.id, passkey.id, is_required=False)


def test_with_an_app_the_last_passkey_may_go(database: Database) -> None:
    with database.writing() as db:
        mary, work = a_person(db, EMAIL), a_system_work(db)
        begin_totp(work, mary.id, SECRET, step=1, session="")
        add_passkey(work, mary.id, a_key(), session="")
        [passkey] = list_passkeys(db, mary.id)
        remove_passkey(work, mary.id, passkey.id, is_required=True)
        assert count_passkeys(db, mary.id) == 0


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\u0007b"])
def test_a_passkey_needs_a_name(database: Database, name: str) -> None:
    with database.writing() as db:
        mary = a_person(db, EMAIL)
        with pytest.raises(BadInput, match="Enter a name"):
            add_passkey(a_system_work(db), mary.id, a_key(name=name), session="")


def test_there_is_a_most_of_them_and_each_belongs_to_one_person(database: Database) -> None:
    with database.writing() as db:
        mary, tom, work = a_person(db, EMAIL), a_person(db, "tom@a.example"), a_system_work(db)
        for number in range(MOST_PASSKEYS):
            add_passkey(work, mary.id, a_key(number), session="")
        with pytest.raises(WrongState, match="Remove one"):
            add_passkey(work, mary.id, a_key(99), session="")

    with pytest.raises(WrongState, match="added before"), database.writing() as db:
        add_passkey(a_system_work(db), tom.id, a_key(1), session="")


def test_a_lost_telephone_is_forgotten_with_all_that_was_on_it(database: Database) -> None:
    with database.writing() as db:
        mary, work = a_person(db, EMAIL), a_system_work(db)
        begin_totp(work, mary.id, SECRET, step=1, session="")
        add_passkey(work, mary.id, a_key(), session="")
        forget_second_factor(work, mary.id, subject=EMAIL)

        assert not get_person(db, mary.id).has_totp
        assert count_passkeys(db, mary.id) == 0
        assert count_codes(db, mary.id) == (0, 0)


def test_a_person_who_is_removed_leaves_no_keys(database: Database) -> None:
    with database.writing() as db:
        mary = a_person(db, EMAIL)
        add_passkey(a_system_work(db), mary.id, a_key(), session="")
        delete_person(db, mary.id)
        assert find_person(db, mary.realm, EMAIL) is None


def test_a_challenge_is_used_once(database: Database) -> None:
    with database.writing() as db:
        assert use_challenge(db, "a", expires_at=NOON)
        assert not use_challenge(db, "a", expires_at=NOON)
        assert use_challenge(db, "b", expires_at=NOON)
