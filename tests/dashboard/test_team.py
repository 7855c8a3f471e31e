"""A team: who is in it, who was invited, and how each comes and goes."""

import re

import pytest

from printworks.rules.people import Realm, Role
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.people import get_person, list_people
from printworks.store.engine.database import Database
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock
from tests.dashboard.scenes import HOSTILE
from tests.dashboard.telling import listen
from tests.dashboard.visits import words_of
from tests.dashboard.windows import (
    PASSWORD,
    Window,
    find_token,
    merchant_of,
    open_colleagues_window,
)

pytestmark = pytest.mark.both_databases
TOM = "tom@shop.example"


def invite(window: Window, role: Role) -> str:
    """Invite Tom, and return where his link leads."""
    page = window.do("/team", "invite-to-team", email=TOM, role=role).body.decode()
    [path] = re.findall(r"(/invitations/[0-9a-f]+)", page)
    return str(path)


def accept(browser: Client, path: str) -> Window:
    """Follow a link and choose a password."""
    tom = Window(browser)
    token = find_token(tom.open(path))
    answer = tom.send(path, {"form_token": token, "password": PASSWORD})
    assert (answer.status, answer.headers["location"]) == (303, "/home")
    return tom


def test_a_colleague_is_invited_comes_is_promoted_and_goes(
    alice: Window, browser: Client, database: Database
) -> None:
    path = invite(alice, Role.VIEWER)
    assert "Invited" in alice.words("/team")
    tom = accept(browser, path)
    said = tom.words("/team")
    assert f"{TOM} You" in said
    assert "Only an owner can change the team." in said
    assert "Invite a colleague" not in said
    assert tom.open("/account").status == 403
    with database.reading() as db:
        people = list_people(db, Realm.MERCHANT, merchant_id=merchant_of(db, alice).id)
    [person] = [one for one in people if one.email == TOM]

    done = alice.do("/team", "change-team-role", person=person.id, role="finance")
    assert "The role was changed." in alice.follow(done)
    # From the next request on.
    assert tom.open("/account").status == 200

    done = alice.do("/team", "remove-from-team", person=person.id)
    assert "signed out everywhere" in alice.follow(done)
    assert tom.open("/home").status == 303
    with database.reading() as db:
        entries = list_audit(db, merchant_id=person.merchant_id, limit=10)
    assert [entry.action for entry in entries] == [
        "remove-from-team",
        "change-team-role",
        "accept-invitation",
        "invite-colleague",
    ]


def test_nobody_learns_by_an_invitation_who_signs_in_for_another_shop(
    alice: Window, bob: Window, operator: Window, browser: Client, database: Database
) -> None:
    assert alice.person is not None
    assert bob.person is not None
    theirs, own = bob.person.email, alice.person.email

    invited = alice.do("/team", "invite-to-team", email=theirs, role="viewer")
    refused = alice.do("/team", "invite-to-team", email=own, role="viewer")
    told = operator.do(f"/console/merchants/{alice.code}", "invite-colleague", email=theirs)

    [path] = re.findall(r"(/invitations/[0-9a-f]+)", invited.body.decode())
    assert f"{own} can sign in already." in words_of(refused)
    assert f"{theirs} can sign in already." in words_of(told)
    stranger = Window(browser)
    given = {"form_token": find_token(stranger.open(path)), "password": PASSWORD}
    assert "already in use; sign in instead" in words_of(stranger.send(path, given))
    with database.reading() as db:
        assert get_person(db, bob.person.id) == bob.person
        [entry] = list_audit(db, merchant_id=alice.person.merchant_id, limit=5)
    assert (entry.action, entry.subject) == ("invite-colleague", theirs)


def test_an_invitation_can_be_withdrawn_and_ends_by_itself(
    alice: Window, browser: Client, clock: MovableClock
) -> None:
    path = invite(alice, Role.MEMBER)
    [invitation] = re.findall(r'name="invitation" value="(\w+)"', alice.open("/team").body.decode())
    done = alice.do("/team", "withdraw-team-invitation", invitation=invitation)
    assert "The invitation was withdrawn." in alice.follow(done)
    assert Window(browser).open(path).status == 404

    path = invite(alice, Role.MEMBER)
    assert Window(browser).open(path).status == 200
    clock.advance(days=7)
    assert Window(browser).open(path).status == 404


def test_the_only_owner_cannot_go(alice: Window, database: Database) -> None:
    assert alice.person is not None
    me = alice.person.id

    assert "the only owner" in alice.words(f"/team?change={me}")
    for form_action, more in (("remove-from-team", {}), ("change-team-role", {"role": "viewer"})):
        refused = alice.do("/team", form_action, person=me, **more)
        assert refused.status == 400
        assert "Make somebody else an owner first." in words_of(refused)
    with database.reading() as db:
        assert get_person(db, me).role is Role.OWNER


def test_a_colleague_of_another_shop_is_not_there(
    alice: Window, bob: Window, database: Database
) -> None:
    assert bob.person is not None
    for form_action, more in (("remove-from-team", {}), ("change-team-role", {"role": "viewer"})):
        assert alice.do("/team", form_action, person=bob.person.id, **more).status == 404
        assert alice.do("/team", form_action, person="x", **more).status == 404
    assert bob.person.email not in alice.words(f"/team?change={bob.person.id}")


def test_what_is_wrong_is_said_and_what_was_typed_stays(alice: Window) -> None:
    refused = alice.do("/team", "invite-to-team", email=HOSTILE, role="member")
    assert refused.status == 400
    assert "Enter an email address" in words_of(refused)
    unknown = alice.do("/team", "invite-to-team", email=TOM, role="admin of everything")
    assert "Choose one of the roles." in words_of(unknown)
    assert f'value="{TOM}"' in unknown.body.decode()
    operators = alice.do("/team", "invite-to-team", email=TOM, role="admin")
    assert "A colleague's role is one of" in words_of(operators)


def test_buttons_that_a_role_may_not_press_are_not_there(
    alice: Window, server: Server, database: Database
) -> None:
    listen(database, alice)
    viewer = open_colleagues_window(server, database, alice, Role.VIEWER)

    assert "New order" in alice.words("/orders") or "Create your first" in alice.words("/orders")
    assert "Send test callback" in alice.words("/integrations")
    assert "Send test callback" not in viewer.words("/integrations")
    assert "Your role can look at this, but not change it." in viewer.words("/keys")
    refused = viewer.open("/orders/new")
    assert refused.status == 403
    assert "Ask an owner of the shop for access." in words_of(refused)


def test_other_sessions_can_be_ended_and_devices_have_names(
    alice: Window, database: Database, newcomer: Window
) -> None:
    assert alice.person is not None
    token = find_token(newcomer.open("/sign-in"))
    agent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0"
    fields = {"form_token": token, "email": alice.person.email, "password": PASSWORD}
    assert newcomer.send("/sign-in", fields, User_Agent=agent).status == 303

    said = alice.words("/settings")
    assert "Firefox on Windows" in said
    assert "Another program" in said
    assert agent not in said
    done = alice.do("/settings", "sign-out-others")
    assert "Your other sessions were signed out." in alice.follow(done)
    assert newcomer.open("/home").status == 303
    assert alice.open("/home").status == 200
