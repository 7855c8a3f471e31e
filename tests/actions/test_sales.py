"""What reports say is what the ledger and the labs say; whatever is changed is found."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import pytest
from sqlalchemy import Connection, delete, insert, update

from printworks.actions.orders.orders import cancel_order
from printworks.actions.orders.shipping import change_shipping
from printworks.actions.payments.lab_costs import correct_cost
from printworks.actions.payments.ledger import verify_ledgers
from printworks.actions.production.lab_reports import apply_lab_report
from printworks.labs.documents import LabReport
from printworks.rules.ledger import EntryKind
from printworks.rules.orders import ShippingMethod
from printworks.rules.payments import Billing
from printworks.rules.production import LabState
from printworks.rules.sales import SHIPPING, Figures
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.money.ledger import list_days
from printworks.store.money.sales import list_sales, list_sales_days
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import list_shipments
from printworks.store.tables import lab_costs, lab_debts, sales, sales_days, shipments
from tests.actions.complaints import complain, refund, submitted
from tests.actions.test_ledger import CATALOGUE
from tests.actions.test_taxes import sell
from tests.factories import NOON, a_merchant, a_system_work, a_work

SKU: Final = "GLOBAL-PHO-4X6-PRO"


def dispatch(db: Connection, order: Order) -> None:
    """Let labs send an order."""
    for shipment in list_shipments(db, order.id):
        report = LabReport(job=shipment.id, state=LabState.DISPATCHED)
        assert apply_lab_report(a_system_work(db, now=NOON, catalogue=CATALOGUE), report)


def business(db: Connection) -> Merchant:
    """Sell and send something, sell something and call it off, and correct a cost."""
    merchant = a_merchant(db)
    sent = submitted(db, merchant)
    dispatch(db, sent)
    cancel_order(a_work(db, merchant, catalogue=CATALOGUE), submitted(db, merchant))
    submitted(db, merchant)
    correct_cost(
        a_system_work(db, now=NOON + timedelta(days=1)),
        list_shipments(db, sent.id)[0].id,
        items_cost=7,
        shipping_cost=8,
        reason="invoice 7",
    )
    return merchant


def total(db: Connection, merchant: Merchant) -> Figures:
    """Add up what all days of a merchant say."""
    found = Figures()
    for day in list_sales_days(db, merchant.id):
        found = found.plus(day.figures)
    return found


def find_faults(database: Database) -> set[str]:
    """Verify everything; return the kinds of what does not add up."""
    with database.reading() as db:
        return {one.fault.kind for one in verify_ledgers(db).faults}


def test_the_sums_of_days_are_what_was_sold_and_spent(database: Database) -> None:
    with database.writing() as db:
        merchant = business(db)
        figures = total(db, merchant)
        ledger = {day.kind: day.amount for day in list_days(db, merchant.id)}

    assert figures.gross == ledger[EntryKind.CHARGE]
    assert figures.refunded == ledger[EntryKind.REFUND]
    assert (figures.orders, figures.copies) == (3, 12)
    assert (figures.items_cost, figures.shipping_cost) == (7, 8)
    assert figures.margin == figures.net - figures.refunded_net - 15
    assert find_faults(database) == set()


def test_a_sale_is_divided_by_product_and_shipping(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = submitted(db, merchant)
        [shipment] = list_shipments(db, order.id)

        [sale] = list_sales(db, merchant.id)

        assert (sale.country, sale.currency, sale.day) == ("GB", "GBP", "2026-11-15")
        items, shipping = sale.parts
        assert (items.lab, items.sku, items.copies) == (shipment.lab, SKU, 4)
        assert items.net == order.price - order.shipping_price
        assert (shipping.lab, shipping.sku, shipping.orders) == (shipment.lab, SHIPPING, 1)
        assert shipping.net == order.shipping_price


def test_an_order_that_is_charged_again_is_counted_once(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db, billing=Billing.ACCOUNT)
        order = submitted(db, merchant)
        work = a_work(db, merchant, catalogue=CATALOGUE)

        changed = change_shipping(work, order, {"shipping_method": ShippingMethod.EXPRESS})

        figures = total(db, merchant)
        assert (figures.orders, figures.copies) == (1, 4)
        assert figures.net - figures.refunded_net == changed.price
        assert changed.price != order.price
    assert find_faults(database) == set()


def change(table: Any, **values: object) -> Callable[[Connection], object]:
    """Change what was written."""
    return lambda db: db.execute(update(table).values(**values))


def add_day(db: Connection) -> None:
    """Write down what nobody sold."""
    [merchant_id] = db.execute(sales.select()).scalars().fetchmany(1)
    place = {"day": "2020-01-01", "currency": "GBP", "country": "GB", "lab": "x", "sku": "x"}
    figures = dict.fromkeys(Figures.__struct_fields__, 1)
    db.execute(insert(sales_days).values(merchant_id=merchant_id, **place, **figures))


CORRUPTIONS: Final[dict[str, tuple[Callable[[Connection], object], str]]] = {
    "a part was changed": (change(sales, parts=[["x", "x", 1, 1, 1, 0]]), "sale"),
    "a day was changed": (change(sales, day="2020-01-01"), "sale"),
    "a sale is gone": (lambda db: db.execute(delete(sales).where(sales.c.number == 1)), "sale"),
    "a sale has another number": (
        lambda db: db.execute(update(sales).where(sales.c.number == 1).values(number=99)),
        "sale",
    ),
    "the sums of a day were changed": (change(sales_days, net=1), "sales-day"),
    "the sums of a day are gone": (lambda db: db.execute(delete(sales_days)), "sales-day"),
    "there are sums without sales": (add_day, "sales-day"),
    "a cost is gone": (lambda db: db.execute(delete(lab_costs)), "cost"),
    "a cost was changed": (change(lab_costs, items_cost=1), "cost"),
    "what a lab is owed was changed": (change(lab_debts, items_cost=1), "lab-debt"),
    "what a lab is owed is gone": (lambda db: db.execute(delete(lab_debts)), "lab-debt"),
    "a shipment was planned otherwise": (change(shipments, items_cost=10**6), "cost"),
    "a shipment has not left": (change(shipments, shipped_at=None), "cost"),
}


@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_a_planted_corruption_is_found(database: Database, corruption: str) -> None:
    plant, found = CORRUPTIONS[corruption]
    with database.writing() as db:
        business(db)
    assert find_faults(database) == set()

    with database.writing() as db:
        plant(db)

    assert found in find_faults(database)


def test_those_who_sell_and_send_at_once_leave_sums_that_add_up(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
    start = threading.Barrier(4)

    def work() -> None:
        start.wait()
        for _ in range(3):
            with database.writing() as db:
                order = submitted(db, merchant)
            with database.writing() as db:
                dispatch(db, order)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert find_faults(database) == set()
    with database.reading() as db:
        assert total(db, merchant).orders == 12


@pytest.mark.parametrize("is_gross", [False, True])
def test_tax_is_part_of_each_product_and_of_credits(database: Database, *, is_gross: bool) -> None:
    with database.writing() as db:
        sell(db, is_gross=is_gross)
        merchant = a_merchant(db)
        order = submitted(db, merchant)
        cancel_order(a_work(db, merchant, catalogue=CATALOGUE), submitted(db, merchant))
        refund(db, complain(db, merchant, order), 60)

        figures = total(db, merchant)

        assert order.tax is not None
        assert (figures.tax, figures.gross) == (2 * order.tax, 2 * order.total)
        assert (figures.refunded_tax, figures.refunded) == (order.tax, order.total)
        assert (figures.credited, figures.credited_tax) == (50, 10)
        assert figures.margin == order.total - order.tax - 50
    assert find_faults(database) == set()
