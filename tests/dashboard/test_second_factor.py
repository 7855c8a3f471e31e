"""A second factor that a role requires."""

from collections.abc import Iterator

import msgspec
import pytest

from printworks.rules.people import Realm, Role
from printworks.rules.totp import STEP_SECONDS, make_code
from printworks.settings import Settings
from printworks.store.accounts.people import set_totp
from printworks.store.accounts.sessions import list_sessions
from printworks.store.engine.database import Database
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock
from tests.dashboard.authenticators import Authenticator
from tests.dashboard.test_passkeys import sign_in as sign_in_with
from tests.dashboard.test_tries import email_of
from tests.dashboard.visits import words_of
from tests.dashboard.windows import PASSWORD, Window, find_token, open_console
from tests.factories import NOON
from tests.running import Answer

SETTINGS = "/console/settings"
SECRET = "A" * 32


@pytest.fixture
def strict(database: Database, settings: Settings, clock: MovableClock) -> Iterator[Server]:
    """A service whose admins and owners need a second factor."""
    url = database.url.render_as_string(hide_password=False)
    changed = msgspec.structs.replace(settings, database_url=url, second_factor_for="admin, owner")
    server = Server(build_app(changed, clock))
    yield server
    server.close()


@pytest.fixture
def admin(strict: Server, database: Database) -> Window:
    """An admin who has no second factor yet."""
    return open_console(strict, database)


def sign_in(window: Window, admin: Window, **fields: str) -> Answer:
    """Send the form of the console's sign-in page."""
    page = "/console/sign-in"
    sent = {"form_token": find_token(window.open(page)), "email": email_of(admin)}
    return window.send(page, {**sent, "password": PASSWORD, **fields})


def add_passkey(window: Window) -> Authenticator:
    """Register a device."""
    from tests.dashboard.authenticators import options_of

    device, page = Authenticator(), window.do(SETTINGS, "begin-passkey")
    fields = {"form_token": find_token(page), "do": "add-passkey", "name": "Key"}
    added = window.send(SETTINGS, {**fields, "passkey": device.register(options_of(page))})
    assert "The passkey was added" in words_of(added)
    return device


def test_whoever_has_none_is_led_to_set_one_up_and_nowhere_else(
    admin: Window, clock: MovableClock
) -> None:
    for path in ("/console", "/console/merchants"):
        assert admin.open(path).headers["location"] == f"{SETTINGS}#totp"
        assert admin.send(path, {"do": "anything"}).headers["location"] == f"{SETTINGS}#totp"
    assert "Your role needs a second factor" in admin.words(SETTINGS)

    code = make_code(SECRET, int(clock.now.timestamp()) // STEP_SECONDS)
    done = admin.do(SETTINGS, "confirm-totp", totp_secret=SECRET, code=code)

    assert "Two-factor authentication is on." in words_of(done)
    assert admin.open("/console").status == 200
    assert "Add a passkey before" in words_of(admin.do(SETTINGS, "end-totp"))


def test_a_passkey_does_as_well(admin: Window, strict: Server) -> None:
    device = add_passkey(admin)
    assert admin.open("/console").status == 200
    stranger = Window(Client(strict, "", {}))

    alone = sign_in(stranger, admin)

    assert "Sign in with your passkey" in words_of(alone)
    assert sign_in_with(stranger, device, "/console/sign-in").status == 303
    assert stranger.open("/console").status == 200
    refused = stranger.do(SETTINGS, "remove-passkey", passkey_id=1)
    assert "needs a second factor" in words_of(refused)


def test_a_recovery_code_does_instead_of_the_passkey(admin: Window, strict: Server) -> None:
    add_passkey(admin)
    page = words_of(admin.do(SETTINGS, "make-recovery-codes"))
    code = next(word for word in page.split() if word.count("-") == 3)
    stranger = Window(Client(strict, "", {}))

    assert sign_in(stranger, admin, recovery_code=code).status == 303
    assert stranger.open("/console").status == 200


def test_a_session_without_it_ends_once_there_is_one(admin: Window, database: Database) -> None:
    assert admin.person is not None
    with database.writing() as db:
        set_totp(db, admin.person.id, SECRET, step=0)

    # Whoever knows only the password must not add a factor of their own.
    assert admin.open(SETTINGS).headers["location"].startswith("/console/sign-in")
    with database.reading() as db:
        assert list_sessions(db, admin.person.id, now=NOON) == []


def test_other_roles_are_left_alone(strict: Server, database: Database) -> None:
    viewer = open_console(strict, database, Role.VIEWER)
    assert viewer.open("/console").status == 200


def test_a_reset_link_does_not_stand_for_the_passkey(
    admin: Window, strict: Server, database: Database
) -> None:
    from printworks.actions.accounts.people import invite_to_choose_password
    from tests.factories import a_system_work

    add_passkey(admin)
    with database.writing() as db:
        token = invite_to_choose_password(a_system_work(db), Realm.OPERATOR, email_of(admin))
    stranger = Window(Client(strict, "", {}))
    page = f"/invitations/{token}"
    fields = {"form_token": find_token(stranger.open(page)), "password": "four words chosen anew"}

    assert stranger.send(page, fields).headers["location"] == "/console/sign-in"
