"""What a merchant's home reads: all that waits for somebody, and the same few rows in any shop."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, insert, text, update

from printworks.rules.events import CallbackState
from printworks.rules.images import ImageStatus
from printworks.rules.issues import Author, IssueState
from printworks.rules.ledger import EntryKind
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import Billing
from printworks.rules.people import Realm, Role
from printworks.store.accounts.merchants import Merchant
from printworks.store.accounts.people import NewPerson, insert_person
from printworks.store.engine.database import Database
from printworks.store.tables import api_keys, images, issue_remarks, merchants, orders, people
from printworks.store.views.home.days import DAYS, count_days
from printworks.store.views.home.first_steps import FirstSteps, read_first_steps
from printworks.store.views.home.needs import (
    count_failed_callbacks,
    list_answered,
    list_failed_drafts,
    list_old_drafts_of,
    list_troubled,
)
from printworks.store.views.home.news import list_feed, list_news, list_unseen
from printworks.store.views.home.pictures import find_first_images
from tests.actions.complaints import a_draft
from tests.actions.people import a_person
from tests.factories import NOON, a_merchant, an_order
from tests.store import rows
from tests.store.plans import explain_on_postgresql, explain_on_sqlite

_S = OrderStatus
STUCK = [{"code": "image-failed", "subject": 7}]


@pytest.fixture
def merchant(database: Database) -> Merchant:
    with database.writing() as db:
        return a_merchant(db)


def fail_images(db: Connection, order_id: int, status: ImageStatus) -> None:
    db.execute(update(images).where(images.c.order_id == order_id).values(status=status))


def remark(db: Connection, issue_id: int, number: int, author: Author, said: str | None) -> None:
    values = {"issue_id": issue_id, "number": number, "at": NOON, "author": author}
    db.execute(insert(issue_remarks).values(comment=said, **values))


def add_colleague(db: Connection, merchant_id: int, email: str) -> None:
    new = NewPerson(
        realm=Realm.MERCHANT,
        email=email,
        role=Role.OWNER,
        merchant_id=merchant_id,
        password_hash="x",
    )
    insert_person(db, new, now=NOON)


class TestNeeds:
    def test_open_orders_that_do_not_go_ahead_are_found(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            found = [
                rows.add_order(db, merchant, held_at=NOON),
                rows.add_order(db, merchant, reasons=STUCK, status=_S.SUBMITTED),
                rows.add_order(db, merchant, reasons=STUCK, status=_S.AWAITING_PAYMENT),
            ]
            rows.add_order(db, merchant)
            rows.add_order(db, merchant, reasons=STUCK, status=_S.CANCELLED)
            rows.add_order(db, merchant, held_at=NOON, status=_S.COMPLETE)
            rows.add_order(db, a_merchant(db), held_at=NOON)

            listed = list_troubled(db, merchant.id, limit=10)
            assert [order.id for order in listed] == found[::-1]
            assert len(list_troubled(db, merchant.id, limit=2)) == 2

    def test_a_draft_says_how_many_of_its_images_failed(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            well, missing = a_draft(db, merchant), a_draft(db, merchant, images=3)
            fail_images(db, missing.id, ImageStatus.FILE_NOT_FOUND_AT_URL)
            sent = a_draft(db, merchant)
            fail_images(db, sent.id, ImageStatus.INVALID)
            db.execute(update(orders).where(orders.c.id == sent.id).values(status=_S.SUBMITTED))
            fail_images(db, a_draft(db, a_merchant(db)).id, ImageStatus.INVALID)

            [draft] = list_failed_drafts(db, merchant.id, limit=10)
        assert (draft.id, draft.failed) == (missing.id, 3)
        assert draft.id != well.id

    def test_a_draft_that_somebody_changed_is_not_old(
        self, database: Database, merchant: Merchant
    ) -> None:
        long_ago = NOON - timedelta(days=60)
        with database.writing() as db:
            old = rows.add_order(db, merchant, created_at=long_ago, updated_at=long_ago)
            rows.add_order(db, merchant, created_at=long_ago, updated_at=NOON)
            rows.add_order(db, merchant)

            found = list_old_drafts_of(db, merchant.id, before=NOON - timedelta(days=30), limit=10)
        assert [draft.id for draft in found] == [old]

    def test_an_issue_waits_if_we_spoke_last(self, database: Database, merchant: Merchant) -> None:
        with database.writing() as db:
            answered, replied, moved, _ = (rows.add_issue(db, merchant) for _ in range(4))
            settled = rows.add_issue(db, merchant, state=IssueState.CLOSED_RESOLVED)
            remark(db, answered, 1, Author.MERCHANT, "It is torn.")
            remark(db, answered, 2, Author.SERVICE, "Please send a photograph.")
            remark(db, replied, 1, Author.SERVICE, "Please send a photograph.")
            remark(db, replied, 2, Author.MERCHANT, "Here it is.")
            remark(db, moved, 1, Author.SERVICE, None)
            remark(db, settled, 1, Author.SERVICE, "It is on its way again.")
            theirs = rows.add_issue(db, a_merchant(db))
            remark(db, theirs, 1, Author.SERVICE, "Hello.")

            assert [issue.id for issue in list_answered(db, merchant.id, limit=10)] == [answered]

    def test_callbacks_count_when_they_failed_for_good(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            for state in (CallbackState.FAILED, CallbackState.FAILED, CallbackState.PENDING):
                rows.add_callback(db, merchant, state)
            rows.add_callback(db, merchant, CallbackState.FAILED, number=None)
            other = a_merchant(db)
            rows.add_callback(db, other, CallbackState.FAILED)

            assert count_failed_callbacks(db, merchant.id) == 2
            assert count_failed_callbacks(db, other.id) == 1


def test_days_have_what_was_charged_and_empty_ones_are_there(
    database: Database, merchant: Merchant
) -> None:
    with database.writing() as db:
        for at, amount in ((NOON, 500), (NOON, 700), (NOON - timedelta(days=29), 90)):
            rows.add_charge(db, merchant, amount, at=at)
        rows.add_charge(db, merchant, 100, at=NOON, kind=EntryKind.REFUND)
        rows.add_charge(db, merchant, 100, at=NOON - timedelta(days=30))
        rows.add_charge(db, a_merchant(db), 100, at=NOON)

        rows.add_charge(db, merchant, 5, at=NOON, currency="EUR")

        days = count_days(db, merchant.id, "GBP", now=NOON)

    assert len(days) == DAYS
    # The one that was charged in another currency counts, and is not added up.
    assert (days[-1].day, days[-1].orders, days[-1].spent) == (NOON.date(), 3, 1200)
    assert (days[0].orders, days[0].spent) == (1, 90)
    assert sum(day.orders for day in days) == 4


def test_the_first_image_with_a_proof_is_the_picture_of_an_order(
    database: Database, merchant: Merchant
) -> None:
    with database.writing() as db:
        pictured, bare = a_draft(db, merchant, images=2), an_order(db, merchant)
        db.execute(
            update(images)
            .where(images.c.order_id == pictured.id)
            .values(status=ImageStatus.OK, width=10, height=10)
        )
        first = min(db.execute(images.select().with_only_columns(images.c.id)).scalars())

        assert find_first_images(db, [pictured.id, bare.id]) == {pictured.id: first}
        assert find_first_images(db, []) == {}


class TestFirstSteps:
    def read(self, db: Connection, merchant_id: int, person_id: int) -> FirstSteps:
        return read_first_steps(db, merchant_id, person_id)

    def test_they_tick_themselves_off(self, database: Database) -> None:
        with database.writing() as db:
            person = a_person(db, "mary@shop.example")
            merchant_id = person.merchant_id or 0
            db.execute(api_keys.delete())
            before = self.read(db, merchant_id, person.id)
            assert not any(getattr(before, name) for name in before.__struct_fields__)

            merchant = Merchant(merchant_id, "", "", timedelta(0))
            draft = a_draft(db, merchant)
            after = self.read(db, merchant_id, person.id)
            assert (after.has_order, after.has_image, after.has_submitted) == (True, True, False)

            db.execute(update(orders).where(orders.c.id == draft.id).values(status=_S.COMPLETE))
            db.execute(update(people).values(totp_secret="sealed"))
            values: dict[str, Any] = {
                "callback_url": "https://x.example",
                "billing": Billing.ACCOUNT,
            }
            db.execute(update(merchants).where(merchants.c.id == merchant_id).values(**values))
            key = {"hash": "x", "hint": "x", "created_at": NOON, "last_used_at": NOON}
            db.execute(insert(api_keys).values(merchant_id=merchant_id, **key))
            add_colleague(db, merchant_id, "tom@shop.example")
            done = self.read(db, merchant_id, person.id)
        assert all(getattr(done, name) for name in done.__struct_fields__)


READS: dict[str, Callable[[Connection, int], object]] = {
    "troubled": lambda db, merchant: list_troubled(db, merchant, limit=6),
    "failed drafts": lambda db, merchant: list_failed_drafts(db, merchant, limit=5),
    "old drafts": lambda db, merchant: list_old_drafts_of(db, merchant, before=NOON, limit=5),
    "answered": lambda db, merchant: list_answered(db, merchant, limit=5),
    "callbacks": count_failed_callbacks,
    "days": lambda db, merchant: count_days(db, merchant, "GBP", now=NOON),
    "pictures": lambda db, _: find_first_images(db, [1, 2, 3]),
    "first steps": lambda db, merchant: read_first_steps(db, merchant, 1),
    "news": lambda db, merchant: list_news(db, merchant, limit=100),
    "unseen": lambda db, merchant: list_unseen(db, merchant, after=3),
    "feed": lambda db, merchant: list_feed(db, merchant, after=3, limit=50),
}
# What was found, of which there is little, is counted, grouped and sorted afterwards.
AFTERWARDS = (
    "newest",
    "failed",
    "CO-ROUTINE",
    "USE TEMP B-TREE",
    "SCALAR SUBQUERY",
    "SCAN CONSTANT",
)


@pytest.mark.parametrize("read", READS)
class TestPlans:
    """Each statement ends with its index, or at its limit in the order of one."""

    def fill(self, database: Database) -> int:
        with database.writing() as db:
            merchant, other = a_merchant(db), a_merchant(db)
            add_colleague(db, merchant.id, "mary@shop.example")
            rows.add_orders(db, merchant, [{"recipient_name": "A 1"}] * 50)
            rows.add_orders(db, other, [{"recipient_name": "B 2"}] * 1000)
            # Without them it would be as quick to read everything.
            for _ in range(30):
                a_merchant(db)
            db.execute(text("ANALYZE"))
        return merchant.id

    def test_sqlite_scans_no_table(self, sqlite_database: Database, read: str) -> None:
        merchant = self.fill(sqlite_database)
        plans = explain_on_sqlite(sqlite_database, lambda db: READS[read](db, merchant))

        assert plans
        for statement, plan in plans.items():
            steps = [line for line in plan if not any(word in line for word in AFTERWARDS)]
            assert all(line.startswith("SEARCH") for line in steps), (statement, plan)

    def test_postgresql_scans_no_table(self, postgresql_database: Database, read: str) -> None:
        merchant = self.fill(postgresql_database)
        plans = explain_on_postgresql(
            postgresql_database, lambda db: READS[read](db, merchant), sorts=True
        )

        assert plans
        for statement, plan in plans.items():
            assert "Seq Scan" not in plan, (statement, plan)
