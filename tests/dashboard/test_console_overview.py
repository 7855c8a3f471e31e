"""The console's first page and its queue: what is wrong comes first, and what is late is marked."""

import re
from datetime import timedelta

import pytest

from printworks.rules.payments import Payer, PaymentState
from printworks.rules.people import Role
from printworks.rules.production import LabState
from printworks.store.engine.database import Database
from tests.api.client import Server
from tests.api.conftest import MovableClock
from tests.dashboard.scenes import HOSTILE, complain_about, hand_in, hear
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, merchant_of, open_console
from tests.factories import NOON
from tests.store import rows

pytestmark = pytest.mark.both_databases


class TestOverview:
    def test_a_quiet_day_says_so(self, operator: Window) -> None:
        said = operator.words("/console")

        assert "Nothing needs attention" in said
        assert "Orders submitted" in said
        assert "No data yet." in said

    @pytest.mark.parametrize("settings", ['can_hold_until = "submitted"'], indirect=True)
    def test_each_kind_of_trouble_is_counted_and_named(
        self,
        operator: Window,
        alice: Window,
        server: Server,
        database: Database,
        clock: MovableClock,
    ) -> None:
        held, _ = hand_in(database, alice)
        stuck, job = hand_in(database, alice)
        _, late = hand_in(database, alice)
        operator.do(f"/console/orders/{held.id}", "support-hold", reason="Odd.")
        hear(database, job, LabState.FAILED, reason=HOSTILE)
        issue = complain_about(database, alice)

        page = operator.open("/console")
        said = words_of(page)
        assert "1 Order blocked" in said
        assert "1 Lab job failed or on hold" in said
        assert "1 Order on hold" in said
        assert "1 Open issue" in said
        assert "late" not in said.partition("The last 30 days")[0]
        body = page.body.decode()
        for address in (
            f"/console/orders/{held.id}",
            f"/console/orders/{stuck.id}",
            f"/console/shipments/{job.id}",
            f"/console/issues/{issue.id}",
        ):
            assert f'href="{address}"' in body
        assert HOSTILE in said
        assert HOSTILE not in body

        clock.advance(days=30)
        somebody = open_console(server, database, Role.PRODUCTION, now=clock.now)
        said = somebody.words("/console")
        # The held one, the one that waits and the one that somebody complains about.
        assert "3 Late lab jobs" in said
        assert f"Job {late.id}" in said

    def test_the_charts_have_bars_and_the_same_figures_as_a_table(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        order, job = hand_in(database, alice)
        hear(database, job, LabState.DISPATCHED)

        page = operator.open("/console")
        said = words_of(page)

        assert "Revenue in GBP" in said
        assert f"£{order.price / 100:.2f}" in said
        assert "100% of 1 shipment on time" in said
        assert page.body.count(b'<path class="chart__bar" d="M') >= 3
        assert b'aria-labelledby="chart-1"' in page.body

    def test_merchants_whose_clock_is_ahead_are_not_forgotten(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        assert "by clocks that merchants have moved" not in operator.words("/console")
        with database.writing() as db:
            merchant = merchant_of(db, alice)
            rows.add_charge(db, merchant, 1234, at=NOON + timedelta(days=40))

        said = operator.words("/console")

        assert "by clocks that merchants have moved" in said
        assert "Ahead 1" in said
        assert "Ahead £12.34" in said

    def test_a_page_that_looks_again_hears_when_nothing_is_new(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        for address in ("/console", "/console/production", "/console/orders", "/console/issues"):
            body = operator.open(address).body.decode()
            [again] = re.findall(r'hx-get="([^"]+)"', body)
            again = again.replace("&amp;", "&")
            assert operator.open(again, Hx_Request="true").status == 204, address
        complain_about(database, alice)
        for address in ("/console", "/console/production", "/console/orders", "/console/issues"):
            changed = operator.open(f"{address}?seen=x", Hx_Request="true")
            assert changed.status == 200
            assert b'id="live"' in changed.body

    def test_all_payments_without_an_end_can_be_seen(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        with database.writing() as db:
            merchant = merchant_of(db, alice)
            for _ in range(5):
                rows.add_payment(db, merchant, created_at=NOON - timedelta(hours=2))

        first = operator.open("/console")
        everything = operator.open("/console?payments=all")

        asked = re.compile(r'<li><a href="/console/orders/[0-9]+">Order')
        assert "5 Unresolved payments" in words_of(first)
        assert len(asked.findall(first.body.decode())) == 3
        assert 'href="/console?payments=all"' in first.body.decode()
        assert len(asked.findall(everything.body.decode())) == 5

    def test_a_rejected_refund_says_what_has_to_be_done(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        with database.writing() as db:
            state = PaymentState.REFUND_REJECTED
            rows.add_payment(db, merchant_of(db, alice), state=state, payer=Payer.RECIPIENT)

        said = operator.words("/console")

        assert "1 Rejected refund Order" in said
        assert (
            "Alice: the refund of £12.50 was rejected by the bank. Pay the recipient in another "
            "way, then note it on the order." in said
        )


class TestProduction:
    def test_the_queue_is_by_lab_and_state(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        assert "No lab jobs" in operator.words("/console/production")
        _, first = hand_in(database, alice)
        _, second = hand_in(database, alice)
        hear(database, second, LabState.IN_PRODUCTION)

        def shown(query: str) -> set[int]:
            body = operator.open(f"/console/production{query}").body.decode()
            return {o.id for o in (first, second) if f"/console/shipments/{o.id}" in body}

        assert shown("") == {first.id, second.id}
        assert shown("?state=offered") == {first.id}
        assert shown("?state=in-production") == {second.id}
        assert shown(f"?lab={first.lab}") == {first.id, second.id}
        assert shown("?lab=nowhere") == set()
        assert shown("?lab=%00&state=odd&after=x") == {first.id, second.id}
        assert shown(f"?after={first.id}") == {second.id}

    def test_each_lab_says_until_when_it_takes_more_for_its_next_day(
        self, operator: Window
    ) -> None:
        said = operator.words("/console/production")

        # It is Sunday noon in UTC, and Bristol works again tomorrow.
        assert re.search(r"Bristol.*? in 2[0-9] hours Mon [0-9:]+ GMT", said), said

    def test_what_would_arrive_late_is_marked(
        self,
        operator: Window,
        alice: Window,
        server: Server,
        database: Database,
        clock: MovableClock,
    ) -> None:
        _, job = hand_in(database, alice)
        _, failed = hand_in(database, alice)
        hear(database, failed, LabState.FAILED, reason="Torn.")
        assert "No lab jobs found" in operator.words("/console/production?show=late")
        assert f" {failed.id} " in operator.words("/console/production?show=failed")

        clock.advance(days=30)
        somebody = open_console(server, database, Role.PRODUCTION, now=clock.now)
        page = somebody.open("/console/production?show=late").body.decode()
        assert f'href="/console/shipments/{job.id}"' in page
        assert f'href="/console/shipments/{failed.id}"' not in page
        assert "Late" in somebody.words("/console/production?state=offered")
