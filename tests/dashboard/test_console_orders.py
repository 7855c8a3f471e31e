"""Any order at the console: found, looked at, held, cancelled, and told of again."""

import pytest

from printworks.actions.callbacks import set_callback
from printworks.actions.production.release import record_sent
from printworks.rules.orders import OrderStatus
from printworks.rules.production import LabState
from printworks.store.callbacks.callbacks import list_callbacks_of_order
from printworks.store.engine.database import Database
from printworks.store.money.ledger import read_books
from tests.dashboard.scenes import (
    HOSTILE,
    complain_about,
    hand_in,
    hear,
    last_entry,
    see_order,
    see_shipment,
)
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, merchant_of
from tests.factories import NOON, a_work, a_work_of

HOLDS = pytest.mark.parametrize("settings", ['can_hold_until = "submitted"'], indirect=True)


@pytest.mark.both_databases
class TestFinding:
    def test_the_newest_of_all_merchants_come_first(
        self, operator: Window, alice: Window, bob: Window, database: Database
    ) -> None:
        assert "No orders yet" in operator.words("/console/orders")
        first, _ = hand_in(database, alice, recipient_name=HOSTILE)
        second, _ = hand_in(database, bob)

        page = operator.open("/console/orders")
        said = words_of(page)
        assert said.index(f" {second.id} ") < said.index(f" {first.id} ")
        assert HOSTILE in said
        assert HOSTILE not in page.body.decode()

    def test_by_number_by_reference_and_by_name_within_a_merchant(
        self, operator: Window, alice: Window, bob: Window, database: Database
    ) -> None:
        one, _ = hand_in(database, alice, merchant_order_id="A-7", recipient_name="Ida Bauer")
        other, _ = hand_in(database, bob, merchant_order_id="A-7", recipient_name="Ida Bauer")

        def find(query: str) -> set[int]:
            body = operator.open(f"/console/orders?{query}").body.decode()
            return {o.id for o in (one, other) if f'href="/console/orders/{o.id}"' in body}

        assert find(f"q={one.id}") == {one.id}
        assert find("q=A-7") == {one.id, other.id}
        assert find(f"q=A-7&merchant={bob.code}") == {other.id}
        assert find(f"q=bauer&merchant={alice.code}") == {one.id}
        assert find(f"merchant={alice.code}&status=Complete") == set()
        assert find(f"merchant={alice.code}&status=Submitted") == {one.id}
        assert find("q=bauer") == {one.id, other.id}

    @pytest.mark.parametrize(
        "query",
        [
            "q=%00",
            "q=%25",
            "q=" + "9" * 30,
            "merchant=%00'",
            "merchant=nobody",
            "before=x",
            "problem=odd",
            "status=odd&merchant=1",
        ],
    )
    def test_whatever_is_looked_for_is_only_text(self, operator: Window, query: str) -> None:
        assert operator.open(f"/console/orders?{query}").status == 200

    @HOLDS
    def test_those_in_trouble_have_lists_of_their_own(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        fine, _ = hand_in(database, alice)
        held, _ = hand_in(database, alice)
        stuck, job = hand_in(database, alice)
        operator.do(f"/console/orders/{held.id}", "support-hold", reason="Odd.")
        hear(database, job, LabState.FAILED, reason="Torn.")

        for trouble, wanted in (("held", held), ("stuck", stuck)):
            body = operator.open(f"/console/orders?problem={trouble}").body.decode()
            shown = {o.id for o in (fine, held, stuck) if f"/console/orders/{o.id}" in body}
            assert shown == {wanted.id}


class TestOrder:
    @pytest.mark.both_databases
    def test_everything_about_it_is_in_one_place(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        issue = complain_about(database, alice)

        said = operator.words(f"/console/orders/{issue.order_id}")

        for word in ("Alice", "Submitted", "Mary Fox", "GLOBAL-PHO-4X6-PRO", "Charge"):
            assert word in said
        assert "Why these labs" in said
        assert "Together that costs" in said
        assert "Of it, £1.99 is shipping. Planned cost: £" in said
        assert f"Issue {issue.id}" in said
        assert "Created" in said

    @HOLDS
    @pytest.mark.both_databases
    def test_it_is_held_for_a_reason_and_released(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        order, _ = hand_in(database, alice)
        page = f"/console/orders/{order.id}"

        assert operator.do(page, "support-hold", reason="").status == 400
        said = operator.follow(operator.do(page, "support-hold", reason="Who is Mary?"))
        assert "Who is Mary?" in said
        entry = last_entry(database)
        assert (entry.action, entry.subject) == ("hold-order", f"order {order.id}")
        assert entry.merchant_id == order.merchant_id
        assert operator.do(page, "support-hold", reason="Again.").status == 400

        assert "The order was released." in operator.follow(operator.do(page, "support-release"))
        assert see_order(database, order).held_at is None
        assert last_entry(database).action == "release-order"

    @pytest.mark.both_databases
    def test_it_is_cancelled_and_the_money_goes_back_unless_a_lab_has_begun(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        order, _ = hand_in(database, alice)
        begun, job = hand_in(database, alice)
        hear(database, job, LabState.IN_PRODUCTION)

        answer = operator.do(f"/console/orders/{order.id}", "support-cancel")
        refused = operator.do(f"/console/orders/{begun.id}", "support-cancel")

        assert "cancelled and refunded" in operator.follow(answer)
        assert see_order(database, order).status is OrderStatus.CANCELLED
        assert last_entry(database).action == "cancel-order"
        assert refused.status == 400
        assert "cannot become Cancelled" in words_of(refused)
        with database.reading() as db:
            assert read_books(db, order.merchant_id).balance == begun.price

    def test_once_it_is_cancelled_nobody_has_to_look_into_what_failed(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        order, job = hand_in(database, alice)
        hear(database, job, LabState.FAILED, reason="The press is on fire.")
        assert "Lab job failed" in operator.words("/console")

        operator.do(f"/console/orders/{order.id}", "support-cancel")

        assert "Nothing needs attention" in operator.words("/console")
        assert see_shipment(database, job).state is LabState.CANCELLED

    @HOLDS
    def test_what_a_lab_sends_all_the_same_is_held_no_longer(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        order, job = hand_in(database, alice)
        with database.writing() as db:
            record_sent(a_work_of(db, order, now=NOON), job)
        operator.do(f"/console/orders/{order.id}", "support-hold", reason="Odd.")
        assert "contact the lab" in operator.words(f"/console/shipments/{job.id}")

        hear(database, job, LabState.DISPATCHED)

        assert see_order(database, order).status is OrderStatus.COMPLETE
        assert see_order(database, order).held_at is None
        page = operator.open(f"/console/orders/{order.id}").body.decode()
        assert "support-release" not in page

    def test_a_callback_is_sent_again_but_not_another_orders(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        order, _ = hand_in(database, alice)
        other, _ = hand_in(database, alice)
        page = f"/console/orders/{order.id}"
        with database.reading() as db:
            callbacks = list_callbacks_of_order(db, order.merchant_id, order.id, limit=9)
            [theirs, *_] = list_callbacks_of_order(db, order.merchant_id, other.id, limit=9)

        nowhere = operator.do(page, "support-resend", callback=str(callbacks[0].id))
        assert "There is no callback address" in words_of(nowhere)
        with database.writing() as db:
            set_callback(a_work(db, merchant_of(db, alice)), "https://shop.example/hook")
        assert operator.do(page, "support-resend", callback=str(theirs.id)).status == 400
        assert operator.do(page, "support-resend", callback="9" * 40).status == 400
        assert operator.do(page, "support-resend", callback="987654").status == 404
        said = operator.follow(operator.do(page, "support-resend", callback=str(callbacks[0].id)))

        assert "The callback is being resent." in said
        assert "Waiting" in said
        entry = last_entry(database)
        assert entry.action == "send-callback-again"
        assert entry.subject == f"callback {callbacks[0].id}"

    def test_one_that_does_not_exist_is_not_found(self, operator: Window) -> None:
        assert operator.open("/console/orders/987654").status == 404
