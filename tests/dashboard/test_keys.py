"""The keys of a merchant's programs, shown once and ended at will."""

import html
import re
from datetime import timedelta

import pytest

from printworks.catalogue.opening import open_catalogue
from printworks.store.accounts.merchants import hash_key
from printworks.store.accounts.requests import note_key_uses
from printworks.store.engine.database import Database
from tests.api.client import Client
from tests.api.conftest import MovableClock
from tests.dashboard.scenes import let_labs_be_seen
from tests.dashboard.telling import did
from tests.dashboard.visits import words_of
from tests.dashboard.windows import PASSWORD, Window
from tests.factories import NOON
from tests.running import Answer

ID = "X-Service-MerchantId"
KEY = "X-Service-REST-API-Key"
LAB = open_catalogue(None).labs[0].code


def key_of(page: Answer) -> str:
    """Return the key that a page shows, and make sure that its command line has it too."""
    body = html.unescape(page.body.decode())
    keys = re.findall(r"pw_sandbox_[A-Za-z0-9_-]{43}", body)
    assert len(set(keys)) == 1
    assert f"'{KEY}: {keys[0]}'" in body
    return str(keys[0])


def ids_of(window: Window) -> list[str]:
    """Return the numbers of the keys that work, newest first."""
    return re.findall(r'href="/keys\?revoke=(\d+)', window.open("/keys").body.decode())


def opens(window: Window, key: str) -> bool:
    """Say whether a key opens the API."""
    program = Client(window.api.server, "/v3.0", {**window.api.credentials, KEY: key})
    return program.post("/orders").status != 401


def test_the_page_says_how_to_ask_and_never_with_which_key(
    alice: Window, database: Database
) -> None:
    key = alice.api.credentials[KEY]
    with database.writing() as db:
        note_key_uses(db, {hash_key(key): NOON + timedelta(hours=3, minutes=7)})

    page = alice.open("/keys")

    words = words_of(page)
    assert f"pw_sandbox_…{key[-4:]}" in words
    assert "15:07 Never" in words
    assert f"'{ID}: {alice.api.credentials[ID]}'" in words
    assert f"'{KEY}: YOUR-KEY' https://print.example/v3.0/orders" in words
    assert 'href="/v3.0/docs"' in page.body.decode()
    assert key not in page.body.decode()


@pytest.mark.both_databases
def test_a_new_one_is_shown_once_and_works_beside_the_others(
    alice: Window, database: Database
) -> None:
    new = key_of(alice.do("/keys", "add-key"))

    assert opens(alice, new)
    assert opens(alice, alice.api.credentials[KEY])
    assert new not in alice.open("/keys").body.decode()
    assert did(database) == [("add-key", f"…{new[-4:]}")]
    for _ in range(18):
        assert alice.do("/keys", "add-key").status == 200
    refused = alice.do("/keys", "add-key")
    assert refused.status == 400
    assert "At most 20 keys can work at the same time; revoke one first." in words_of(refused)


@pytest.mark.both_databases
def test_the_old_ones_go_on_for_as_long_as_was_chosen(
    alice: Window, database: Database, clock: MovableClock
) -> None:
    first = alice.api.credentials[KEY]
    assert alice.do("/keys", "rotate-keys", old_keys="for ever").status == 400

    second = key_of(alice.do("/keys", "rotate-keys", old_keys="day"))
    assert opens(alice, first)
    assert opens(alice, second)
    clock.advance(hours=23)
    assert opens(alice, first)
    clock.advance(hours=1)
    assert not opens(alice, first)

    fields = {"old_keys": "at-once", "current_password": PASSWORD}
    third = key_of(alice.do("/keys", "rotate-keys", **fields))
    assert [opens(alice, key) for key in (second, third)] == [False, True]
    assert did(database) == [("rotate-keys", f"…{key[-4:]}") for key in (second, third)]


@pytest.mark.both_databases
def test_one_can_be_revoked_and_the_last_one_only_on_purpose(
    alice: Window, database: Database
) -> None:
    first = alice.api.credentials[KEY]
    second = key_of(alice.do("/keys", "add-key"))
    newest, oldest = ids_of(alice)

    assert "Revoke …" + first[-4:] in alice.words(f"/keys?revoke={oldest}")
    revoked = alice.follow(alice.do("/keys", "revoke-key", key=oldest))
    assert "The key was revoked." in revoked
    assert [opens(alice, key) for key in (first, second)] == [False, True]
    refused = alice.do("/keys", "revoke-key", key=newest)
    assert refused.status == 400
    assert "This is your last key." in words_of(refused)
    assert opens(alice, second)

    last = alice.follow(alice.do("/keys", "revoke-key", key=newest, sure="yes"))
    assert "No active keys" in last
    assert not opens(alice, second)
    assert did(database)[1:] == [("revoke-key", f"…{key[-4:]}") for key in (first, second)]
    assert alice.do("/keys", "revoke-key", key=newest, sure="yes").status == 404
    assert opens(alice, key_of(alice.do("/keys", "add-key")))


def test_nothing_is_done_without_the_password(
    alice: Window, database: Database, clock: MovableClock
) -> None:
    clock.advance(minutes=10)
    [key] = ids_of(alice)
    for form_action in ("add-key", "rotate-keys", "replace-key", "revoke-key"):
        for password in ("", "wrong password"):
            page = alice.do(
                "/keys",
                form_action,
                key=key,
                sure="1",
                old_keys="at-once",
                current_password=password,
            )
            assert page.status == 403
            assert "YOUR-KEY" in words_of(page)
    assert ids_of(alice) == [key]
    assert did(database) == []


def test_somebody_elses_is_not_there(alice: Window, bob: Window, database: Database) -> None:
    [hers] = ids_of(alice)
    assert hers not in ids_of(bob)
    for key in (hers, "0", "999999", str(2**64), "-1", "x", ""):
        assert bob.do("/keys", "revoke-key", key=key, sure="yes").status == 404
    assert opens(alice, alice.api.credentials[KEY])
    assert did(database) == []


class TestLimits:
    @pytest.mark.both_databases
    def test_a_key_gets_a_name_and_may_do_no_more_than_was_chosen(
        self, alice: Window, operator: Window, database: Database
    ) -> None:
        let_labs_be_seen(operator)
        fields = {"name": "Reports <1>", "access": "read-only", "lab": LAB, "ends": "30"}

        new = key_of(alice.do("/keys", "add-key", **fields))

        program = Client(alice.api.server, "/v3.0", {**alice.api.credentials, KEY: new})
        assert (program.get("/orders").status, program.post("/orders").status) == (200, 403)
        words = alice.words("/keys")
        assert "Reports <1>" in words
        assert "Read only" in words
        assert "Only " in words
        assert "Expires" in words
        assert did(database)[1:] == [("add-key", f"…{new[-4:]}")]

    @pytest.mark.parametrize(
        ("field", "complaint"),
        [
            ({"access": "x"}, "Choose what the key may do."),
            ({"ends": "31"}, "Choose when the key ends."),
            ({"lab": "nowhere"}, "A key for one lab is made by the operator."),
            ({"name": "x" * 81}, "at most 80 printable characters"),
        ],
    )
    def test_what_cannot_be_chosen_is_refused(
        self, alice: Window, database: Database, field: dict[str, str], complaint: str
    ) -> None:
        refused = alice.do("/keys", "add-key", **field)

        assert refused.status == 400
        assert complaint in words_of(refused)
        assert did(database) == []

    def test_one_is_replaced_by_one_that_may_do_the_same(
        self, alice: Window, database: Database
    ) -> None:
        old = key_of(alice.do("/keys", "add-key", name="Shop", access="no-money"))
        newest, _ = ids_of(alice)
        assert "Replace Shop" in alice.words(f"/keys?replace={newest}")

        new = key_of(alice.do("/keys", "replace-key", key=newest, old_keys="at-once"))

        assert [opens(alice, key) for key in (old, new)] == [False, True]
        assert "Do everything but spend money" in alice.words("/keys")
        assert did(database)[1:] == [("replace-key", f"…{new[-4:]}")]

    @pytest.mark.both_databases
    def test_an_operator_revokes_one_on_the_page_of_the_merchant(
        self, alice: Window, bob: Window, operator: Window, database: Database
    ) -> None:
        key = key_of(alice.do("/keys", "add-key", name="Lost", access="read-only"))
        [newest, _] = ids_of(alice)
        page = f"/console/merchants/{alice.code}"
        assert "Lost" in operator.words(page)

        elsewhere = f"/console/merchants/{bob.code}"
        assert operator.do(elsewhere, "revoke-merchant-key", key=newest).status == 404
        operator.follow(operator.do(page, "revoke-merchant-key", key=newest))

        assert not opens(alice, key)
        assert "Lost" not in operator.words(page).split("Recent activity")[0]
        assert ("revoke-key", f"…{key[-4:]}") in did(database)
