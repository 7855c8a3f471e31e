"""The sandbox: a clock that can be moved, and words that let things go wrong."""

from typing import Final

import msgspec
import pytest

from printworks.actions.accounts.merchants import add_merchant
from printworks.dashboard.merchant.sandbox.faults import FAULTS
from printworks.settings import Settings
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.engine.database import Database
from printworks.store.queue.advancing import begin_advancing
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock
from tests.api.production import see, set_status
from tests.dashboard.ordering import make_order, number_of
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, open_merchants_window
from tests.factories import NOON, a_system_work

PAGE: Final = "/sandbox"
_HOW_FAR: Final = "Enter how far the clock should move"
WRONG: Final = (
    ("", "hours", _HOW_FAR),
    ("0", "hours", _HOW_FAR),
    ("-1", "hours", _HOW_FAR),
    ("9" * 5000, "minutes", _HOW_FAR),
    ("1", "years", "Choose minutes, hours or days."),
    ("367", "days", "The clock can be moved by at most 366 days at once."),
    ("9" * 18, "days", "The clock can be moved by at most 366 days at once."),
)


def clock_of(window: Window) -> tuple[str, int]:
    """Return what a merchant's clock shows, and by how many seconds it is ahead."""
    shown = window.api.get("/sandbox/clock").data
    return shown["now"], shown["aheadBySeconds"]


class TestTheClock:
    @pytest.mark.both_databases
    def test_an_order_is_complete_after_a_day_and_its_story_is_told(
        self, alice: Window, database: Database
    ) -> None:
        order_id = number_of(make_order(alice))
        assert set_status(alice.api, order_id, "Submitted").status == 200

        answer = alice.do(PAGE, "advance-clock", number="1", unit="days")

        words = alice.follow(answer)
        assert "The clock was moved." in words
        assert "16 Nov 2026, 12:00 1 day ahead of the real time, which is 15 Nov 2026" in words
        assert f"Order {order_id} : Complete: everything was dispatched" in words
        assert see(alice.api, order_id)["status"] == "Complete"
        with database.reading() as db:
            [entry, *_] = list_audit(db, limit=10)
        assert (entry.action, entry.subject) == ("advance-clock", "1 day, 0:00:00")

    def test_it_only_moves_that_of_the_merchant(self, alice: Window, bob: Window) -> None:
        words = alice.follow(alice.do(PAGE, "advance-clock", number="90", unit="minutes"))

        assert "1 hour, 30 minutes ahead" in words
        assert "Nothing was due in that time." in words
        assert clock_of(alice) == ("2026-11-15T13:30:00.000", 5400)
        assert clock_of(bob) == ("2026-11-15T12:00:00.000", 0)

    def test_what_is_no_time_to_move_by_is_refused(self, alice: Window) -> None:
        for number, unit, reason in WRONG:
            refused = alice.do(PAGE, "advance-clock", number=number, unit=unit)

            assert refused.status == 400, (number, unit)
            assert reason in words_of(refused)
        assert clock_of(alice)[1] == 0

    def test_one_that_is_being_moved_already_is_left_alone(
        self, alice: Window, database: Database, clock: MovableClock
    ) -> None:
        code = alice.code
        with database.writing() as db:
            merchant = get_merchant_by_code(db, code)
            begin_advancing(db, merchant.id, now=clock.now, until=clock.now.replace(hour=13))

        refused = alice.do(PAGE, "advance-clock", number="1", unit="hours")

        assert refused.status == 400
        assert "The clock is already being moved" in words_of(refused)

    def test_what_happened_to_others_is_not_told(self, alice: Window, bob: Window) -> None:
        number_of(make_order(bob))

        assert "Nothing was due in that time." in alice.words(f"{PAGE}?since=0")
        assert "Created" in bob.words(f"{PAGE}?since=0")


def test_every_word_is_explained_and_leads_to_an_order_with_it(alice: Window) -> None:
    page = alice.open(PAGE)

    for fault in FAULTS:
        assert fault.what in words_of(page)
        assert f'href="/orders/new?fault={fault.word.replace(":", "%3A")}"' in page.body.decode()


def test_a_live_service_has_none(database: Database, settings: Settings) -> None:
    live = msgspec.structs.replace(
        settings,
        environment="live",
        payments="account",
        database_url=database.url.render_as_string(hide_password=False),
    )
    server = Server(build_app(live, lambda: NOON))
    try:
        with database.writing() as db:
            added = add_merchant(a_system_work(db, now=NOON, environment="live"), "Carol")
        program = Client(server, "/v3.0", {"X-Service-MerchantId": added.merchant.code})
        carol = open_merchants_window(server, database, program)

        form = carol.open("/orders/new").body.decode()

        assert carol.open(PAGE).status == 404
        assert "Mary Fox" not in form
        assert 'name="sample"' not in form
        assert 'name="fault"' not in form
    finally:
        server.close()
