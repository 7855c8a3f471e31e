"""Mail at the pages: forgotten passwords, choices, lists, and the link that ends mails."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from printworks.actions.accounts.people import invite_colleague
from printworks.actions.mail.writing import NewLetter, write_mail
from printworks.mail.unsubscribing import make_unsubscribe_path
from printworks.rules.jobs import JobKind
from printworks.rules.languages import Language
from printworks.rules.mail import MailFacts, MailKind, MailState, NoticeFact
from printworks.rules.people import MAY, TEAM, Duty, Role
from printworks.settings import Settings
from printworks.store.accounts.secrets import get_link_key
from printworks.store.accounts.sessions import list_sessions
from printworks.store.engine.database import Database
from printworks.store.mail.choices import has_refused, hash_recipient, read_choices
from printworks.store.mail.mails import Mail, MailSearch, end_mail, search_mails
from printworks.store.mail.settings import read_mail_settings
from printworks.store.tables import jobs, mails
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock
from tests.dashboard.test_attacks import KNOWN, all_cookies, email_of, sign_in, window_of
from tests.dashboard.visits import words_of
from tests.dashboard.windows import (
    PASSWORD,
    Window,
    find_token,
    merchant_of,
    open_colleagues_window,
    open_console,
)
from tests.factories import NO_LIMITS, NOON, VAULT, some_services
from tests.mail.post_office import PostOffice, link_in, open_post_office, text_of
from tests.mail.sending import work_on_mail
from tests.running import Answer

ANOTHER = "seven purple umbrellas"


@pytest.fixture(scope="module")
def office() -> Iterator[PostOffice]:
    """A mail server."""
    with open_post_office() as office:
        yield office


@pytest.fixture
def settings(tmp_path: Path, office: PostOffice) -> Settings:
    """The settings of a service that sends mail."""
    office.taken.clear()
    given = {"PRINTWORKS_PUBLIC_URL": "https://print.example", **NO_LIMITS}
    return office.settings(Settings.load(tmp_path, given))


@pytest.fixture
def send_mails(database: Database, settings: Settings, clock: MovableClock) -> "SendMails":
    """A way to let a worker send what there is to send."""
    return SendMails(database, settings, clock)


class SendMails:
    """Sends what there is to send."""

    def __init__(self, database: Database, settings: Settings, clock: MovableClock) -> None:
        self._given = database, settings, clock

    def __call__(self) -> int:
        """Run the jobs that are due."""
        return work_on_mail(*self._given)


def enter(window: Window, page: str, **fields: str) -> Answer:
    """Fill in the form of a page."""
    return window.send(page, {"form_token": find_token(window.open(page)), **fields})


def mails_in(database: Database) -> list[Mail]:
    """Return the mails, the oldest first."""
    with database.reading() as db:
        return search_mails(db, MailSearch(), limit=99).mails[::-1]


class TestForgottenPasswords:
    @pytest.mark.both_databases
    def test_somebody_gets_back_in_alone_and_everybody_else_is_signed_out(
        self,
        newcomer: Window,
        alice: Window,
        database: Database,
        office: PostOffice,
        send_mails: SendMails,
    ) -> None:
        assert alice.person is not None
        assert "Get a link by email" in newcomer.words("/sign-in")
        asked = enter(newcomer, "/forgotten-password", email=alice.person.email.upper())
        assert "is on its way" in newcomer.follow(asked)
        send_mails()
        [mail] = office.taken
        path = link_in(mail).removeprefix("https://print.example")

        answer = enter(newcomer, path, password=ANOTHER)

        assert answer.status == 303
        assert newcomer.open("/orders").status == 200
        assert alice.open("/orders").status == 303
        with database.reading() as db:
            assert len(list_sessions(db, alice.person.id, now=NOON)) == 1
        assert newcomer.open(path).status == 404
        assert [mail.kind for mail in mails_in(database)] == [
            MailKind.PASSWORD_RESET,
            MailKind.PASSWORD_CHANGED,
        ]

    def test_the_link_ends_after_an_hour(
        self,
        newcomer: Window,
        alice: Window,
        clock: MovableClock,
        office: PostOffice,
        send_mails: SendMails,
    ) -> None:
        assert alice.person is not None
        enter(newcomer, "/forgotten-password", email=alice.person.email)
        send_mails()
        path = link_in(office.taken[0]).removeprefix("https://print.example")
        clock.advance(hours=1)

        assert newcomer.open(path).status == 404
        assert "has expired" in words_of(newcomer.open(path))

    @pytest.mark.parametrize("page", ["/forgotten-password", "/console/forgotten-password"])
    def test_known_and_unknown_addresses_are_answered_alike_and_do_the_same(
        self, newcomer: Window, alice: Window, operator: Window, database: Database, page: str
    ) -> None:
        whose = operator if page.startswith("/console") else alice
        assert whose.person is not None
        known = enter(newcomer, page, email=whose.person.email)
        unknown = enter(newcomer, page, email="nobody@shop.example")

        alike = [
            (
                answer.status,
                answer.body,
                {name: text for name, text in answer.headers.items() if name != "x-request-id"},
            )
            for answer in (known, unknown)
        ]
        assert alike[0] == alike[1]
        with database.reading() as db:
            asked = db.execute(select(jobs.c.args).where(jobs.c.kind == JobKind.START_RESET)).all()
        assert sorted(job.args["person"] for job in asked) == [0, whose.person.id]

    def test_nobody_asks_for_ever(self, newcomer: Window, clock: MovableClock) -> None:
        page = "/console/forgotten-password"
        for _ in range(3):
            assert enter(newcomer, page, email="nobody@shop.example").status == 303
        refused = enter(newcomer, page, email="nobody@shop.example")

        assert refused.status == 429
        assert int(refused.headers["retry-after"]) == 1200
        clock.advance(minutes=20)
        assert enter(newcomer, page, email="nobody@shop.example").status == 303

    def test_what_is_no_address_is_refused(self, newcomer: Window, database: Database) -> None:
        refused = enter(newcomer, "/forgotten-password", email="x@y.example\r\nBcc: z@y.example")

        assert refused.status == 400
        assert "Enter an email address" in words_of(refused)
        with database.reading() as db:
            assert db.execute(select(jobs)).all() == []


class TestNewBrowsers:
    def test_somebody_is_told_of_a_browser_that_was_never_used(
        self,
        newcomer: Window,
        alice: Window,
        database: Database,
        office: PostOffice,
        send_mails: SendMails,
    ) -> None:
        assert alice.person is not None
        page, fields = "/sign-in", {"email": alice.person.email, "password": PASSWORD}
        token = find_token(newcomer.open(page))
        newcomer.send(page, {"form_token": token, **fields}, User_Agent="Netscape 4\x00 <b>")
        send_mails()
        [mail] = office.taken

        assert mail["Subject"] == "[Sandbox] New sign-in to your account"
        assert "Browser: Netscape 4 <b>" in text_of(mail)

    def test_a_browser_that_was_used_before_is_no_news(
        self, server: Server, alice: Window, database: Database
    ) -> None:
        given = all_cookies(server, email_of(alice))
        known = window_of(server, **{KNOWN: given[KNOWN]})
        assert sign_in(known, email_of(alice), PASSWORD).status == 303

        assert [mail.kind for mail in mails_in(database)] == [MailKind.NEW_DEVICE]


class TestInvitations:
    def test_a_link_is_mailed_and_not_shown(
        self, operator: Window, office: PostOffice, send_mails: SendMails
    ) -> None:
        page = operator.do(
            "/console/people", "invite-operator", email="tom@works.example", role="support"
        )
        send_mails()

        assert "An email with the link is on its way." in words_of(page)
        assert b"/invitations/" not in page.body
        [mail] = office.taken
        assert link_in(mail).startswith("https://print.example/invitations/")

    def test_a_link_is_shown_to_an_operator_who_wants_to_pass_it_on(
        self, operator: Window, database: Database
    ) -> None:
        page = operator.do(
            "/console/people",
            "invite-operator",
            email="tom@works.example",
            role="support",
            by_hand="yes",
        )

        assert b"https://print.example/invitations/" in page.body
        assert mails_in(database) == []

    def test_a_colleague_and_a_reset_are_mailed(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        assert alice.person is not None
        address = f"/console/merchants/{alice.code}"
        operator.do(address, "invite-colleague", email="tom@shop.example")
        operator.do(address, "reset-colleague", person=alice.person.id)
        assert operator.person is not None
        operator.do(f"/console/people/{operator.person.id}", "reset-operator")

        assert [mail.kind for mail in mails_in(database)] == [
            MailKind.COLLEAGUE_INVITATION,
            MailKind.PASSWORD_RESET,
            MailKind.PASSWORD_RESET,
        ]


class TestChoosing:
    @pytest.mark.both_databases
    def test_a_person_chooses_and_a_merchant_too(self, alice: Window, database: Database) -> None:
        assert alice.person is not None
        page = alice.words("/mail/settings")
        assert "Declined payments" in page
        assert "Overdue merchants" not in page
        chosen = alice.do("/mail/settings", "choose-mails", kind=["overdue", "new-device", "x"])
        assert "Your choice was saved." in alice.follow(chosen)
        changed = alice.do(
            "/mail/settings",
            "change-mail-settings",
            language="de",
            writes_to_recipients="yes",
            recipient_language="",
            recipient_reply_to="Hello@shop.example",
        )
        assert "The mail settings were saved." in alice.follow(changed)

        with database.reading() as db:
            wanted = read_choices(db, alice.person.id)
            settings = read_mail_settings(db, merchant_of(db, alice).id)
        assert [kind for kind, is_on in wanted.items() if is_on] == [MailKind.OVERDUE]
        assert (settings.language, settings.recipient_language) == (Language.DE, None)
        assert settings.writes_to_recipients
        assert settings.recipient_reply_to == "hello@shop.example"

    def test_what_is_no_language_and_no_address_is_refused(
        self, alice: Window, database: Database
    ) -> None:
        for fields in ({"language": "xx"}, {"recipient_reply_to": "nowhere"}):
            refused = alice.do("/mail/settings", "change-mail-settings", **fields)
            assert refused.status == 400
        with database.reading() as db:
            assert not read_mail_settings(db, merchant_of(db, alice).id).writes_to_recipients

    def test_an_operator_chooses_what_the_role_is_for(
        self, operator: Window, server: Server, database: Database
    ) -> None:
        assert operator.person is not None
        operator.do("/console/mail/settings", "choose-operator-mails", kind="merchants-overdue")
        viewer = open_console(server, database, Role.VIEWER)

        with database.reading() as db:
            assert read_choices(db, operator.person.id) == {
                MailKind.ISSUES_RAISED: False,
                MailKind.MERCHANTS_OVERDUE: True,
            }
        assert "There is nothing to choose" in viewer.words("/console/mail/settings")


class TestUnsubscribing:
    def path(self, database: Database, reader: object, kind: MailKind) -> str:
        """Return the path that a mail has."""
        with database.reading() as db:
            path = make_unsubscribe_path(get_link_key(db, VAULT), str(reader), kind, Language.DE)
        return path.partition("?")[0]

    @pytest.mark.both_databases
    def test_one_click_ends_mails_of_one_kind_without_signing_in(
        self, browser: Client, alice: Window, database: Database
    ) -> None:
        assert alice.person is not None
        path = self.path(database, alice.person.id, MailKind.OVERDUE)
        looked = browser.get(f"{path}?language=de")
        with database.reading() as db:
            # Scanners look at every link.
            assert read_choices(db, alice.person.id) == {}
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        done = [browser.request("POST", path, b"List-Unsubscribe=One-Click", form) for _ in "12"]

        assert looked.status == 200
        assert "Keine Mails dieser Art mehr?" in words_of(looked)
        assert b'<html lang="de">' in looked.body
        assert [answer.status for answer in done] == [200, 200]
        assert "no longer receive these emails" in words_of(done[0])
        with database.reading() as db:
            assert read_choices(db, alice.person.id) == {MailKind.OVERDUE: False}

    @pytest.mark.both_databases
    def test_a_recipient_can_do_so_too(self, browser: Client, database: Database) -> None:
        reader = hash_recipient(1, "mary@home.example")
        done = browser.request("POST", self.path(database, reader, MailKind.PARCEL_SENT), b"")

        assert done.status == 200
        with database.reading() as db:
            assert has_refused(db, reader)

    def test_nobody_else_can_and_security_cannot_be_ended(
        self, browser: Client, alice: Window, database: Database
    ) -> None:
        assert alice.person is not None
        right = self.path(database, alice.person.id, MailKind.OVERDUE)
        for wrong in (
            f"{right[:-1]}{'0' if right[-1] != '0' else '1'}",
            right.replace("overdue", "low-credit"),
            right.replace(f"/{alice.person.id}/", "/99/"),
            f"{right}\N{SNOWMAN}",
            self.path(database, alice.person.id, MailKind.NEW_DEVICE),
            self.path(database, 99, MailKind.OVERDUE),
        ):
            assert browser.request("POST", wrong, b"").status == 404, wrong
        assert browser.get(self.path(database, 1, MailKind.NEW_DEVICE)).status == 404
        with database.reading() as db:
            assert read_choices(db, alice.person.id) == {}

    def test_a_flood_is_stopped(self, browser: Client, database: Database) -> None:
        path = self.path(database, "0" * 64, MailKind.PARCEL_SENT)
        answers = [browser.request("POST", path, b"").status for _ in range(11)]

        assert answers == [200] * 10 + [429]


class TestLists:
    def write_notices(
        self, database: Database, settings: Settings, window: Window, *, number: int = 1
    ) -> None:
        """Write so many mails to somebody."""
        assert window.person is not None
        letter = NewLetter(
            kind=MailKind.IMAGES_FAILED,
            email=window.person.email,
            facts=MailFacts(items=[NoticeFact(order=17, text="Not there.")]),
            merchant_id=window.person.merchant_id,
            person_id=window.person.id,
        )
        with database.writing() as db:
            work = some_services(database, settings).system_work(db)
            for _ in range(number):
                write_mail(work, letter)

    def write(self, database: Database, settings: Settings, window: Window) -> Mail:
        """Write a mail to somebody, and one to a colleague."""
        self.write_notices(database, settings, window)
        with database.writing() as db:
            work = some_services(database, settings).system_work(db)
            invite_colleague(work.for_merchant(merchant_of(db, window)), "tom@shop.example")
        return mails_in(database)[0]

    @pytest.mark.both_databases
    def test_an_operator_finds_a_mail_and_sends_it_again(
        self, operator: Window, alice: Window, database: Database, settings: Settings
    ) -> None:
        mail = self.write(database, settings, alice)
        listed = operator.words(f"/console/mail?q={mail.email[:4]}&state=waiting")
        page = f"/console/mail/{mail.id}"
        assert "[Sandbox] An image cannot be printed" in listed
        assert "tom@shop.example" not in listed
        assert "as soon as the mail server takes it" in operator.words(page)
        with database.writing() as db:
            end_mail(db, mail.id, MailState.FAILED, now=NOON, error="550 No such user")

        assert "550 No such user" in operator.words(page)
        assert "The email is sent again." in operator.follow(operator.do(page, "resend-mail"))
        assert mails_in(database)[0].state is MailState.WAITING
        refused = operator.do(page, "resend-mail")
        assert "still waiting" in words_of(refused)

    def test_no_page_shows_a_link_that_lets_somebody_in(
        self,
        operator: Window,
        alice: Window,
        database: Database,
        settings: Settings,
        send_mails: SendMails,
        office: PostOffice,
    ) -> None:
        self.write(database, settings, alice)
        _, invitation = mails_in(database)
        before = operator.open(f"/console/mail/{invitation.id}")
        send_mails()
        after = operator.open(f"/console/mail/{invitation.id}")
        [mail] = [one for one in office.taken if "/invitations/" in text_of(one)]
        token = link_in(mail).rpartition("/")[2]

        for page in (before, after, alice.open(f"/mail/{invitation.id}")):
            assert page.status == 200
            assert token.encode() not in page.body
            assert "https://print.example/invitations/…" in words_of(page)
            assert b"/unsubscribe/" not in page.body
        assert "cannot be sent again" in words_of(after)

    @pytest.mark.both_databases
    def test_a_merchant_sees_its_own_and_nobody_elses(
        self, alice: Window, bob: Window, database: Database, settings: Settings
    ) -> None:
        mail = self.write(database, settings, alice)

        assert "An image cannot be printed" in alice.words("/mail")
        assert "Not there." in alice.words(f"/mail/{mail.id}")
        assert "No emails yet" in bob.words("/mail")
        assert bob.open(f"/mail/{mail.id}").status == 404
        assert bob.open(f"/mail/{10**17}").status == 404

    @pytest.mark.both_databases
    @pytest.mark.parametrize("role", TEAM)
    def test_what_is_owed_is_read_only_by_those_who_see_the_account(
        self,
        server: Server,
        alice: Window,
        database: Database,
        settings: Settings,
        role: Role,
    ) -> None:
        assert alice.person is not None
        with database.writing() as db:
            work = some_services(database, settings).system_work(db)
            for kind in (MailKind.OVERDUE, MailKind.LOW_CREDIT, MailKind.INVOICES_READY):
                owed = NoticeFact(amount=4200, currency="GBP", due_on=NOON.date())
                letter = NewLetter(
                    kind=kind,
                    email=alice.person.email,
                    facts=MailFacts(items=[owed]),
                    merchant_id=alice.person.merchant_id,
                    person_id=alice.person.id,
                )
                write_mail(work, letter)
        written = mails_in(database)
        self.write(database, settings, alice)
        colleague = open_colleagues_window(server, database, alice, role)

        listed = colleague.open("/mail")
        pages = {mail.kind: colleague.open(f"/mail/{mail.id}").status for mail in written}

        sees_account = Duty.ACCOUNT in MAY[role]
        assert "An image cannot be printed" in words_of(listed)
        for mail in written:
            assert (f'/mail/{mail.id}"' in listed.body.decode()) is sees_account
            assert pages[mail.kind] == (200 if sees_account else 404)

    def test_a_list_says_when_there_is_more(
        self, operator: Window, alice: Window, database: Database, settings: Settings
    ) -> None:
        self.write_notices(database, settings, alice, number=52)

        page = operator.open("/console/mail")
        assert b'rel="next"' in page.body
        with database.reading() as db:
            oldest = db.execute(select(mails.c.id).order_by(mails.c.id).limit(1)).scalar_one()
        assert f"/console/mail/{oldest}".encode() in operator.open("/console/mail?before=3").body


def test_without_a_server_links_are_shown_as_before_and_nothing_is_asked_for(
    database: Database, tmp_path: Path, clock: MovableClock
) -> None:
    url = database.url.render_as_string(hide_password=False)
    given = {"PRINTWORKS_DATABASE_URL": url, **NO_LIMITS}
    server = Server(build_app(Settings.load(tmp_path, given), clock))
    operator, newcomer = open_console(server, database), Window(Client(server, "", {}))
    invited = operator.do(
        "/console/people", "invite-operator", email="tom@works.example", role="viewer"
    )
    asked = newcomer.open("/forgotten-password")
    token = find_token(newcomer.open("/sign-in"))
    sent = newcomer.send("/forgotten-password", {"form_token": token, "email": "x@y.example"})
    door = newcomer.words("/sign-in")
    told = operator.words("/console/mail")
    server.close()

    assert b"/invitations/" in invited.body
    assert (asked.status, sent.status) == (404, 404)
    assert "Ask the operator for a reset link" in door
    assert "No mail is sent" in told
    assert mails_in(database) == []
