"""Mail reaches a real server: once, again after trouble, and never too late."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import select, update
from structlog.typing import EventDict

from printworks.actions.accounts.people import invite_operator
from printworks.actions.brand import change_brand, change_brand_logo
from printworks.actions.mail.choices import change_mail_settings
from printworks.actions.mail.notices import notify
from printworks.actions.mail.writing import NewLetter, write_mail
from printworks.actions.orders.orders import cancel_order
from printworks.actions.privacy.erasing import erase_order
from printworks.actions.work import SystemWork
from printworks.rules.brand import Brand
from printworks.rules.jobs import JobKind, JobState
from printworks.rules.languages import Language
from printworks.rules.mail import (
    NOTICES,
    WITH_LINK,
    MailFacts,
    MailKind,
    MailState,
    NoticeFact,
)
from printworks.rules.orders import Payment
from printworks.rules.people import Realm, Role
from printworks.settings import Settings
from printworks.store.accounts.invitations import find_invitation
from printworks.store.accounts.merchants import get_merchant
from printworks.store.accounts.people import NewPerson, insert_person
from printworks.store.accounts.shops import Logo
from printworks.store.engine.database import Database
from printworks.store.mail.mails import Mail, MailSearch, search_mails
from printworks.store.mail.settings import MailSettings
from printworks.store.queue.jobs import NewJob, enqueue
from printworks.store.tables import jobs, mails
from tests.actions.people import a_person
from tests.clocks import MovableClock
from tests.factories import (
    NOON,
    a_merchant,
    a_system_work,
    a_work_of,
    an_order,
    some_services,
)
from tests.imaging.pictures import a_picture, as_jpeg
from tests.mail.post_office import (
    PostOffice,
    html_of,
    link_in,
    open_post_office,
    some_settings,
    text_of,
)
from tests.mail.sending import work_on_mail
from tests.worker.conftest import OpenShop
from tests.worker.receivers import Receiver, listen, says

ITEM = NoticeFact(
    order=4711,
    reference="Kranich-17",
    subject=23,
    text="The address was not found.",
    amount=123456,
    currency="EUR",
    carrier="DPD",
    tracking_number="01234567890",
    tracking_url="https://track.example/01234567890",
    merchant="Fox Prints",
    merchant_code="abc",
)


@dataclass
class MailRoom:
    """A deployment that sends mail, and the server that takes it."""

    database: Database
    settings: Settings
    office: PostOffice
    clock: MovableClock

    def send(self) -> int:
        """Do what is due about mail."""
        return work_on_mail(self.database, self.settings, self.clock)

    def work(self, db: Any) -> SystemWork:
        """Begin work."""
        return some_services(self.database, self.settings, self.clock).system_work(db)

    def write(self, kind: MailKind = MailKind.NEW_DEVICE, **values: Any) -> None:
        """Write a mail."""
        usual = {"email": "mary@shop.example", "facts": MailFacts(at=NOON)}
        with self.database.writing() as db:
            assert write_mail(self.work(db), NewLetter(kind=kind, **{**usual, **values}))

    def mails(self) -> list[Mail]:
        """Return what has become of the mails, the oldest first."""
        with self.database.reading() as db:
            return search_mails(db, MailSearch(), limit=99).mails[::-1]

    def jobs(self, kind: JobKind = JobKind.SEND_MAIL) -> list[Any]:
        """Return the jobs that send them."""
        with self.database.reading() as db:
            return list(db.execute(select(jobs).where(jobs.c.kind == kind)).all())


@pytest.fixture
def room(database: Database, tmp_path: Path) -> Iterator[MailRoom]:
    """A deployment that sends mail."""
    with open_post_office() as office:
        settings = office.settings(some_settings(tmp_path))
        yield MailRoom(database, settings, office, MovableClock())


def test_an_invitation_arrives_and_its_link_works_and_is_forgotten_here(room: MailRoom) -> None:
    with room.database.writing() as db:
        invite_operator(room.work(db), "tom@works.example", Role.SUPPORT)
    room.send()

    [mail] = room.office.taken
    assert mail["To"] == "tom@works.example"
    assert mail["Subject"] == "[Sandbox] Invitation to the console of Fox & Sons Print"
    token = link_in(mail).rpartition("/")[2]
    assert link_in(mail).startswith("https://print.example/invitations/")
    assert link_in(mail) in html_of(mail)
    with room.database.reading() as db:
        assert find_invitation(db, token, now=NOON) is not None
    [kept] = room.mails()
    assert (kept.state, kept.secret, kept.sent_at) == (MailState.SENT, None, NOON)
    assert mail["Message-ID"] == f"<{kept.message_id}>"


@pytest.mark.parametrize("environment", ["sandbox", "live"])
def test_a_mail_of_each_kind_arrives(room: MailRoom, environment: str) -> None:
    room.settings = room.office.settings(room.settings, environment=environment)
    with room.database.writing() as db:
        person = a_person(db, "mary@shop.example")
        assert person.merchant_id is not None
        reply = MailSettings(recipient_reply_to="hello@shop.example")
        work = room.work(db)
        change_mail_settings(work.for_merchant(get_merchant(db, person.merchant_id)), reply)
    facts = MailFacts(
        shop="Fox Prints", role="support", until=NOON + timedelta(hours=1), at=NOON, items=[ITEM]
    )
    for kind in MailKind:
        room.write(
            kind,
            facts=facts,
            merchant_id=person.merchant_id,
            person_id=person.id,
            token="secret" if kind in WITH_LINK else None,
        )

    room.send()

    assert len(room.office.taken) == len(MailKind)
    by_id = {f"<{mail.message_id}>": mail.kind for mail in room.mails()}
    for mail in room.office.taken:
        kind = by_id[mail["Message-ID"]]
        assert mail["Subject"].startswith("[Sandbox] ") is (environment == "sandbox")
        assert ("secret" in text_of(mail)) is (kind in WITH_LINK)
        can_end = kind in NOTICES or kind is MailKind.PARCEL_SENT
        assert (mail["List-Unsubscribe"] is not None) is can_end
        if can_end:
            address = mail["List-Unsubscribe"].strip("<>")
            assert address.startswith(f"https://print.example/unsubscribe/{kind}/")
            assert address in text_of(mail)
            assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        is_parcel = kind is MailKind.PARCEL_SENT
        assert mail["From"].addresses[0].display_name == (
            "Fox Prints" if is_parcel else "Fox & Sons Print"
        )
        assert mail["Reply-To"] == ("hello@shop.example" if is_parcel else None)
        assert "Fox & Sons Print" in text_of(mail)
    assert {mail.state for mail in room.mails()} == {MailState.SENT}


def test_a_mail_is_written_in_the_language_and_the_form_of_its_reader(room: MailRoom) -> None:
    room.write(
        MailKind.PARCEL_SENT,
        language=Language.DE,
        name="Jürgen Müßig",
        facts=MailFacts(shop="Kranich", country="AT", items=[ITEM]),
        merchant_id=a_merchant_in(room),
    )
    room.send()

    [mail] = room.office.taken
    assert mail["Subject"] == "[Sandbox] Ihr Paket von Kranich ist unterwegs"
    assert mail["Content-Language"] == "de"
    assert mail["To"] == "Jürgen Müßig <mary@shop.example>"
    assert "Ihre Bestellung bei Kranich wurde gedruckt und versendet." in text_of(mail)
    assert "Fox & Sons Print druckt und versendet diese Bestellung für Kranich." in text_of(mail)


def test_a_mail_has_the_name_the_sender_and_the_texts_of_the_brand(room: MailRoom) -> None:
    with room.database.writing() as db:
        said = Brand(
            name="Fox & Sons",
            accent="#7a1f5c",
            sender_name="Fox Prints",
            sender_email="hello@fox.example",
            reply_to="help@fox.example",
            imprint="1 High Street",
            terms="Be kind.",
        )
        change_brand(room.work(db), said)
    room.write()

    room.send()

    [message] = room.office.taken
    assert message["From"] == "Fox Prints <hello@fox.example>"
    assert message["Reply-To"] == "help@fox.example"
    base = room.settings.public_url
    assert "your account at Fox & Sons" in " ".join(text_of(message).split())
    assert f"Legal notice: {base}/imprint" in text_of(message)
    assert f"Terms: {base}/terms" in text_of(message)
    assert "background:#7a1f5c" in html_of(message)
    assert f'href="{base}/terms"' in html_of(message)


def test_a_mail_has_the_logo_inside_and_says_the_same_without_it(
    room: MailRoom, tmp_path: Path
) -> None:
    drawn = tmp_path / "logo.jpg"
    drawn.write_bytes(as_jpeg(a_picture(600, 200)))
    room.settings = msgspec.structs.replace(room.settings, files=str(tmp_path / "files"))
    services = some_services(room.database, room.settings, room.clock)
    services.files.put("logos/1.jpg", drawn)
    with room.database.writing() as db:
        change_brand(room.work(db), Brand(name="Fox & Sons"))
        change_brand_logo(room.work(db), None, Logo("logos/1.jpg", 600, 200))
    room.write()
    room.write(MailKind.PARCEL_SENT, facts=MailFacts(shop="Kranich", items=[ITEM]))

    room.send()

    branded, to_recipient = sorted(room.office.taken, key=lambda mail: "parcel" in mail["Subject"])
    plain, related = branded.iter_parts()
    page, logo = related.iter_parts()
    assert plain.get_content_type() == "text/plain"
    assert related.get_content_type() == "multipart/related"
    assert logo.get_content() == drawn.read_bytes()
    assert (logo.get_content_type(), logo.get_content_disposition()) == ("image/jpeg", "inline")
    name = logo["Content-ID"].strip("<>")
    assert f'src="cid:{name}" alt="" width="120" height="40"' in page.get_content()
    assert "Fox &amp; Sons</td>" in page.get_content()
    assert "your account at Fox & Sons" in " ".join(text_of(branded).split())
    # Recipients know the shop, and not who prints for it.
    assert "cid:" not in html_of(to_recipient)
    assert not any(part.get_content_type() == "image/jpeg" for part in to_recipient.walk())


def test_without_a_brand_a_mail_is_as_the_settings_say(room: MailRoom) -> None:
    room.write()

    room.send()

    [message] = room.office.taken
    assert room.settings.mail_from in message["From"]
    assert "/imprint" not in text_of(message)
    assert "background:#2450c8" in html_of(message)


@pytest.mark.parametrize("payment", Payment)
def test_a_mail_about_a_parcel_leads_to_the_page_of_its_order(
    room: MailRoom, payment: Payment
) -> None:
    with room.database.writing() as db:
        merchant = a_merchant(db)
        order = an_order(db, merchant, payment=payment)
        gone = an_order(db, merchant)
        cancel_order(a_work_of(db, gone), gone)
        erase_order(a_system_work(db), gone.id, asked_by="the recipient")
    for number in (order.id, gone.id):
        room.write(
            MailKind.PARCEL_SENT,
            language=Language.DE,
            facts=MailFacts(shop="Kranich", country="AT", items=[ITEM]),
            merchant_id=merchant.id,
            order_id=number,
        )
    room.send()

    pages = {
        page
        for mail in room.office.taken
        for page in re.findall(r"https://print\.example/(?:pay|track)/\S+", text_of(mail))
    }
    [page] = pages
    pays = payment is Payment.INVOICE_RECIPIENT
    start = f"/pay/{order.payment_token}" if pays else f"/track/{order.id}/"
    assert page.startswith(f"https://print.example{start}")
    assert page.endswith("?language=de")


def a_merchant_in(room: MailRoom) -> int:
    """Add a merchant."""
    with room.database.writing() as db:
        return a_merchant(db).id


def test_what_the_server_refuses_for_good_fails_at_once(
    room: MailRoom, logged: list[EventDict]
) -> None:
    room.office.at_recipient = "550 No such user"
    room.write()
    room.send()

    [mail] = room.mails()
    assert (mail.state, mail.error) == (
        MailState.FAILED,
        "The mail server said 550: No such user",
    )
    [job] = room.jobs()
    assert job.state == JobState.FAILED
    assert room.office.asked == 1
    # Servers like to repeat the address: it stays out of logs.
    assert "No such user" not in job.last_error
    assert "No such user" not in str(logged)


def test_an_address_that_cannot_be_written_fails_without_asking(room: MailRoom) -> None:
    room.write(email="a..b@shop.example")
    room.send()

    assert [mail.state for mail in room.mails()] == [MailState.FAILED]
    assert room.office.asked == 0


def test_after_trouble_it_is_sent_again_and_arrives_once(room: MailRoom) -> None:
    room.office.at_data = "451 Out of disk"
    room.write()
    room.send()
    [waiting] = room.mails()
    room.office.at_data = PostOffice().at_data
    room.clock.advance(seconds=29)
    room.send()
    assert room.office.taken == []
    room.clock.advance(seconds=1)
    room.send()

    assert (waiting.state, waiting.error) == (
        MailState.WAITING,
        "The mail server said 451: Out of disk",
    )
    assert len(room.office.taken) == 1
    [mail] = room.mails()
    assert (mail.state, mail.error) == (MailState.SENT, None)


def test_a_server_that_is_away_costs_no_mail_until_its_time_is_over(room: MailRoom) -> None:
    settings = room.settings
    room.settings = PostOffice(room.office.port).settings(settings, smtp_security="starttls")
    room.write()
    for _ in range(5):
        room.send()
        room.clock.advance(hours=1)
    assert "STARTTLS" in (room.mails()[0].error or "")
    room.clock.advance(days=3)
    room.settings = settings
    room.send()

    [mail] = room.mails()
    assert (mail.state, mail.error) == (MailState.FAILED, "It could not be sent in time.")
    assert room.office.taken == []


def test_a_job_that_runs_twice_sends_one_mail(room: MailRoom) -> None:
    room.write()
    room.send()
    [mail] = room.mails()
    with room.database.writing() as db:
        for kind, args in ((JobKind.SEND_MAIL, mail.id), (JobKind.SEND_NOTICE, 99)):
            enqueue(db, NewJob(kind, None, {"mail": args}), now=NOON)
    room.send()

    assert len(room.office.taken) == 1


def test_a_worker_that_died_before_it_wrote_that_down_sends_the_same_message_again(
    room: MailRoom,
) -> None:
    room.write()
    room.send()
    with room.database.writing() as db:
        # As it is if the process ends after the answer of the server.
        db.execute(update(mails).values(state=MailState.WAITING, sent_at=None))
        db.execute(update(jobs).values(state=JobState.DUE, finished_at=None))
    room.send()

    first, second = room.office.taken
    assert first["Message-ID"] == second["Message-ID"]
    assert [mail.state for mail in room.mails()] == [MailState.SENT]


def test_without_a_server_any_more_nothing_waits_for_ever(room: MailRoom) -> None:
    room.write()
    room.settings = some_settings(room.settings.data)
    room.send()

    [mail] = room.mails()
    assert (mail.state, mail.error) == (MailState.FAILED, "No mail server is set any more.")


def test_a_forgotten_password_becomes_a_mail_only_for_those_who_exist(room: MailRoom) -> None:
    with room.database.writing() as db:
        person = a_person(db, "mary@shop.example")
        for person_id in (person.id, 0):
            enqueue(db, NewJob(JobKind.START_RESET, None, {"person": person_id}), now=NOON)
    room.send()

    [mail] = room.office.taken
    assert mail["Subject"] == "[Sandbox] Choose a new password"
    assert "until 15 Nov 2026, 13:00 UTC" in text_of(mail)


def test_what_happens_to_many_orders_is_one_mail_with_a_count(room: MailRoom) -> None:
    with room.database.writing() as db:
        person = a_person(db, "mary@shop.example")
        facts = [NoticeFact(order=number) for number in range(1, 13)]
        notify(room.work(db), person.merchant_id, MailKind.CALLBACKS_FAILED, facts)
    room.send()
    assert room.office.taken == []
    room.clock.advance(minutes=1)
    room.send()

    [mail] = room.office.taken
    assert mail["Subject"] == "[Sandbox] 12 callbacks failed for good"
    assert "and 2 more" in text_of(mail)


def test_accounts_are_looked_at_every_hour(room: MailRoom) -> None:
    with room.database.writing() as db:
        enqueue(db, NewJob(JobKind.CHECK_ACCOUNTS, None, {}), now=NOON)
    room.send()

    assert [job.state for job in room.jobs(JobKind.CHECK_ACCOUNTS)] == [JobState.DONE]


def test_old_mails_are_forgotten_and_late_ones_end(room: MailRoom) -> None:
    room.write()
    room.write(email="late@shop.example")
    keep = room.settings.keep_mails

    def purge(at: datetime) -> None:
        with room.database.writing() as db:
            db.execute(update(jobs).values(state=JobState.CANCELLED))
            enqueue(db, NewJob(JobKind.PURGE_MAILS, None, {}), now=at)
        room.clock.now = at
        room.send()

    purge(NOON + timedelta(days=3))
    assert {(mail.state, mail.error) for mail in room.mails()} == {
        (MailState.FAILED, "It could not be sent in time.")
    }
    purge(NOON + keep)
    assert len(room.mails()) == 2
    purge(NOON + keep + timedelta(seconds=1))
    assert room.mails() == []


def test_people_are_told_of_a_callback_that_failed_for_good(a_shop: OpenShop) -> None:
    with open_post_office() as office, Receiver() as receiver:
        shop = a_shop(
            smtp_host="127.0.0.1",
            smtp_port=str(office.port),
            smtp_security="none",
            mail_from="service@print.example",
        )
        listen(shop, receiver.at("/cb", says(500)))
        with shop.database.writing() as db:
            new = NewPerson(
                realm=Realm.MERCHANT,
                email="alice@shop.example",
                role=Role.OWNER,
                merchant_id=shop.merchant.id,
                password_hash="",
            )
            insert_person(db, new, now=NOON)
        order = shop.add_order()
        shop.drain()
        for _ in range(25):
            shop.pass_time(hours=12)

        [mail] = office.taken
    assert mail["Subject"] == "[Sandbox] A callback failed for good"
    assert f"* Order {order.id}" in text_of(mail)
