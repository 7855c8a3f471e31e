"""Who runs the console: invitations, roles, new passwords, and who did what."""

import re

import pytest

from printworks.rules.people import Realm, Role
from printworks.store.accounts.audit import AuditEntry, list_audit, record
from printworks.store.engine.database import Database
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock
from tests.dashboard.visits import words_of
from tests.dashboard.windows import PASSWORD, Window, find_token, open_console
from tests.factories import NOON
from tests.running import Answer

PEOPLE = "/console/people"


def audit(database: Database) -> list[AuditEntry]:
    """Return who did what, the latest first."""
    with database.reading() as db:
        return list_audit(db, limit=20)


def link_of(page: Answer) -> str:
    """Return the path of the link that a page shows this once."""
    assert page.status == 200, words_of(page)
    [address] = re.findall(r"https://print\.example(/invitations/[0-9a-f]+)", page.body.decode())
    return str(address)


def come_in(server: Server, link: str) -> Window:
    """Follow an invitation in a browser of one's own."""
    window = Window(Client(server, "", {}))
    token = find_token(window.open(link))
    answer = window.send(link, {"form_token": token, "password": "a new long password"})
    assert answer.status == 303, words_of(answer)
    return window


def id_of(window: Window) -> int:
    """Return somebody's number."""
    assert window.person is not None
    return window.person.id


class TestInvitations:
    @pytest.mark.both_databases
    def test_a_link_is_shown_once_and_opens_the_console_with_its_role(
        self, operator: Window, server: Server, database: Database
    ) -> None:
        page = operator.do(PEOPLE, "invite-operator", email="Pat@works.example", role="support")
        link = link_of(page)
        listed = operator.words(PEOPLE)
        pat = come_in(server, link)

        assert "pat@works.example" in listed
        assert link.rpartition("/")[2] not in listed
        assert "Support" in pat.words("/console/settings")
        assert pat.open(PEOPLE).status == 403
        [entry] = [one for one in audit(database) if one.action == "invite-operator"]
        assert (entry.who, entry.details) == ("admin@works.example", {"role": "support"})

    @pytest.mark.parametrize(
        ("email", "role", "reason"),
        [
            ("no address", "viewer", "Enter an email address"),
            ("pat@works.example", "owner", "An operator's role is one of"),
            ("pat@works.example", "king", "Choose one of the roles."),
            ("admin@works.example", "viewer", "can sign in already"),
        ],
    )
    def test_one_that_makes_no_sense_is_refused_with_the_reason(
        self, operator: Window, email: str, role: str, reason: str
    ) -> None:
        page = operator.do(PEOPLE, "invite-operator", email=email, role=role)

        assert page.status == 400
        assert reason in words_of(page)
        assert "/invitations/" not in page.body.decode()

    @pytest.mark.both_databases
    def test_a_link_can_be_withdrawn(self, operator: Window, browser: Client) -> None:
        page = operator.do(PEOPLE, "invite-operator", email="pat@works.example", role="viewer")
        link = link_of(page)
        [number] = re.findall(r'name="invitation" value="([0-9a-f]+)"', page.body.decode())

        done = operator.do(PEOPLE, "withdraw-operator-invitation", invitation=number)

        assert "The invitation was withdrawn" in operator.follow(done)
        assert browser.get(link).status == 404
        again = operator.do(PEOPLE, "withdraw-operator-invitation", invitation=number)
        assert again.status == 400

    def test_the_password_is_asked_for_once_more(
        self, operator: Window, clock: MovableClock
    ) -> None:
        clock.advance(minutes=11)
        fields = {"email": "pat@works.example", "role": "admin"}

        assert operator.do(PEOPLE, "invite-operator", **fields).status == 403
        proved = operator.do(PEOPLE, "invite-operator", current_password=PASSWORD, **fields)
        assert link_of(proved)


@pytest.mark.both_databases
class TestOnePerson:
    def test_a_role_counts_from_the_next_page_on(
        self, operator: Window, server: Server, database: Database
    ) -> None:
        viewer = open_console(server, database, Role.VIEWER)
        page = f"{PEOPLE}/{id_of(viewer)}"
        assert viewer.open(page).status == 403

        done = operator.do(page, "change-role", role="admin")

        assert "The role was changed." in operator.follow(done)
        assert viewer.open(page).status == 200
        assert audit(database)[0].details == {"role": "admin", "before": "viewer"}

    @pytest.mark.parametrize("form_action", ["change-role", "remove-operator"])
    def test_the_last_admin_stays(
        self, operator: Window, server: Server, database: Database, form_action: str
    ) -> None:
        open_console(server, database, Role.SUPPORT)

        refused = operator.do(f"{PEOPLE}/{id_of(operator)}", form_action, role="viewer")

        assert refused.status == 400
        assert "is the only admin" in words_of(refused)
        assert operator.open(PEOPLE).status == 200

    def test_somebody_who_goes_is_out_at_once_and_old_links_do_not_bring_them_back(
        self, operator: Window, server: Server, browser: Client
    ) -> None:
        links = [
            link_of(operator.do(PEOPLE, "invite-operator", email="pat@works.example", role=role))
            for role in ("viewer", "admin")
        ]
        pat = come_in(server, links[0])
        [number] = re.findall(r'href="/console/people/([0-9]+)">pat@', page_of(operator))
        reset = link_of(operator.do(f"{PEOPLE}/{number}", "reset-operator"))

        done = operator.do(f"{PEOPLE}/{number}", "remove-operator")

        assert "They can no longer sign in" in operator.follow(done)
        assert pat.open("/console/settings").status == 303
        assert [browser.get(link).status for link in (*links, reset)] == [404, 404, 404]
        assert operator.open(f"{PEOPLE}/{number}").status == 404

    def test_a_link_for_a_new_password_ends_the_old_one(
        self, operator: Window, server: Server, database: Database
    ) -> None:
        support = open_console(server, database, Role.SUPPORT)

        link = link_of(operator.do(f"{PEOPLE}/{id_of(support)}", "reset-operator"))
        anew = come_in(server, link)

        assert support.open("/console/settings").status == 303
        assert anew.open("/console/settings").status == 200

    def test_a_merchants_person_is_nobody_here(self, operator: Window, alice: Window) -> None:
        page = f"{PEOPLE}/{id_of(alice)}"

        assert operator.open(page).status == 404
        token = operator.token(PEOPLE)
        sent = operator.send(page, {"form_token": token, "do": "remove-operator"})
        assert sent.status == 404
        assert alice.open("/settings").status == 200


def page_of(operator: Window) -> str:
    """Return the page of people as it was sent."""
    return str(operator.open(PEOPLE).body.decode())


class TestWhoDidWhat:
    @pytest.mark.both_databases
    def test_it_is_shown_by_merchant_and_escaped(
        self, operator: Window, alice: Window, bob: Window
    ) -> None:
        alice.do(
            "/settings",
            "change-password",
            new_password="another long password",
            current_password=PASSWORD,
        )
        code = alice.code
        hostile = "<script>alert(1)</script>"

        mine = operator.words(f"/console/audit?merchant={code}")
        theirs = operator.words(f"/console/audit?merchant={bob.code}")
        nobody = operator.open(f"/console/audit?merchant={hostile}")

        assert "Change password" in mine
        assert "Changes for Alice" in mine
        assert "Change password" not in theirs
        assert hostile.encode() not in nobody.body
        assert "No merchant <script>" in words_of(nobody)

    @pytest.mark.both_databases
    def test_it_is_read_page_by_page(self, operator: Window, database: Database) -> None:
        with database.writing() as db:
            for number in range(52):
                record(
                    db,
                    AuditEntry(
                        at=NOON,
                        merchant_id=None,
                        realm=Realm.OPERATOR,
                        who="somebody",
                        action="invite-operator",
                        subject=f"p{number}@x.example",
                    ),
                )

        first = operator.open("/console/audit")
        [older] = re.findall(r'href="([^"]+)" rel="next"', first.body.decode())
        second = operator.words(older.replace("&amp;", "&"))

        assert "p51@x.example" in words_of(first)
        assert "p1@x.example" not in words_of(first)
        assert "p1@x.example" in second

    def test_only_support_and_admins_read_it(self, server: Server, database: Database) -> None:
        for role, status in ((Role.VIEWER, 403), (Role.PRODUCTION, 403), (Role.SUPPORT, 200)):
            assert open_console(server, database, role).open("/console/audit").status == status
