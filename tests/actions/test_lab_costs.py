"""Labs are owed what their shipments cost, once each, until they are paid."""

import threading
from datetime import date, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, Update, update

from printworks.actions.payments.lab_costs import correct_cost, pay_lab
from printworks.actions.payments.ledger import verify_ledgers
from printworks.actions.production.lab_reports import apply_lab_report
from printworks.actions.work import Actor
from printworks.catalogue.products import Currency
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput, WrongState
from printworks.labs.documents import LabReport
from printworks.rules.people import Realm
from printworks.rules.production import LabState
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.money.lab_costs import list_costs, list_debts, list_lab_payments
from printworks.store.orders.shipments import Shipment, get_shipment, list_shipments
from printworks.store.tables import lab_costs, lab_payments
from tests.actions.complaints import submitted
from tests.actions.test_ledger import CATALOGUE
from tests.catalogue.folders import a_whole_folder
from tests.factories import NOON, a_merchant, a_system_work

OWNER = Actor(Realm.OPERATOR, "owner@example.com")


def send(db: Connection, merchant: Merchant, *, reports: int = 1) -> Shipment:
    """Let a lab send an order, and say so."""
    [shipment] = list_shipments(db, submitted(db, merchant).id)
    report = LabReport(job=shipment.id, state=LabState.DISPATCHED)
    for number in range(reports):
        is_news = apply_lab_report(a_system_work(db, now=NOON, catalogue=CATALOGUE), report)
        assert is_news == (number == 0)
    return get_shipment(db, shipment.id)


def test_a_shipment_is_booked_once_when_it_leaves(database: Database) -> None:
    with database.writing() as db:
        shipment = send(db, a_merchant(db), reports=2)

        [cost] = list_costs(db, shipment.id)
        [debt] = list_debts(db)

        assert (cost.lab, cost.order_id) == (shipment.lab, shipment.order_id)
        assert (cost.items_cost, cost.shipping_cost) == (
            shipment.items_cost,
            shipment.shipping_cost,
        )
        assert [(part.sku, part.items_cost) for part in cost.parts] == [
            ("GLOBAL-PHO-4X6-PRO", shipment.items_cost)
        ]
        assert (cost.currency, cost.country, cost.day) == ("GBP", "GB", "2026-11-15")
        assert (debt.lab, debt.currency, debt.costs) == (shipment.lab, "GBP", 1)
        assert debt.total == shipment.items_cost + shipment.shipping_cost
        assert debt.since == "2026-11-15"


def test_one_that_has_not_left_costs_nothing(database: Database) -> None:
    with database.writing() as db:
        [shipment] = list_shipments(db, submitted(db, a_merchant(db)).id)

        assert list_debts(db) == []
        with pytest.raises(WrongState, match="has not left its lab"):
            correct_cost(
                a_system_work(db), shipment.id, items_cost=1, shipping_cost=1, reason="invoice 7"
            )


def test_a_lab_that_is_not_in_the_catalogue_any_more_is_owed_its_cost(
    database: Database, tmp_path: Path
) -> None:
    with database.writing() as db:
        [shipment] = list_shipments(db, submitted(db, a_merchant(db)).id)
        report = LabReport(job=shipment.id, state=LabState.DISPATCHED)
        without = Catalogue.load(a_whole_folder(tmp_path))

        assert apply_lab_report(a_system_work(db, catalogue=without), report)

        assert [debt.lab for debt in list_debts(db)] == [shipment.lab]


class TestCorrecting:
    def test_the_difference_is_booked(self, database: Database) -> None:
        with database.writing() as db:
            shipment = send(db, a_merchant(db))
            tomorrow = a_system_work(db, now=NOON + timedelta(days=1), actor=OWNER)

            extra = correct_cost(
                tomorrow,
                shipment.id,
                items_cost=shipment.items_cost - 3,
                shipping_cost=shipment.shipping_cost + 10,
                reason=" invoice 7 ",
            )

            assert (extra.items_cost, extra.shipping_cost, extra.number) == (-3, 10, 2)
            assert (extra.reason, extra.day) == ("invoice 7", "2026-11-16")
            assert [part.items_cost for part in extra.parts] == [-3]
            [debt] = list_debts(db)
            assert debt.total == shipment.items_cost + shipment.shipping_cost + 7
            assert list_audit(db, limit=1)[0].action == "correct-lab-cost"

    @pytest.mark.parametrize(
        ("given", "complaint"),
        [
            ({"reason": "  "}, "Write why"),
            ({"items_cost": -1}, "0 or more"),
            ({"shipping_cost": 10**13}, "0 or more"),
        ],
    )
    def test_what_makes_no_sense_is_refused(
        self, database: Database, given: dict[str, object], complaint: str
    ) -> None:
        with database.writing() as db:
            shipment = send(db, a_merchant(db))
            wanted: dict[str, object] = {
                "items_cost": 1,
                "shipping_cost": 1,
                "reason": "invoice 7",
                **given,
            }

            with pytest.raises(BadInput, match=complaint):
                correct_cost(a_system_work(db), shipment.id, **wanted)  # type: ignore[arg-type]

            assert len(list_costs(db, shipment.id)) == 1

    def test_what_is_booked_already_is_no_correction(self, database: Database) -> None:
        with database.writing() as db:
            shipment = send(db, a_merchant(db))

            with pytest.raises(WrongState, match="That is what is booked"):
                correct_cost(
                    a_system_work(db),
                    shipment.id,
                    items_cost=shipment.items_cost,
                    shipping_cost=shipment.shipping_cost,
                    reason="invoice 7",
                )


class TestPaying:
    NEXT_DAY = NOON + timedelta(days=1)
    SENT_ON = date(2026, 11, 15)

    def test_everything_up_to_a_day_is_paid(self, database: Database) -> None:
        with database.writing() as db:
            shipment = send(db, a_merchant(db))
            [owed] = list_debts(db)
            work = a_system_work(db, now=self.NEXT_DAY, actor=OWNER)
            # A day later.
            correct_cost(
                work,
                shipment.id,
                items_cost=shipment.items_cost + 5,
                shipping_cost=shipment.shipping_cost,
                reason="invoice 7",
            )

            paid = pay_lab(work, shipment.lab, Currency.GBP, self.SENT_ON, memo=" transfer 1 ")

            assert (paid.amount, paid.until, paid.memo) == (owed.total, "2026-11-15", "transfer 1")
            assert [debt.total for debt in list_debts(db)] == [5]
            assert list_lab_payments(db, limit=2) == [paid]
            assert list_audit(db, limit=1)[0].action == "pay-lab"
            with pytest.raises(BadInput, match="is owed nothing"):
                pay_lab(work, shipment.lab, Currency.GBP, self.SENT_ON, memo="")

    @pytest.mark.parametrize(
        ("corruption", "sentence"),
        [
            (update(lab_payments).values(amount=lab_payments.c.amount + 1), "was paid"),
            (update(lab_costs).values(payment_id=None), "its costs are 0"),
            (update(lab_costs).values(lab="another"), "1 of its costs are of another"),
            (update(lab_costs).values(currency="EUR"), "1 of its costs are of another"),
            (update(lab_costs).values(day="2026-11-16"), "1 of its costs are of another"),
        ],
    )
    def test_a_payment_that_is_not_what_its_costs_add_up_to_is_found(
        self, database: Database, corruption: Update, sentence: str
    ) -> None:
        with database.writing() as db:
            shipment = send(db, a_merchant(db))
            work = a_system_work(db, now=self.NEXT_DAY)
            pay_lab(work, shipment.lab, Currency.GBP, self.SENT_ON, memo="")
        with database.reading() as db:
            assert verify_ledgers(db).faults == []

        with database.writing() as db:
            db.execute(corruption)

        with database.reading() as db:
            found = verify_ledgers(db).faults
        [wrong] = [one for one in found if one.fault.kind == "lab-payment"]
        assert wrong.whose == "labs"
        assert sentence in wrong.fault.sentence

    @pytest.mark.parametrize(("lab", "currency"), [("nobody", Currency.GBP), ("", Currency.EUR)])
    def test_a_lab_that_is_owed_nothing_is_not_paid(
        self, database: Database, lab: str, currency: Currency
    ) -> None:
        with database.writing() as db:
            shipment = send(db, a_merchant(db))
            work = a_system_work(db, now=self.NEXT_DAY)

            with pytest.raises(BadInput, match="is owed nothing"):
                pay_lab(work, lab or shipment.lab, currency, self.SENT_ON, memo="")

    def test_a_day_that_is_not_over_is_refused(self, database: Database) -> None:
        with database.writing() as db:
            shipment = send(db, a_merchant(db))

            with pytest.raises(BadInput, match="a day that is over"):
                pay_lab(a_system_work(db), shipment.lab, Currency.GBP, self.SENT_ON, memo="")

    def test_two_who_pay_at_once_do_not_pay_the_same(self, database: Database) -> None:
        with database.writing() as db:
            shipment = send(db, a_merchant(db))
        start, refused = threading.Barrier(2), []

        def pay() -> None:
            start.wait()
            try:
                with database.writing() as db:
                    work = a_system_work(db, now=self.NEXT_DAY)
                    pay_lab(work, shipment.lab, Currency.GBP, self.SENT_ON, memo="")
            except BadInput as refusal:
                refused.append(refusal)

        threads = [threading.Thread(target=pay) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        with database.reading() as db:
            assert list_debts(db) == []
            assert len(list_lab_payments(db, limit=5)) == 1
        assert len(refused) == 1

    def test_what_is_sent_while_a_lab_is_paid_is_paid_or_owed(self, database: Database) -> None:
        with database.writing() as db:
            sent = [send(db, a_merchant(db))]
        start = threading.Barrier(2)

        def send_more() -> None:
            start.wait()
            for _ in range(4):
                with database.writing() as db:
                    sent.append(send(db, a_merchant(db)))

        thread = threading.Thread(target=send_more)
        thread.start()
        start.wait()
        with database.writing() as db:
            work = a_system_work(db, now=self.NEXT_DAY)
            paid = pay_lab(work, sent[0].lab, Currency.GBP, self.SENT_ON, memo="")
        thread.join()

        with database.reading() as db:
            owed = sum(debt.total for debt in list_debts(db))
            assert verify_ledgers(db).faults == []
        assert paid.amount + owed == sum(each.items_cost + each.shipping_cost for each in sent)
