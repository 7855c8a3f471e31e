"""What somebody has to look into: all of it is found, and nothing that is well."""

from datetime import timedelta
from typing import Any, Final

import pytest
from sqlalchemy import Connection, update

from printworks.actions.accounts.clock import advance_clock
from printworks.rules.events import CallbackState
from printworks.rules.issues import IssueState
from printworks.rules.jobs import JobState
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import PaymentState
from printworks.rules.production import LabState
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.queue.jobs import NewJob, enqueue
from printworks.store.tables import jobs
from printworks.store.views.console.problems import MOST, OpenProblems, find_problems
from tests.factories import NOON, a_merchant, a_work
from tests.store import rows
from tests.store.plans import explain_on_postgresql, explain_on_sqlite

_S = OrderStatus
# Noon is on a Sunday.
TRANSIT = {"post": 3, "courier": 1}

# Why an order does not go ahead, as it is stored.
STUCK: Final = [{"code": "image-failed", "subject": 7}]


@pytest.fixture
def merchant(database: Database) -> Merchant:
    with database.writing() as db:
        return a_merchant(db)


def find(database: Database, limit: int = 10) -> OpenProblems:
    with database.reading() as db:
        return find_problems(db, transit_days=TRANSIT, now=NOON, limit=limit)


def test_where_all_is_well_there_is_nothing(database: Database, merchant: Merchant) -> None:
    with database.writing() as db:
        rows.add_shipment(db, merchant)
        rows.add_shipment(db, merchant, state=LabState.DISPATCHED, latest_arrival="2026-11-01")
        rows.add_callback(db, merchant, CallbackState.DELIVERED)
        rows.add_payment(db, merchant, state=PaymentState.PAID)
        rows.add_payment(db, merchant, state=PaymentState.REFUNDED)
        rows.add_payment(db, merchant, state=PaymentState.REPAID)
        rows.add_payment(db, merchant, created_at=NOON - timedelta(minutes=59))
        rows.add_issue(db, merchant, state=IssueState.CANCELLED)
        rows.add_order(db, merchant, reasons=STUCK)
        enqueue(db, NewJob("fetch-image", merchant.id, {}), now=NOON)

    problems = find(database)

    assert {name: getattr(problems, name).count for name in problems.__struct_fields__} == (
        dict.fromkeys(problems.__struct_fields__, 0)
    )


class TestOrders:
    def test_held_orders_are_found_while_they_can_go_on(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            held = [
                rows.add_order(db, merchant, held_at=NOON, status=status)
                for status in (_S.NOT_YET_SUBMITTED, _S.SUBMITTED)
            ]
            rows.add_order(db, merchant, held_at=NOON, status=_S.CANCELLED)
            rows.add_order(db, merchant, held_at=NOON, status=_S.COMPLETE)

        problems = find(database)

        assert [order.id for order in problems.held.rows] == held[::-1]
        assert (problems.held.count, problems.held.is_more) == (2, False)
        assert problems.held.rows[0].merchant == "Alice"
        assert problems.stuck.count == 0

    def test_submitted_orders_that_cannot_go_on_are_found(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            stuck = rows.add_order(db, merchant, reasons=STUCK, status=_S.SUBMITTED)
            rows.add_order(db, merchant, reasons=STUCK, status=_S.NOT_YET_SUBMITTED)

        [found] = find(database).stuck.rows

        assert (found.id, found.reasons, found.held_at) == (stuck, STUCK, None)

    def test_the_first_are_shown_and_all_are_counted(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            made = [rows.add_order(db, merchant, held_at=NOON) for _ in range(3)]

        held = find(database, limit=2).held

        assert [order.id for order in held.rows] == made[:0:-1]
        assert (held.count, held.is_more) == (3, False)

    def test_it_is_said_that_there_are_more_than_are_looked_at(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            rows.add_orders(db, merchant, [{"held_at": NOON}] * (MOST + 1))

        assert find(database).held.is_more


class TestShipments:
    @pytest.mark.parametrize(
        ("service", "latest", "is_late"),
        [
            # What leaves on Sunday counts as if it left on Monday, the 16th.
            ("courier", "2026-11-17", False),
            ("courier", "2026-11-16", True),
            ("post", "2026-11-19", False),
            ("post", "2026-11-18", True),
            ("unknown", "2026-11-16", False),
            ("unknown", "2026-11-15", True),
        ],
    )
    def test_what_would_arrive_late_if_it_left_today_is_late(
        self, database: Database, merchant: Merchant, service: str, latest: str, is_late: bool
    ) -> None:
        with database.writing() as db:
            number = rows.add_shipment(db, merchant, service=service, latest_arrival=latest)

        found = find(database).late

        assert [shipment.id for shipment in found.rows] == ([number] if is_late else [])
        assert found.count == is_late

    def test_the_latest_come_first(self, database: Database, merchant: Merchant) -> None:
        with database.writing() as db:
            late = rows.add_shipment(db, merchant, latest_arrival="2026-11-12")
            later = rows.add_shipment(db, merchant, latest_arrival="2026-11-10")

        assert [shipment.id for shipment in find(database).late.rows] == [later, late]

    def test_a_merchant_whose_clock_is_ahead_is_judged_by_it(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            bob = a_merchant(db, "Bob")
            advance_clock(a_work(db, bob, now=NOON), timedelta(days=30))
            late = rows.add_shipment(db, bob, latest_arrival="2026-12-01")
            rows.add_shipment(db, merchant, latest_arrival="2026-12-01")

        assert [shipment.id for shipment in find(database).late.rows] == [late]

    def test_what_a_lab_could_not_make_is_found(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            failed = rows.add_shipment(db, merchant, state=LabState.FAILED, reason="Out of ink.")
            held = rows.add_shipment(db, merchant, held_because="It printed another file.")
            rows.add_shipment(db, merchant, state=LabState.CANCELLED)

        found = find(database).failed

        assert [shipment.id for shipment in found.rows] == [failed, held]
        assert (found.count, found.is_more) == (2, False)


def test_merchants_that_were_not_told_are_found_with_how_often(
    database: Database, merchant: Merchant
) -> None:
    with database.writing() as db:
        quiet, bob = a_merchant(db, "Quiet"), a_merchant(db, "Bob")
        for whose, count in ((bob, 3), (merchant, 2)):
            for _ in range(count):
                rows.add_callback(db, whose, CallbackState.FAILED)
        rows.add_callback(db, quiet, CallbackState.PENDING)

    unnotified = find(database).unnotified

    assert [(one.id, one.code, one.name, one.count) for one in unnotified.rows] == [
        (merchant.id, merchant.code, "Alice", 2),
        (bob.id, bob.code, "Bob", 3),
    ]
    assert unnotified.count == 2
    assert len(find(database, limit=1).unnotified.rows) == 1


def test_payments_without_an_end_are_found_after_an_hour(
    database: Database, merchant: Merchant
) -> None:
    hour_ago = NOON - timedelta(hours=1)
    with database.writing() as db:
        bob = a_merchant(db, "Bob")
        advance_clock(a_work(db, bob, now=NOON), timedelta(days=1))
        old = rows.add_payment(db, merchant, created_at=hour_ago - timedelta(seconds=1))
        rows.add_payment(db, merchant, created_at=hour_ago)
        ahead = rows.add_payment(db, bob, created_at=NOON, state=PaymentState.WAITING)
        rows.add_payment(db, bob, created_at=NOON + timedelta(hours=23, minutes=30))
        refunding = {"created_at": NOON - timedelta(days=1), "state": PaymentState.REFUNDING}
        refund = rows.add_payment(
            db, merchant, **refunding, updated_at=hour_ago - timedelta(seconds=1)
        )
        rows.add_payment(db, merchant, **refunding, updated_at=hour_ago)

    payments = find(database).payments

    assert [payment.id for payment in payments.rows] == [old, ahead, refund]
    assert payments.rows[0].merchant == "Alice"
    assert payments.rows[2].since == hour_ago - timedelta(seconds=1)
    assert payments.count == 3


def test_failed_jobs_are_found_newest_first(database: Database, merchant: Merchant) -> None:
    with database.writing() as db:
        new = NewJob("fetch-image", merchant.id, {})
        made = [enqueue(db, new, now=NOON) for _ in range(3)]
        failed = {"state": JobState.FAILED, "finished_at": NOON, "last_error": "It broke."}
        db.execute(update(jobs).where(jobs.c.id.in_(made[:2])).values(**failed))

    found = find(database).jobs

    assert [job.id for job in found.rows] == [made[1], made[0]]
    assert (found.count, found.rows[0].last_error) == (2, "It broke.")


def test_rejected_refunds_are_found_oldest_first(database: Database, merchant: Merchant) -> None:
    values = {"state": PaymentState.REFUND_REJECTED, "reason": "The bank declined it."}
    with database.writing() as db:
        made = [rows.add_payment(db, merchant, created_at=NOON, **values) for _ in range(3)]

    found = find(database, limit=2).refunds

    assert [payment.id for payment in found.rows] == made[:2]
    assert (found.count, found.is_more) == (3, False)
    assert (found.rows[0].merchant, found.rows[0].reason) == ("Alice", "The bank declined it.")


def test_unsettled_issues_are_found_oldest_first(database: Database, merchant: Merchant) -> None:
    with database.writing() as db:
        first = rows.add_issue(db, merchant)
        second = rows.add_issue(db, merchant, state=IssueState.IN_PROGRESS)

    found = find(database).issues

    assert [issue.id for issue in found.rows] == [first, second]
    assert found.count == 2


def ask(db: Connection) -> None:
    find_problems(db, transit_days=TRANSIT, now=NOON, limit=5)


# By which index each kind of trouble is found.
INDEXES = (
    "ix_orders_troubled",
    "ix_shipments_open",
    "ix_callbacks_given_up",
    "ix_payment_requests_pending",
    "ix_payment_requests_rejected",
    "ix_issues_unsettled",
)


class TestIndexes:
    def fill(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            rows.add_order(db, merchant, held_at=NOON)
            rows.add_shipment(db, merchant, latest_arrival="2026-11-12", held_because="Wrong.")
            rows.add_callback(db, merchant, CallbackState.FAILED)
            rows.add_payment(db, merchant)
            rows.add_payment(db, merchant, state=PaymentState.REFUND_REJECTED)
            rows.add_issue(db, merchant)

    def test_sqlite_reads_only_what_is_wrong(self, sqlite_database: Database) -> None:
        self.fill(sqlite_database)

        plans = explain_on_sqlite(sqlite_database, ask)

        steps = [line for plan in plans.values() for line in plan]
        for index in INDEXES:
            assert any(index in line for line in steps), index
        scanned = [line for line in steps if line.startswith("SCAN") and "INDEX ix" not in line]
        # Merchants are few; failed jobs have no index yet.
        assert set(scanned) <= {"SCAN merchants", "SCAN jobs", "SCAN unnotified", "SCAN newest"} | {
            line for line in scanned if "subquery" in line or "anon" in line
        }, scanned

    def test_postgresql_reads_only_what_is_wrong(self, postgresql_database: Database) -> None:
        self.fill(postgresql_database)

        plans = explain_on_postgresql(postgresql_database, ask, sorts=True)

        everything = "\n".join(plans.values())
        for index in INDEXES:
            assert index in everything, index
        assert "Seq Scan on " not in everything.replace("Seq Scan on merchants", "")


def test_nothing_is_asked_of_a_database_without_rows(database: Database) -> None:
    with database.reading() as db:
        found: Any = find_problems(db, transit_days={}, now=NOON, limit=5)

    assert found.late.rows == []
