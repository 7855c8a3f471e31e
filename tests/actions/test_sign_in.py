"""Tries to sign in are counted exactly, by all processes together."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from printworks.actions.accounts.security import make_recovery_codes
from printworks.actions.accounts.sign_in import (
    count_known_browser,
    count_network,
    count_person,
    count_proof,
    forget_person,
    forget_proof,
    note_failure,
    use_recovery_code,
)
from printworks.actions.work import Actor
from printworks.rules.people import Realm
from printworks.rules.sign_in import Tries
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.recovery_codes import count_codes
from printworks.store.engine.database import Database
from tests.actions.people import a_person
from tests.factories import a_system_work

EMAIL = "mary@shop.example"


def test_of_sixty_at_once_five_are_compared_for_a_person_and_twenty_from_a_network(
    database: Database,
) -> None:
    def attempt(_: int) -> tuple[bool, bool]:
        with database.writing() as db:
            work = a_system_work(db)
            is_allowed = count_network(work, "192.0.2.1") is None
            return is_allowed, isinstance(count_person(work, Realm.MERCHANT, EMAIL), Tries)

    with ThreadPoolExecutor(60) as threads:
        outcomes = list(threads.map(attempt, range(60)))

    assert Counter(network for network, _ in outcomes) == {True: 20, False: 40}
    assert Counter(person for _, person in outcomes) == {True: 5, False: 55}


def test_a_success_counts_anew_for_that_person_alone(database: Database) -> None:
    with database.writing() as db:
        work = a_system_work(db)
        for email in (EMAIL, "tom@shop.example"):
            for _ in range(6):
                last = count_person(work, Realm.MERCHANT, email)
            assert last == timedelta(seconds=15)
        # The console counts for itself.
        assert isinstance(count_person(work, Realm.OPERATOR, EMAIL), Tries)
        forget_person(work, Realm.MERCHANT, EMAIL)
        assert isinstance(count_person(work, Realm.MERCHANT, EMAIL), Tries)
        assert count_person(work, Realm.MERCHANT, "tom@shop.example") == timedelta(seconds=15)


def test_browsers_and_sessions_have_tries_of_their_own(database: Database) -> None:
    with database.writing() as db:
        work = a_system_work(db)
        browser = [count_known_browser(work, "1") for _ in range(6)]
        session = [count_proof(work, "a") for _ in range(6)]
        forget_proof(work, "a")

        assert browser == [None] * 5 + [timedelta(minutes=5)]
        assert session == [None] * 5 + [timedelta(seconds=15)]
        assert count_proof(work, "a") is None
        assert count_known_browser(work, "2") is None


def test_a_recovery_code_works_once_and_only_for_its_owner(database: Database) -> None:
    with database.writing() as db:
        mary, tom = a_person(db, EMAIL), a_person(db, "tom@shop.example")
        work = a_system_work(db)
        old = make_recovery_codes(work, mary.id)
        codes = make_recovery_codes(work, mary.id)

        assert len(set(codes)) == 10
        assert not use_recovery_code(work, mary, old[0])
        assert not use_recovery_code(work, tom, codes[0])
        assert not use_recovery_code(work, None, codes[0])
        assert use_recovery_code(work, mary, codes[0].upper().replace("-", " "))
        assert not use_recovery_code(work, mary, codes[0])
        assert count_codes(db, mary.id) == (9, 10)


def test_of_two_who_use_a_code_at_once_one_succeeds(database: Database) -> None:
    with database.writing() as db:
        mary = a_person(db, EMAIL)
        code = make_recovery_codes(a_system_work(db), mary.id)[0]

    def attempt(_: int) -> bool:
        with database.writing() as db:
            return use_recovery_code(a_system_work(db), mary, code)

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(attempt, range(8))) == 1


@pytest.mark.parametrize("is_known", [True, False])
def test_the_audit_log_names_an_address_once_when_it_is_blocked(
    database: Database, *, is_known: bool
) -> None:
    with database.writing() as db:
        mary = a_person(db, EMAIL) if is_known else None
        work = a_system_work(db, actor=Actor(Realm.MERCHANT, EMAIL, "192.0.2.1"))
        for tries in range(1, 8):
            note_failure(work, mary, tries)
        [entry] = [one for one in list_audit(db, limit=5) if one.action == "sign-in-blocked"]

    assert (entry.who, entry.address) == (EMAIL, "192.0.2.1")
    assert entry.merchant_id == (mary.merchant_id if mary else None)
