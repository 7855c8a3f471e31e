"""What merchants are told of is written with its cause; where to, and again, is theirs to say."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from sqlalchemy import Connection, func, select

from printworks.actions import callbacks as actions
from printworks.actions.callbacks import (
    NO_ADDRESS,
    REPLAY_PAGE,
    open_secrets,
    replay,
    rotate_secret,
    send_again,
    send_test,
    set_callback,
)
from printworks.actions.orders.moves import move_order
from printworks.actions.production.release import record_shipments
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.callbacks import CallbackFormat, is_told
from printworks.rules.events import (
    CallbackState,
    ImagesAdded,
    OrderCreated,
    OrderMoved,
    ShipmentsChanged,
)
from printworks.rules.orders import OrderStatus
from printworks.store.accounts.merchants import Merchant
from printworks.store.callbacks.callbacks import (
    count_events,
    get_callback,
    list_attempts,
    list_callbacks,
    list_callbacks_of_order,
    list_feed,
)
from printworks.store.callbacks.settings import read_callback_settings
from printworks.store.engine.database import Database
from printworks.store.orders.events import list_events, record_event
from printworks.store.orders.orders import Order, get_order
from printworks.store.tables import callbacks, jobs, order_events
from tests.factories import NOON, VAULT, a_merchant, a_work, a_work_of, an_order
from tests.worker.queues import add_merchant

URL = "https://shop.example/callbacks?shop=7"
HOUR = timedelta(hours=1)


def count(db: Connection, table: Any) -> int:
    """Say how many rows a table has."""
    return db.execute(select(func.count()).select_from(table)).scalar_one()


def feed(db: Connection, merchant: Merchant) -> list[Any]:
    """Return the whole feed of a merchant."""
    return list_feed(db, merchant.id, after=0, limit=10_000)


def listening(db: Connection) -> Merchant:
    """Add a merchant with an address."""
    merchant = a_merchant(db)
    set_callback(a_work(db, merchant), URL)
    return merchant


class TestEmission:
    def test_creation_is_told(self, database: Database) -> None:
        with database.writing() as db:
            merchant = listening(db)
            order = an_order(db, merchant, merchant_order_id="R-1")

            (callback,) = feed(db, merchant)

        assert (callback.order_id, callback.number, callback.sequence) == (order.id, 1, 1)
        assert callback.event == OrderCreated(OrderStatus.NOT_YET_SUBMITTED, "R-1")
        assert (callback.state, callback.created_at) == (CallbackState.PENDING, NOON)

    def test_every_change_of_status_is_told(self, database: Database) -> None:
        with database.writing() as db:
            merchant = listening(db)
            order = an_order(db, merchant)
            move_order(a_work_of(db, order, now=NOON + HOUR), order, OrderStatus.CANCELLED)

            _, moved = feed(db, merchant)

        assert moved.event == OrderMoved(order.status, OrderStatus.CANCELLED, None)
        assert (moved.number, moved.sequence, moved.created_at) == (2, 2, NOON + HOUR)

    def test_every_change_of_shipments_is_told(self, database: Database) -> None:
        with database.writing() as db:
            merchant = listening(db)
            order = an_order(db, merchant)
            record_shipments(a_work_of(db, order, now=NOON), order, [], [4])

            _, changed = feed(db, merchant)

        assert changed.event == ShipmentsChanged(
            status=order.status, merchant_order_id=None, changed=[4], shipments=[]
        )

    def test_what_concerns_only_us_is_not_told(self, database: Database) -> None:
        with database.writing() as db:
            merchant = listening(db)
            order = an_order(db, merchant)
            record_event(db, order.id, ImagesAdded([1]), now=NOON)

            assert len(feed(db, merchant)) == 1
            assert [is_told(event) for event in list_events(db, order.id)] == [True, False]

    def test_without_an_address_the_feed_is_complete_all_the_same(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            an_order(db, merchant)

            (callback,) = feed(db, merchant)

            assert (callback.number, callback.state) == (1, CallbackState.QUIET)
            assert count(db, jobs) == 0

    def test_what_is_undone_is_told_to_nobody(self, database: Database) -> None:
        def make_and_fail(merchant: Merchant) -> None:
            with database.writing() as db:
                move_order(
                    a_work_of(db, an_order(db, merchant), now=NOON),
                    an_order(db, merchant),
                    OrderStatus.CANCELLED,
                )
                raise ConnectionAbortedError

        with database.writing() as db:
            merchant = listening(db)
            an_order(db, merchant)

        with pytest.raises(ConnectionAbortedError):
            make_and_fail(merchant)

        with database.writing() as db:
            an_order(db, merchant)
            assert [callback.number for callback in feed(db, merchant)] == [1, 2]
            assert count(db, jobs) == 2

    def test_numbers_have_no_gaps_however_many_write(self, database: Database) -> None:
        merchants = [add_merchant(database, name) for name in ("Alice", "Bob")]
        for merchant in merchants:
            with database.writing() as db:
                set_callback(a_work(db, merchant), URL)

        def write(number: int) -> None:
            merchant = merchants[number % 2]
            for _ in range(5):
                with database.writing() as db:
                    order = an_order(db, merchant)
                with database.writing() as db:
                    move(db, merchant, order, OrderStatus.SUBMITTED)

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(write, range(8)))

        with database.reading() as db:
            for merchant in merchants:
                numbers = [callback.number for callback in feed(db, merchant)]
                assert numbers == list(range(1, 41))
                assert count_events(db, merchant.id) == 40

    def test_those_who_move_one_order_at_the_same_time_tell_of_it_once(
        self, database: Database
    ) -> None:
        merchant = add_merchant(database)
        with database.writing() as db:
            set_callback(a_work(db, merchant), URL)
            order = an_order(db, merchant)

        def cancel(_: int) -> bool:
            try:
                with database.writing() as db:
                    move_order(a_work_of(db, order, now=NOON), order, OrderStatus.CANCELLED)
            except WrongState:
                return False
            return True

        with ThreadPoolExecutor(8) as threads:
            outcomes = list(threads.map(cancel, range(8)))

        assert outcomes.count(True) == 1
        with database.reading() as db:
            assert [callback.sequence for callback in feed(db, merchant)] == [1, 2]

    def test_every_callback_belongs_to_an_event(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = an_order(db, merchant)
            move_order(a_work_of(db, order, now=NOON), order, OrderStatus.CANCELLED)

            told = db.execute(select(callbacks.c.event_id).order_by(callbacks.c.id)).scalars()

            assert list(told) == list(db.execute(select(order_events.c.id)).scalars())


def move(db: Connection, merchant: Merchant, order: Order, status: OrderStatus) -> None:
    """Move an order as it is now."""
    move_order(
        a_work_of(db, get_order(db, merchant.id, order.id), now=NOON),
        get_order(db, merchant.id, order.id),
        status,
    )


class TestSettings:
    def test_the_first_address_brings_a_secret(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)

            settings, secret = set_callback(a_work(db, merchant), URL, CallbackFormat.V2_6)

            assert (settings.url, settings.format) == (URL, "2.6")
            assert secret is not None
            assert secret.startswith("whsec_")
            assert open_secrets(VAULT, merchant.id, settings.secrets, NOON) == [secret]
            assert read_callback_settings(db, merchant.id) == settings

    def test_another_address_has_the_same_secret(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            first = set_callback(a_work(db, merchant), URL)

            for url in (None, "https://new.example/"):
                settings, new_secret = set_callback(a_work(db, merchant), url)
                assert settings.secrets == first.settings.secrets
                assert new_secret is None

    @pytest.mark.parametrize("url", ["", "shop.example", "ftp://shop.example/", "http://a b/"])
    def test_what_is_no_address_is_refused(self, database: Database, url: str) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)

            with pytest.raises(BadInput):
                set_callback(a_work(db, merchant), url)

    def test_a_new_secret_leaves_a_day_for_the_old_one(self, database: Database) -> None:
        with database.writing() as db:
            merchant = listening(db)
            (first,) = read_callback_settings(db, merchant.id).secrets

            second = rotate_secret(a_work(db, merchant, now=NOON))
            third = rotate_secret(a_work(db, merchant, now=NOON + HOUR))

        day = actions.OLD_SECRET_FOR
        before, now = second.settings.secrets, third.settings.secrets
        assert before[1] == replace(first, until=NOON + day)
        assert now[1] == replace(before[0], until=NOON + HOUR + day)
        assert now[0].until is None
        signing = open_secrets(VAULT, merchant.id, now, NOON + HOUR)
        assert signing == [third.new_secret, second.new_secret]
        assert open_secrets(VAULT, merchant.id, now, NOON + HOUR + day) == [third.new_secret]


class TestAgain:
    def test_somebody_elses_callback_does_not_exist(self, database: Database) -> None:
        with database.writing() as db:
            merchant, other = listening(db), listening(db)
            an_order(db, merchant)
            (callback,) = feed(db, merchant)

            with pytest.raises(NotFound):
                send_again(a_work(db, other, now=NOON), callback.id)
            with pytest.raises(NotFound):
                get_callback(db, other.id, callback.id)
            assert feed(db, other) == []

    @pytest.mark.parametrize("callback_id", [0, -1, 2**63, 10**30])
    def test_a_number_that_is_nobodys_is_not_found(
        self, database: Database, callback_id: int
    ) -> None:
        with database.writing() as db:
            merchant = listening(db)

            with pytest.raises(NotFound):
                send_again(a_work(db, merchant, now=NOON), callback_id)

    def test_without_an_address_nothing_can_be_sent(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            an_order(db, merchant)
            (callback,) = feed(db, merchant)

            for ask in (
                lambda: send_again(a_work(db, merchant, now=NOON), callback.id),
                lambda: replay(a_work(db, merchant, now=NOON), since=1),
                lambda: send_test(a_work(db, merchant, now=NOON)),
            ):
                with pytest.raises(WrongState, match=NO_ADDRESS):
                    ask()

    def test_a_replay_goes_on_page_by_page(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            for _ in range(REPLAY_PAGE + 2):
                an_order(db, merchant)
            set_callback(a_work(db, merchant), URL)

            first = replay(a_work(db, merchant, now=NOON), since=1)
            second = replay(a_work(db, merchant, now=NOON), since=first.next_number or 0)

            assert first == (REPLAY_PAGE, REPLAY_PAGE + 1)
            assert second == (2, None)
            assert count(db, jobs) == REPLAY_PAGE + 2

    @pytest.mark.parametrize(
        ("since", "numbers"),
        [
            (NOON - HOUR, [1, 2, 3]),
            (NOON, [1, 2, 3]),
            (NOON + HOUR, [2, 3]),
            (NOON + 2 * HOUR, [3]),
            (NOON + 3 * HOUR, []),
            (2, [2, 3]),
            (4, []),
        ],
    )
    def test_a_replay_begins_where_it_is_told(
        self, database: Database, since: datetime | int, numbers: list[int]
    ) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = an_order(db, merchant)
            for hours in (1, 2):
                record_shipments(a_work_of(db, order, now=NOON + hours * HOUR), order, [], [])
            set_callback(a_work(db, merchant), URL)

            replayed = replay(a_work(db, merchant, now=NOON + 3 * HOUR), since=since)

            pending = [one for one in feed(db, merchant) if one.state is CallbackState.PENDING]
            assert [one.number for one in pending] == numbers
            assert replayed == (len(numbers), None)


class TestLists:
    def test_the_feed_goes_on_after_a_number(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            for _ in range(5):
                an_order(db, merchant)

            page = list_feed(db, merchant.id, after=2, limit=2)

        assert [callback.number for callback in page] == [3, 4]

    def test_callbacks_are_listed_newest_first(self, database: Database) -> None:
        with database.writing() as db:
            merchant = listening(db)
            order, *_ = [an_order(db, merchant) for _ in range(4)]
            move_order(a_work_of(db, order, now=NOON), order, OrderStatus.CANCELLED)
            send_test(a_work(db, merchant, now=NOON))

            newest = list_callbacks(db, merchant.id, limit=2)
            older = list_callbacks(db, merchant.id, before=newest[-1].number, limit=9)
            of_order = list_callbacks_of_order(db, merchant.id, order.id, limit=9)

            assert [one.number for one in newest] == [5, 4]
            assert [one.number for one in older] == [3, 2, 1]
            assert [one.sequence for one in of_order] == [2, 1]
            assert list_callbacks(db, merchant.id, is_failed=True, limit=9) == []
            assert list_attempts(db, newest[0].id) == []
