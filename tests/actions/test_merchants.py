"""Letting merchants in, and changing their keys."""

import re
import threading
from datetime import datetime, timedelta

import pytest
from sqlalchemy import Connection, select

from printworks.actions.accounts.merchants import (
    NewMerchant,
    add_key,
    add_merchant,
    replace_key,
    revoke_key,
    rotate_key,
)
from printworks.catalogue.opening import open_catalogue
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.keys import MOST_KEYS, KeyAccess, KeyLimits
from printworks.store.accounts.merchants import (
    find_key,
    hash_key,
    list_keys,
    list_merchants,
    list_valid_keys,
)
from printworks.store.engine.database import Database
from printworks.store.tables import api_keys
from tests.factories import NOON, a_system_work, a_work, a_work_by_code

DAY = timedelta(days=1)


def a_merchant(db: Connection, *, now: datetime) -> NewMerchant:
    """Let somebody in."""
    return add_merchant(a_system_work(db, now=now, environment="sandbox"), "Somebody")


def rotate(db: Connection, new: NewMerchant, *, wait: timedelta, now: datetime) -> str:
    """Give the merchant another key."""
    return rotate_key(a_work_by_code(db, new.merchant.code, now=now), old_key_valid_for=wait)


def opens(database: Database, code: str, key: str, *, now: datetime) -> bool:
    """Say whether the credentials are accepted."""
    with database.reading() as db:
        return find_key(db, code, hash_key(key), now=now) is not None


def test_a_new_merchant_is_found_by_its_code_and_key(database: Database, now: datetime) -> None:
    with database.writing() as db:
        new = add_merchant(a_system_work(db, now=now, environment="sandbox"), " Some shop ")

    with database.reading() as db:
        found = find_key(db, new.merchant.code, hash_key(new.api_key), now=now)
        assert found is not None
        assert found.merchant == new.merchant
        assert found.merchant.name == "Some shop"
        assert list_merchants(db) == [found.merchant]


@pytest.mark.parametrize("environment", ["sandbox", "live"])
def test_credentials_have_the_promised_form(
    database: Database, now: datetime, environment: str
) -> None:
    with database.writing() as db:
        new = add_merchant(a_system_work(db, now=now, environment=environment), "Somebody")

    assert re.fullmatch(r"[0-9a-hjkmnp-tv-z]{10}", new.merchant.code)
    assert re.fullmatch(rf"pw_{environment}_[A-Za-z0-9_]{{43}}", new.api_key)


def test_the_key_itself_is_not_stored(database: Database, now: datetime) -> None:
    with database.writing() as db:
        new = a_merchant(db, now=now)
        [row] = db.execute(select(api_keys)).all()

    assert new.api_key not in str(row)
    assert row.hint == new.api_key[-4:]
    assert len(row.hash) == 64


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "two\nlines"])
def test_a_name_that_cannot_be_shown_is_refused(
    database: Database, now: datetime, name: str
) -> None:
    with database.writing() as db, pytest.raises(BadInput, match="`name` must be 1 to 200"):
        add_merchant(a_system_work(db, now=now, environment="sandbox"), name)


@pytest.mark.parametrize("key", ["", "pw_sandbox_wrong", "\x00", "\udcff"])
def test_a_wrong_key_opens_nothing(database: Database, now: datetime, key: str) -> None:
    with database.writing() as db:
        new = a_merchant(db, now=now)

    assert not opens(database, new.merchant.code, key, now=now)


@pytest.mark.parametrize("code", ["", "zzzzzzzzzz", "\x00", "\udcff", "x' OR 1=1 --"])
def test_an_unknown_merchant_opens_nothing(database: Database, now: datetime, code: str) -> None:
    with database.writing() as db:
        new = a_merchant(db, now=now)

    assert not opens(database, code, new.api_key, now=now)


def test_somebody_elses_key_opens_nothing(database: Database, now: datetime) -> None:
    with database.writing() as db:
        mine = a_merchant(db, now=now)
        theirs = a_merchant(db, now=now)

    assert not opens(database, mine.merchant.code, theirs.api_key, now=now)


def test_after_a_rotation_both_keys_work_for_a_while(database: Database, now: datetime) -> None:
    with database.writing() as db:
        new = a_merchant(db, now=now)
        second = rotate(db, new, wait=DAY, now=now)

    just_before, later = now + DAY - timedelta(seconds=1), now + DAY
    assert opens(database, new.merchant.code, new.api_key, now=just_before)
    assert not opens(database, new.merchant.code, new.api_key, now=later)
    assert opens(database, new.merchant.code, second, now=later)


def test_a_wait_of_nothing_ends_the_old_key_at_once(database: Database, now: datetime) -> None:
    with database.writing() as db:
        new = a_merchant(db, now=now)
        second = rotate(db, new, wait=timedelta(0), now=now)

    assert not opens(database, new.merchant.code, new.api_key, now=now)
    assert opens(database, new.merchant.code, second, now=now)


def test_at_most_two_keys_work_at_once(database: Database, now: datetime) -> None:
    with database.writing() as db:
        new = a_merchant(db, now=now)
        second = rotate(db, new, wait=DAY, now=now)
        third = rotate(db, new, wait=DAY, now=now)

    assert not opens(database, new.merchant.code, new.api_key, now=now)
    assert opens(database, new.merchant.code, second, now=now)
    assert opens(database, new.merchant.code, third, now=now)


def test_rotations_at_the_same_moment_leave_two_keys(database: Database, now: datetime) -> None:
    with database.writing() as db:
        new = a_merchant(db, now=now)

    def rotate_once() -> None:
        with database.writing() as db:
            rotate(db, new, wait=DAY, now=now)

    threads = [threading.Thread(target=rotate_once) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with database.reading() as db:
        assert len(list_valid_keys(db, now=now)) == 2


def test_the_key_of_an_unknown_merchant_cannot_be_rotated(
    database: Database, now: datetime
) -> None:
    with database.writing() as db, pytest.raises(NotFound, match="There is no merchant 'nobody'"):
        rotate_key(
            a_work_by_code(db, "nobody", now=now),
            old_key_valid_for=timedelta(0),
        )


def test_the_list_of_keys_shows_when_each_ends(database: Database, now: datetime) -> None:
    with database.writing() as db:
        new = a_merchant(db, now=now)
        second = rotate(db, new, wait=DAY, now=now)
        listed = list_valid_keys(db, now=now)

    assert [(key.hint, key.expires_at) for key in listed] == [
        (new.api_key[-4:], now + DAY),
        (second[-4:], None),
    ]


def test_a_rotation_replaces_every_key_after_the_wait(database: Database, now: datetime) -> None:
    with database.writing() as db:
        new = a_merchant(db, now=now)
        others = [one_more(db, new, now=now) for _ in range(2)]
        newest = rotate(db, new, wait=DAY, now=now)

    just_before, later = now + DAY - timedelta(seconds=1), now + DAY
    code = new.merchant.code
    old = [new.api_key, *others]
    assert [opens(database, code, key, now=just_before) for key in old] == [True] * 3
    assert [opens(database, code, key, now=later) for key in old] == [False] * 3
    assert opens(database, code, newest, now=later)


def test_a_rotation_of_as_many_keys_as_there_may_be_ends_the_oldest(
    database: Database, now: datetime
) -> None:
    with database.writing() as db:
        new = a_merchant(db, now=now)
        others = [one_more(db, new, now=now) for _ in range(MOST_KEYS - 1)]
        rotate(db, new, wait=DAY, now=now)

        assert len(list_keys(db, new.merchant.id, now=now)) == MOST_KEYS
    assert not opens(database, new.merchant.code, new.api_key, now=now)
    assert opens(database, new.merchant.code, others[0], now=now)


def one_more(db: Connection, new: NewMerchant, *, now: datetime) -> str:
    """Give the merchant a key beside those it has."""
    return add_key(a_work(db, new.merchant, now=now, environment="sandbox"))


class TestAddingKeys:
    def test_both_keys_work(self, database: Database, now: datetime) -> None:
        with database.writing() as db:
            new = a_merchant(db, now=now)
            second = one_more(db, new, now=now)

        assert re.fullmatch(r"pw_sandbox_[A-Za-z0-9_]{43}", second)
        assert opens(database, new.merchant.code, new.api_key, now=now)
        assert opens(database, new.merchant.code, second, now=now)

    def test_the_newest_is_listed_first_and_others_keys_are_not(
        self, database: Database, now: datetime
    ) -> None:
        with database.writing() as db:
            new = a_merchant(db, now=now)
            a_merchant(db, now=now)
            second = one_more(db, new, now=now)
            listed = list_keys(db, new.merchant.id, now=now)

        assert [key.hint for key in listed] == [second[-4:], new.api_key[-4:]]
        assert {key.merchant_code for key in listed} == {new.merchant.code}

    def test_no_more_than_twenty_work_at_the_same_time(
        self, database: Database, now: datetime
    ) -> None:
        with database.writing() as db:
            new = a_merchant(db, now=now)
            keys = [new.api_key, *(one_more(db, new, now=now) for _ in range(19))]
            with pytest.raises(WrongState, match="At most 20 keys can work at the same time"):
                one_more(db, new, now=now)
            oldest = list_keys(db, new.merchant.id, now=now)[-1]
            revoke_key(a_work(db, new.merchant, now=now), oldest.id)
            keys.append(one_more(db, new, now=now))

        work = [opens(database, new.merchant.code, key, now=now) for key in keys]
        assert work == [False] + [True] * 20

    def test_not_even_at_the_same_moment(self, database: Database, now: datetime) -> None:
        with database.writing() as db:
            new = a_merchant(db, now=now)
            for _ in range(MOST_KEYS - 5):
                one_more(db, new, now=now)
        refused: list[WrongState] = []

        def add_one() -> None:
            try:
                with database.writing() as db:
                    one_more(db, new, now=now)
            except WrongState as error:
                refused.append(error)

        threads = [threading.Thread(target=add_one) for _ in range(7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(refused) == 3
        with database.reading() as db:
            assert len(list_keys(db, new.merchant.id, now=now)) == MOST_KEYS


class TestRevokingKeys:
    def test_it_ends_at_once_and_the_others_go_on(self, database: Database, now: datetime) -> None:
        with database.writing() as db:
            new = a_merchant(db, now=now)
            second = one_more(db, new, now=now)
            [_, first] = list_keys(db, new.merchant.id, now=now)
            assert revoke_key(a_work(db, new.merchant, now=now), first.id) == first

        assert not opens(database, new.merchant.code, new.api_key, now=now)
        assert opens(database, new.merchant.code, second, now=now)

    def test_even_the_last_one_can_be(self, database: Database, now: datetime) -> None:
        with database.writing() as db:
            new = a_merchant(db, now=now)
            [only] = list_keys(db, new.merchant.id, now=now)
            revoke_key(a_work(db, new.merchant, now=now), only.id)

        assert not opens(database, new.merchant.code, new.api_key, now=now)

    def test_what_has_ended_cannot_end_again(self, database: Database, now: datetime) -> None:
        with database.writing() as db:
            new = a_merchant(db, now=now)
            [only] = list_keys(db, new.merchant.id, now=now)
            revoke_key(a_work(db, new.merchant, now=now), only.id)

            with pytest.raises(NotFound, match="There is no such key, or it has ended already"):
                revoke_key(a_work(db, new.merchant, now=now + DAY), only.id)

    def test_somebody_elses_key_is_as_unknown_as_one_that_does_not_exist(
        self, database: Database, now: datetime
    ) -> None:
        with database.writing() as db:
            mine = a_merchant(db, now=now)
            theirs = a_merchant(db, now=now)
            [key] = list_keys(db, theirs.merchant.id, now=now)
            said = set()
            for number in (key.id, 999_999, 0, -1, 10**30):
                with pytest.raises(NotFound) as refusal:
                    revoke_key(a_work(db, mine.merchant, now=now), number)
                said.add(refusal.value.message)

        assert len(said) == 1
        assert opens(database, theirs.merchant.code, theirs.api_key, now=now)


class TestLimitedKeys:
    def test_a_key_has_its_limits_and_ends_when_it_should(self, database: Database) -> None:
        with database.writing() as db:
            new = a_merchant(db, now=NOON)
            lab = open_catalogue(None).labs[0].code
            limits = KeyLimits(" Reports ", KeyAccess.READ_ONLY, lab)
            key = add_key(a_work(db, new.merchant), limits, valid_for=DAY)
            found = find_key(db, new.merchant.code, hash_key(key), now=NOON)

        assert found is not None
        assert found.limits == KeyLimits("Reports", KeyAccess.READ_ONLY, lab)
        assert found.expires_at == NOON + DAY
        assert not opens(database, new.merchant.code, key, now=NOON + DAY)

    @pytest.mark.parametrize("valid_for", [timedelta(0), timedelta(days=-1), timedelta(days=3651)])
    def test_one_that_would_never_or_hardly_ever_end_is_refused(
        self, database: Database, valid_for: timedelta
    ) -> None:
        with database.writing() as db:
            new = a_merchant(db, now=NOON)
            with pytest.raises(BadInput, match="1 to 3650 days"):
                add_key(a_work(db, new.merchant), valid_for=valid_for)

    def test_a_lab_that_does_not_exist_is_refused(self, database: Database) -> None:
        with database.writing() as db:
            new = a_merchant(db, now=NOON)
            with pytest.raises(BadInput, match="There is no lab nowhere; the labs are: "):
                add_key(a_work(db, new.merchant), KeyLimits(lab="nowhere"))

    def test_its_replacement_may_do_the_same_for_as_long(self, database: Database) -> None:
        with database.writing() as db:
            new = a_merchant(db, now=NOON)
            limits = KeyLimits("Reports", KeyAccess.NO_MONEY)
            old = add_key(a_work(db, new.merchant), limits, valid_for=30 * DAY)
            [listed, _] = list_keys(db, new.merchant.id, now=NOON)
            later = NOON + DAY
            key = replace_key(a_work(db, new.merchant, now=later), listed.id, old_key_valid_for=DAY)
            found = find_key(db, new.merchant.code, hash_key(key), now=later)

        assert found is not None
        assert (found.limits, found.expires_at) == (limits, later + 30 * DAY)
        assert opens(database, new.merchant.code, old, now=later + DAY - timedelta(seconds=1))
        assert not opens(database, new.merchant.code, old, now=later + DAY)
        assert opens(database, new.merchant.code, new.api_key, now=later + DAY)

    def test_one_that_is_not_there_cannot_be_replaced(self, database: Database) -> None:
        with database.writing() as db:
            mine, theirs = a_merchant(db, now=NOON), a_merchant(db, now=NOON)
            [key] = list_keys(db, theirs.merchant.id, now=NOON)
            for key_id in (key.id, 999):
                with pytest.raises(NotFound, match="no such key"):
                    replace_key(a_work(db, mine.merchant), key_id, old_key_valid_for=DAY)

    def test_where_there_is_no_room_one_is_replaced_at_once(self, database: Database) -> None:
        with database.writing() as db:
            new = a_merchant(db, now=NOON)
            for _ in range(MOST_KEYS - 1):
                one_more(db, new, now=NOON)
            first = list_keys(db, new.merchant.id, now=NOON)[-1]
            with pytest.raises(WrongState, match="At most 20 keys"):
                replace_key(a_work(db, new.merchant), first.id, old_key_valid_for=DAY)
            replace_key(a_work(db, new.merchant), first.id, old_key_valid_for=timedelta(0))
            assert len(list_keys(db, new.merchant.id, now=NOON)) == MOST_KEYS

    def test_a_rotation_leaves_each_its_own_end(self, database: Database) -> None:
        with database.writing() as db:
            new = a_merchant(db, now=NOON)
            add_key(a_work(db, new.merchant), valid_for=DAY)
            rotate_key(a_work(db, new.merchant), old_key_valid_for=7 * DAY)
            ends = [key.expires_at for key in list_keys(db, new.merchant.id, now=NOON)]

        assert ends == [None, NOON + DAY, NOON + 7 * DAY]
