"""A merchant's home says what needs somebody, until it is solved; the bell says what is new."""

import re
from datetime import timedelta

import msgspec
import pytest
from sqlalchemy import update

from printworks.actions.accounts.shops import change_profile
from printworks.actions.issues.issues import answer_issue
from printworks.actions.mail.notices import notify
from printworks.rules.events import CallbackState
from printworks.rules.images import ImageStatus
from printworks.rules.mail import MailKind, NoticeFact
from printworks.rules.payments import Billing, Payer, PaymentState
from printworks.rules.people import Role
from printworks.rules.production import LabState
from printworks.rules.shops import ShopProfile
from printworks.settings import Settings
from printworks.store.accounts.merchants import set_billing
from printworks.store.callbacks.settings import (
    CallbackCandidate,
    read_callback_settings,
    write_callback_settings,
)
from printworks.store.engine.database import Database
from printworks.store.money.ledger import set_credit_limit
from printworks.store.tables import images, merchants, orders
from tests.actions.complaints import a_draft
from tests.api.client import Server
from tests.api.conftest import MovableClock
from tests.dashboard.scenes import HOSTILE, complain_about, hand_in, hear
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, merchant_of, open_colleagues_window
from tests.factories import NOON, a_system_work, a_work
from tests.store import rows

pytestmark = pytest.mark.both_databases


def fail_images(database: Database, order_id: int, status: ImageStatus) -> None:
    with database.writing() as db:
        db.execute(update(images).where(images.c.order_id == order_id).values(status=status))


class TestWhatNeedsYou:
    def test_a_quiet_day_says_so(self, alice: Window) -> None:
        said = alice.words("/home")

        assert "Nothing needs your attention." in said
        assert "No orders yet" in said

    def test_failed_images_of_a_draft_are_told_until_they_are_replaced(
        self, alice: Window, database: Database
    ) -> None:
        with database.writing() as db:
            draft = a_draft(db, merchant_of(db, alice), images=3, merchant_order_id=HOSTILE)
        fail_images(database, draft.id, ImageStatus.INVALID)

        page = alice.open("/home")
        assert "3 images cannot be printed." in words_of(page)
        assert HOSTILE in words_of(page)
        assert HOSTILE not in page.body.decode()
        assert f'href="/orders/{draft.id}"' in page.body.decode()

        fail_images(database, draft.id, ImageStatus.OK)
        assert "Nothing needs your attention." in alice.words("/home")

    def test_what_stands_in_the_way_of_orders_is_told_in_their_words(
        self, alice: Window, database: Database
    ) -> None:
        _, job = hand_in(database, alice)
        hear(database, job, LabState.FAILED, reason="Out of paper.")
        with database.writing() as db:
            merchant = merchant_of(db, alice)
            rows.add_order(db, merchant, held_at=NOON)
            rows.add_order(
                db,
                merchant,
                reasons=[
                    {"code": "payment-refused", "detail": "Your bank said no."},
                    {"code": "image-failed", "subject": 7},
                ],
            )
            rows.add_order(db, merchant, reasons=[{"code": "image-failed", "subject": 8}])

        said = alice.words("/home")
        assert "A lab could not make shipment" in said
        assert "The order is on hold" in said
        assert "Your bank said no. 1 more problem on its page." in said
        assert "Submit it again" in said
        assert "Replace the image" in said

    def test_whoever_cannot_help_is_only_led_to_the_place(
        self, alice: Window, server: Server, database: Database
    ) -> None:
        viewer = open_colleagues_window(server, database, alice, Role.VIEWER)
        with database.writing() as db:
            merchant = merchant_of(db, alice)
            rows.add_order(db, merchant, held_at=NOON)
            rows.add_callback(db, merchant, CallbackState.FAILED)

        said = viewer.words("/home")
        assert "The order is on hold" in said
        assert "See the order" in said
        assert "See them" in said
        assert "Release the order" not in said
        assert "resend" not in said

    def test_only_the_first_of_many_are_listed(self, alice: Window, database: Database) -> None:
        with database.writing() as db:
            merchant = merchant_of(db, alice)
            for _ in range(7):
                rows.add_order(db, merchant, held_at=NOON)

        said = alice.words("/home")
        assert said.count("The order is on hold") == 5
        assert "More orders do not go ahead." in said

    def test_an_answer_waits_until_it_is_answered(self, alice: Window, database: Database) -> None:
        issue = complain_about(database, alice)
        assert "Nothing needs your attention." in alice.words("/home")
        with database.writing() as db:
            answer_issue(a_system_work(db), issue.id, "Please send a photograph.")

        assert "We have answered you" in alice.words("/home")
        alice.do(f"/issues/{issue.id}", "answer-issue", comment="Here it is.")
        assert "Nothing needs your attention." in alice.words("/home")

    def test_callbacks_that_failed_and_addresses_that_did_not_answer_are_told(
        self, alice: Window, database: Database
    ) -> None:
        with database.writing() as db:
            merchant = merchant_of(db, alice)
            rows.add_callback(db, merchant, CallbackState.FAILED)
            known = read_callback_settings(db, merchant.id)
            silent = CallbackCandidate("https://shop.example/", NOON, 5, "No answer.", True)
            changed = msgspec.structs.replace(known, candidate=silent)
            write_callback_settings(db, merchant.id, changed)

        page = alice.open("/home")
        assert "1 callback could not be delivered" in words_of(page)
        assert "did not answer our challenge" in words_of(page)
        assert 'href="/integrations?state=given-up"' in page.body.decode()

    def test_a_draft_is_mentioned_before_it_is_cancelled(
        self, alice: Window, database: Database, settings: Settings
    ) -> None:
        keep = settings.keep_drafts
        assert keep is not None
        nearly = NOON - keep + timedelta(days=3)
        with database.writing() as db:
            merchant = merchant_of(db, alice)
            old = rows.add_order(db, merchant, created_at=nearly, updated_at=nearly)
            rows.add_order(db, merchant)

        said = alice.words("/home")
        assert f"Order {old}" in said
        assert said.count("It was never submitted, and is cancelled on 18 Nov ") == 1

    def test_a_credit_limit_that_is_used_up_is_told(
        self, alice: Window, server: Server, database: Database
    ) -> None:
        with database.writing() as db:
            merchant = merchant_of(db, alice)
            set_billing(db, merchant.id, Billing.ACCOUNT)
            set_credit_limit(db, merchant.id, 100)
            rows.add_charge(db, merchant, 100, at=NOON)
        member = open_colleagues_window(server, database, alice, Role.MEMBER)

        assert "See what you owe" in alice.words("/home")
        assert "See the team" in member.words("/home")

    def test_a_payment_that_the_bank_asks_about_waits_for_its_payer(
        self, alice: Window, database: Database
    ) -> None:
        with database.writing() as db:
            merchant = merchant_of(db, alice)
            rows.add_payment(db, merchant, state=PaymentState.WAITING, amount=1250)
            rows.add_payment(db, merchant, state=PaymentState.WAITING, payer=Payer.RECIPIENT)
            rows.add_payment(db, merchant, state=PaymentState.ASKED)

        said = alice.words("/home")
        assert said.count("Your bank wants you to confirm the payment of £12.50.") == 1

    def test_a_payment_that_the_bank_asks_about_is_not_lost_among_those_of_recipients(
        self, alice: Window, database: Database
    ) -> None:
        with database.writing() as db:
            merchant = merchant_of(db, alice)
            for _ in range(20):
                rows.add_payment(db, merchant, state=PaymentState.WAITING, payer=Payer.RECIPIENT)
            rows.add_payment(db, merchant, state=PaymentState.WAITING, amount=1250)

        assert "Your bank wants you to confirm the payment of £12.50." in alice.words("/home")


class TestFirstSteps:
    def test_they_tick_themselves_off_and_can_be_put_away(
        self, alice: Window, database: Database
    ) -> None:
        # The simulated bank needs no card, and her program has a key.
        assert "2 of 9 done" in alice.words("/home")
        with database.writing() as db:
            a_draft(db, merchant_of(db, alice))
        assert "4 of 9 done" in alice.words("/home")

        done = alice.do("/home", "hide-first-steps")
        assert "The first steps are hidden." in alice.follow(done)
        assert "of 9 done" not in alice.words("/home")
        alice.do("/home", "show-first-steps")
        assert "4 of 9 done" in alice.words("/home")

    def test_a_viewer_has_only_the_steps_of_a_viewer(
        self, alice: Window, server: Server, database: Database
    ) -> None:
        viewer = open_colleagues_window(server, database, alice, Role.VIEWER)

        said = viewer.words("/home")
        assert "0 of 1 done" in said
        assert "New order" not in said
        assert "What they cost you" not in said


class TestFigures:
    def test_the_charts_have_bars_and_the_same_figures_as_a_table(
        self, alice: Window, bob: Window, database: Database
    ) -> None:
        order, _ = hand_in(database, alice)
        hand_in(database, bob)

        page = alice.open("/home")
        said = words_of(page)
        assert "Orders submitted 1 order" in said
        assert f"£{order.price / 100:.2f} before refunds" in said
        assert page.body.count(b'<path class="chart__bar" d="M') == 2

    def test_a_page_that_looks_again_hears_when_nothing_is_new(
        self, alice: Window, database: Database
    ) -> None:
        page = alice.open("/home")
        assert alice.look_again(page).status == 204
        hand_in(database, alice)
        again = alice.look_again(page)
        assert again.status == 200
        assert b'id="live"' in again.body


class TestNews:
    def tell(self, database: Database, alice: Window, kind: MailKind, *facts: NoticeFact) -> None:
        with database.writing() as db:
            merchant = merchant_of(db, alice)
            notify(a_system_work(db), merchant.id, kind, facts or [NoticeFact()])

    def ring(self, window: Window) -> str:
        """Return what the bell says."""
        [said] = re.findall(
            r'id="bell"[^>]*aria-label="([^"]+)"', window.open("/orders").body.decode()
        )
        return str(said)

    def test_each_thing_is_a_sentence_with_its_place(
        self, alice: Window, bob: Window, database: Database
    ) -> None:
        order, _ = hand_in(database, alice, merchant_order_id=HOSTILE)
        about = NoticeFact(order=order.id, subject=7)
        self.tell(database, alice, MailKind.IMAGES_FAILED, about)
        self.tell(database, alice, MailKind.IMAGES_FAILED, about, about)
        self.tell(database, alice, MailKind.PAYMENTS_REFUSED, about)
        self.tell(database, alice, MailKind.ISSUES_ANSWERED, about)
        self.tell(database, alice, MailKind.CALLBACKS_FAILED)
        self.tell(database, alice, MailKind.LOW_CREDIT)
        self.tell(database, alice, MailKind.OVERDUE)

        page = alice.open("/news")
        said, body = words_of(page), page.body.decode()
        assert f"3 images of order {order.id} ({HOSTILE}) cannot be printed." in said
        assert f"The payment for order {order.id}" in said
        assert f"We answered your issue about order {order.id}" in said
        assert "A callback could not be delivered." in said
        assert "Little is left of your credit limit." in said
        assert "A part of what you owe is overdue." in said
        assert 'href="/issues/7"' in body
        assert HOSTILE not in body
        assert self.ring(alice) == "News, 7 unread"
        assert "No news yet" in bob.words("/news")

    def test_what_was_read_rings_no_more_and_what_comes_later_does(
        self, alice: Window, server: Server, database: Database
    ) -> None:
        finance = open_colleagues_window(server, database, alice, Role.FINANCE)
        self.tell(database, alice, MailKind.OVERDUE)
        page = alice.open("/news").body.decode()
        shown = dict(re.findall(r'name="(last_\w+)" value="(\d+)"', page))
        self.tell(database, alice, MailKind.LOW_CREDIT)

        done = alice.do("/news", "see-news", **shown)
        assert "Everything is marked as read." in alice.follow(done)
        assert self.ring(alice) == "News, 1 unread"
        # Each has seen what they have seen.
        assert self.ring(finance) == "News, 2 unread"

    def test_what_is_owed_does_not_ring_for_those_who_do_not_see_the_account(
        self, alice: Window, server: Server, database: Database
    ) -> None:
        member = open_colleagues_window(server, database, alice, Role.MEMBER)
        self.tell(database, alice, MailKind.OVERDUE)

        assert self.ring(member) == "News, nothing new"
        assert "No news yet" in member.words("/news")

    def test_a_day_is_one_of_the_shop_as_in_its_list_of_orders(
        self, alice: Window, database: Database
    ) -> None:
        with database.writing() as db:
            change_profile(
                a_work(db, merchant_of(db, alice)), ShopProfile(time_zone="Pacific/Kiritimati")
            )
        for _ in range(2):
            _, job = hand_in(database, alice)
            hear(database, job, LabState.DISPATCHED)

        page = alice.open("/news").body.decode()

        # Noon in London is two in the morning of the next day there.
        assert "/orders?status=Complete&amp;to=2026-11-16" in page

    def test_shipments_of_a_day_are_one_line(self, alice: Window, database: Database) -> None:
        for _ in range(2):
            _, job = hand_in(database, alice)
            hear(database, job, LabState.DISPATCHED)

        said = alice.words("/news")
        assert "2 shipments were sent, 2 orders complete." in said
        assert self.ring(alice) == "News, 1 unread"
        page = alice.open("/news").body.decode()
        alice.do("/news", "see-news", **dict(re.findall(r'name="(last_\w+)" value="(\d+)"', page)))
        assert self.ring(alice) == "News, nothing new"

    def test_the_bell_of_a_page_asks_and_hears_nothing_while_nothing_is_new(
        self, alice: Window, database: Database, clock: MovableClock
    ) -> None:
        [address] = re.findall(r'id="bell"[^>]*hx-get="([^"]+)"', alice.open("/keys").body.decode())

        assert alice.open(address, HX_Request="true").status == 204
        self.tell(database, alice, MailKind.LOW_CREDIT)
        rung = alice.open(address, HX_Request="true")
        assert rung.status == 200
        assert b'id="bell"' in rung.body
        # Where somebody types, nobody is sent to the sign-in page.
        clock.advance(days=40)
        ended = alice.open(address, HX_Request="true")
        assert (ended.status, "hx-redirect" in ended.headers) == (204, False)


def test_nothing_here_is_anothers(alice: Window, bob: Window, database: Database) -> None:
    hand_in(database, alice)
    with database.writing() as db:
        rows.add_order(db, merchant_of(db, alice), held_at=NOON)
        assert db.execute(update(merchants).values(name="The same")).rowcount == 2
        assert db.execute(update(orders).values(recipient_name="Zora")).rowcount

    said = bob.words("/home")
    assert "Nothing needs your attention." in said
    assert "Zora" not in said
