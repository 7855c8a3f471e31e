"""Lists for whoever runs the business: merchants, jobs and money, page by page."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, update

from printworks.errors import NotFound
from printworks.rules.events import CallbackState
from printworks.rules.jobs import JobState
from printworks.rules.ledger import EntryKind
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.money.ledger import NewLedgerEntry, post_entry
from printworks.store.queue.jobs import NewJob, enqueue
from printworks.store.tables import jobs
from printworks.store.views.console import jobs as job_lists
from printworks.store.views.console import merchants as merchant_lists
from printworks.store.views.console.jobs import JobFilter, search_jobs
from printworks.store.views.console.ledger import EntryPlace, list_money
from printworks.store.views.console.merchants import get_merchant_line, search_merchants
from tests.factories import NOON, a_merchant
from tests.store import rows
from tests.store.plans import explain_on_postgresql, explain_on_sqlite


@pytest.fixture
def merchant(database: Database) -> Merchant:
    with database.writing() as db:
        return a_merchant(db)


class TestMerchants:
    def test_a_line_says_how_a_merchant_stands(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            rows.add_charge(db, merchant, 1250, at=NOON)
            rows.add_callback(db, merchant, CallbackState.FAILED)
            rows.add_callback(db, merchant, CallbackState.DELIVERED)

        with database.reading() as db:
            [line] = search_merchants(db, limit=10).merchants
            again = get_merchant_line(db, merchant.id)

        assert (line.id, line.code, line.name) == (merchant.id, merchant.code, "Alice")
        assert (line.order_count, line.balance, line.failed_callbacks) == (1, 1250, 1)
        assert (line.billing, line.currency) == (merchant.billing, merchant.currency)
        assert (line.clock_offset, line.created_at) == (timedelta(0), NOON)
        assert again == line

    @pytest.mark.parametrize("number", [0, -1, 99, 2**70])
    def test_a_merchant_that_does_not_exist_is_not_found(
        self, database: Database, number: int
    ) -> None:
        with database.reading() as db, pytest.raises(NotFound):
            get_merchant_line(db, number)

    def test_they_are_found_by_any_part_of_name_or_code(self, database: Database) -> None:
        with database.writing() as db:
            zoe = a_merchant(db, "Chez Zoë")
            bob = a_merchant(db, "Bob's 100% Prints")

        def find(text: str) -> list[int]:
            with database.reading() as db:
                return [line.id for line in search_merchants(db, text=text, limit=10).merchants]

        assert find("zoe") == [zoe.id]
        assert find("  ZOË ") == [zoe.id]
        assert find("100%") == [bob.id]
        assert find(bob.code[2:].upper()) == [bob.id]
        assert find("%") == [bob.id]
        assert find("") == [bob.id, zoe.id]
        for stranger in ("_", "\\", "nobody", "\N{PILE OF POO}", "x" * 10_000):
            assert find(stranger) == []
        assert find("\0") == [bob.id, zoe.id]

    def test_pages_follow_each_other_until_the_last(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # So that a page is read in more than one part.
        monkeypatch.setattr(merchant_lists, "MERCHANTS_AT_ONCE", 2)
        with database.writing() as db:
            made = [a_merchant(db, f"Shop {n}").id for n in range(5)]

        with database.reading() as db:
            first = search_merchants(db, text="shop", limit=3)
            second = search_merchants(db, text="shop", before=first.next, limit=3)

        assert [line.id for line in first.merchants] == made[:1:-1]
        assert first.next == made[2]
        assert [line.id for line in second.merchants] == made[1::-1]
        assert second.next is None


def add_job(db: Connection, kind: str, state: JobState, **values: Any) -> int:
    job_id = enqueue(db, NewJob(kind, None, {}), now=NOON)
    assert job_id is not None
    db.execute(update(jobs).where(jobs.c.id == job_id).values(state=state, **values))
    return job_id


class TestJobs:
    @pytest.mark.parametrize("state", JobState)
    def test_they_are_listed_by_state_and_kind_newest_first(
        self, database: Database, state: JobState
    ) -> None:
        with database.writing() as db:
            made = [
                (add_job(db, kind, each), kind, each)
                for kind in ("fetch-image", "send-to-lab", "fetch-image")
                for each in JobState
            ][::-1]

        def find(**wanted: Any) -> list[int]:
            with database.reading() as db:
                return [job.id for job in search_jobs(db, JobFilter(**wanted), limit=100).jobs]

        assert find() == [number for number, _, _ in made]
        assert find(state=state) == [number for number, _, its in made if its is state]
        assert find(kind="send-to-lab") == [
            number for number, kind, _ in made if kind == "send-to-lab"
        ]
        assert find(state=state, kind="fetch-image") == [
            number for number, kind, its in made if (kind, its) == ("fetch-image", state)
        ]
        assert find(kind="no\0thing") == []

    @pytest.mark.parametrize("state", [JobState.DUE, JobState.FAILED, JobState.DONE, None])
    def test_pages_follow_each_other_until_the_last(
        self, database: Database, state: JobState | None
    ) -> None:
        with database.writing() as db:
            made = [add_job(db, "fetch-image", state or JobState.DONE) for _ in range(3)]

        with database.reading() as db:
            first = search_jobs(db, JobFilter(state=state), limit=2)
            second = search_jobs(db, JobFilter(state=state), before=first.next, limit=2)

        assert [job.id for job in first.jobs] == made[:0:-1]
        assert first.next == made[1]
        assert [job.id for job in second.jobs] == made[:1]
        assert second.next is None

    def test_a_rare_one_is_found_by_going_on(
        self, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(job_lists, "JOBS_READ", 3)
        with database.writing() as db:
            rare = add_job(db, "send-to-lab", JobState.DONE)
            for _ in range(7):
                add_job(db, "fetch-image", JobState.DONE)

        wanted = JobFilter(kind="send-to-lab")
        pages, before = [], None
        with database.reading() as db:
            while True:
                page = search_jobs(db, wanted, before=before, limit=2)
                pages.append([job.id for job in page.jobs])
                before = page.next
                if before is None:
                    break

        assert pages == [[], [], [rare]]

    def test_the_merchant_is_named(self, database: Database, merchant: Merchant) -> None:
        with database.writing() as db:
            enqueue(db, NewJob("fetch-image", merchant.id, {}), now=NOON)

        with database.reading() as db:
            [job] = search_jobs(db, limit=1).jobs

        assert job.merchant == merchant.code


class TestMoney:
    def test_an_entry_says_what_moved_and_whose_it_is(
        self, database: Database, merchant: Merchant
    ) -> None:
        values: dict[str, Any] = {"amount": 1250, "currency": "GBP", "memo": "Sorry."}
        with database.writing() as db:
            posted = post_entry(
                db,
                merchant.id,
                NewLedgerEntry(key="credit-1", kind=EntryKind.CREDIT, **values),
                now=NOON,
            )

        with database.reading() as db:
            [line] = list_money(db, limit=10).entries

        assert line.entry == posted
        assert (line.entry.owed, line.merchant_code) == (-1250, merchant.code)
        assert line.merchant == "Alice"

    def test_those_of_all_merchants_come_newest_first_page_by_page(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            bob = a_merchant(db, "Bob")
            # Some at the same moment, and one merchant ahead of the other.
            for hour, whose in enumerate([merchant, bob, merchant, bob, bob, merchant]):
                at = NOON + timedelta(hours=hour // 3)
                rows.add_charge(db, whose, 100 + hour, at=at)

        found: list[EntryPlace] = []
        before: EntryPlace | None = None
        with database.reading() as db:
            while True:
                page = list_money(db, before=before, limit=2)
                found += [
                    EntryPlace(line.entry.created_at, line.entry.merchant_id, line.entry.number)
                    for line in page.entries
                ]
                before = page.next
                if before is None:
                    break

        later = NOON + timedelta(hours=1)
        assert found == [
            EntryPlace(later, bob.id, 3),
            EntryPlace(later, bob.id, 2),
            EntryPlace(later, merchant.id, 3),
            EntryPlace(NOON, bob.id, 1),
            EntryPlace(NOON, merchant.id, 2),
            EntryPlace(NOON, merchant.id, 1),
        ]

    def test_those_of_one_merchant_come_by_number(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            bob = a_merchant(db, "Bob")
            for whose in (merchant, bob, merchant, merchant):
                rows.add_charge(db, whose, 100, at=NOON)

        with database.reading() as db:
            first = list_money(db, merchant_id=merchant.id, limit=2)
            second = list_money(db, merchant_id=merchant.id, before=first.next, limit=2)

        assert [line.entry.number for line in first.entries] == [3, 2]
        assert [line.entry.number for line in second.entries] == [1]
        assert second.next is None


def ask(db: Connection) -> None:
    place = EntryPlace(NOON, 1, 1)
    list_money(db, limit=10)
    list_money(db, before=place, limit=10)
    list_money(db, merchant_id=1, before=place, limit=10)
    for state in (JobState.DUE, JobState.RUNNING, JobState.SCHEDULED, JobState.DONE, None):
        search_jobs(db, JobFilter(state=state, kind="fetch-image"), before=7, limit=10)


# In which index a list is read; the others are read by their numbers.
INDEXES = (
    "ix_ledger_entries_created_at",
    "ix_jobs_due",
    "ix_jobs_running",
    # Both with this name hold nothing else.
    "scheduled",
)


class TestIndexes:
    def test_sqlite_reads_no_table_from_end_to_end(self, sqlite_database: Database) -> None:
        plans = explain_on_sqlite(sqlite_database, ask)

        steps = [line for plan in plans.values() for line in plan]
        for index in INDEXES:
            assert any(index in line for line in steps), (index, steps)
        scans = [line for line in steps if line.startswith("SCAN")]
        assert all("INDEX ix" in line for line in scans), scans

    def test_postgresql_reads_no_table_from_end_to_end(self, postgresql_database: Database) -> None:
        plans = explain_on_postgresql(postgresql_database, ask, sorts=True)

        everything = "\n".join(plans.values())
        assert "ix_ledger_entries_created_at" in everything
        assert "pk_ledger_entries" in everything
        assert "Seq Scan" not in everything
