"""A month of business: ledger, invoices, lab costs and reports agree to the last unit."""

from collections import Counter
from datetime import date, datetime, timedelta
from random import Random
from typing import Final

import msgspec
from sqlalchemy import Connection, select

from printworks.actions.invoices.issuing import make_document
from printworks.actions.orders.orders import cancel_order
from printworks.actions.payments.by_hand import PostingByHand, post_money, reverse_entry
from printworks.actions.payments.lab_costs import correct_cost
from printworks.actions.payments.ledger import verify_ledgers
from printworks.actions.production.lab_reports import apply_lab_report
from printworks.actions.sellers import change_business, register_seller
from printworks.actions.submission.submit import submit_order
from printworks.actions.taxes import get_taxed_order
from printworks.actions.work import Actor
from printworks.catalogue.products import Currency
from printworks.labs.documents import LabReport
from printworks.rules.ledger import EntryKind
from printworks.rules.payments import Billing
from printworks.rules.people import Realm
from printworks.rules.production import LabState
from printworks.rules.sales import Figures, ReportBy
from printworks.rules.sellers import Registration
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.money.lab_costs import list_debts
from printworks.store.money.ledger import list_days, list_entries
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import list_shipments
from printworks.store.tables import invoice_causes, lab_costs, orders
from printworks.store.views.console.reports import (
    ReportPeriod,
    add_up,
    list_by_day,
    list_whole_report,
)
from tests.actions.complaints import a_draft, complain, refund, reprint
from tests.actions.test_ledger import CATALOGUE
from tests.actions.test_taxes import sell
from tests.factories import NOON, a_merchant, a_system_work, a_work
from tests.scale import scaled
from tests.sellers import BRITISH, GERMAN

ORDERS: Final = scaled(2000, part=50)
DAYS: Final = 28
SENT_TO: Final = ("DE", "FR", "AT", "GB", "US")
PERIOD: Final = ReportPeriod(date(2026, 11, 1), date(2026, 12, 31))
OWNER: Final = Actor(Realm.OPERATOR, "owner@example.com")


class Month:
    """Merchants with three currencies, and a seller who knows five kinds of tax."""

    def __init__(self, db: Connection) -> None:
        self.luck = Random(56)
        sell(db, GERMAN)
        register_seller(a_system_work(db), "AT", Registration("ATU13585627"))
        self.merchants = [
            a_merchant(db, currency.value, currency=currency, billing=Billing.ACCOUNT)
            for currency in (Currency.GBP, Currency.EUR, Currency.USD)
        ]
        french = msgspec.structs.replace(BRITISH, country="FR", vat_id="FR40303265045")
        change_business(a_work(db, self.merchants[1]), french)
        self.situations: Counter[str] = Counter()

    def sell_one(self, db: Connection, number: int) -> None:
        """Sell something to somebody, and let become of it what happens in a month."""
        now = NOON + timedelta(days=number * DAYS // ORDERS)
        merchant = self.merchants[number % 3]
        work = a_work(db, merchant, now=now, catalogue=CATALOGUE)
        country = SENT_TO[self.luck.randrange(len(SENT_TO))]
        images = self.luck.randint(1, 3)
        draft = a_draft(db, merchant, images=images, destination_country=country)
        order = submit_order(work, draft)
        assert isinstance(order, Order)
        taxed = get_taxed_order(work, order)
        assert taxed is not None
        self.situations[taxed.terms.situation] += 1
        fate = self.luck.random()
        if fate < 0.15:
            cancel_order(work, order)
            return
        self.send(db, order, now)
        if fate < 0.25:
            refund(db, complain(db, merchant, order), self.luck.randint(1, order.total))
        elif fate < 0.35:
            issue = reprint(db, complain(db, merchant, order))
            again = select(orders).where(orders.c.id == issue.reprint_order_id)
            self.send(db, db.execute(again).one(), now)
        elif fate < 0.4:
            posting = PostingByHand(
                kind=EntryKind.DEBIT, amount=self.luck.randint(1, 999), memo="fee"
            )
            posted = post_money(work, posting).entry
            if posted is not None and fate < 0.37:
                reverse_entry(work, posted.number, "a mistake")

    def send(self, db: Connection, order: object, now: datetime) -> None:
        """Let labs send an order; some charge something else than planned."""
        system = a_system_work(db, now=now, catalogue=CATALOGUE, actor=OWNER)
        for shipment in list_shipments(db, order.id):  # type: ignore[attr-defined]
            assert apply_lab_report(system, LabReport(job=shipment.id, state=LabState.DISPATCHED))
            if self.luck.random() < 0.1:
                cost = self.luck.randint(0, 5000)
                correct_cost(
                    system, shipment.id, items_cost=cost, shipping_cost=7, reason="invoice 7"
                )


def sum_ledger(db: Connection, merchant: Merchant) -> Counter[EntryKind]:
    """Add up the days of a merchant by kind of entry."""
    sums: Counter[EntryKind] = Counter()
    for day in list_days(db, merchant.id):
        sums[day.kind] += day.amount
    return sums


def issue_documents(db: Connection, merchant: Merchant) -> None:
    """Write an invoice for each charge, and a credit note for what was given back."""
    work = a_work(db, merchant)
    causes = select(invoice_causes.c.entry).where(invoice_causes.c.merchant_id == merchant.id)
    for entry in db.execute(causes.order_by(invoice_causes.c.entry)).scalars().all():
        make_document(work, entry, payment_terms=timedelta(days=30))


def run_month(database: Database) -> Month:
    """Sell for a month, then write the documents."""
    with database.writing() as db:
        month = Month(db)
    for first in range(0, ORDERS, 20):
        with database.writing() as db:
            for number in range(first, min(first + 20, ORDERS)):
                month.sell_one(db, number)
    with database.writing() as db:
        for merchant in month.merchants:
            issue_documents(db, merchant)
    return month


def sum_tax(db: Connection, merchant: Merchant) -> int:
    """Return the tax of what was charged, without that of refunds."""
    signs = {EntryKind.CHARGE: 1, EntryKind.REFUND: -1}
    entries = (booked.entry for booked in list_entries(db, merchant.id))
    return sum(signs.get(entry.kind, 0) * entry.tax for entry in entries)


def sum_costs(db: Connection, merchant: Merchant) -> int:
    """Return what labs charged for a merchant's orders."""
    of_merchant = select(lab_costs).where(lab_costs.c.merchant_id == merchant.id)
    return sum(row.items_cost + row.shipping_cost for row in db.execute(of_merchant))


def sum_lines(db: Connection, by: ReportBy, currency: Currency) -> Figures:
    """Add up the lines of a report in one currency."""
    whole = Figures()
    for line in list_whole_report(db, by, PERIOD):
        whole = whole.plus(line.figures if line.currency is currency else Figures())
    return whole


def test_a_month_agrees_to_the_last_unit(database: Database) -> None:
    month = run_month(database)

    with database.reading() as db:
        checked = verify_ledgers(db)
        totals = add_up(list_by_day(db, PERIOD))
        assert checked.faults == []
        assert checked.waiting == 0
        assert checked.invoices >= ORDERS
        assert len(month.situations) >= 5
        assert len(totals) == 3
        for merchant in month.merchants:
            currency, figures = merchant.currency, totals[merchant.currency]
            ledger, tax, spent = (
                sum_ledger(db, merchant),
                sum_tax(db, merchant),
                sum_costs(db, merchant),
            )
            assert figures.gross == ledger[EntryKind.CHARGE]
            assert figures.refunded == ledger[EntryKind.REFUND]
            assert figures.tax - figures.refunded_tax == tax
            assert figures.credited + figures.credited_tax == ledger[EntryKind.CREDIT]
            assert figures.debited == ledger[EntryKind.DEBIT] - ledger[EntryKind.DEBIT_REVERSAL]
            assert spent == figures.items_cost + figures.shipping_cost
            assert spent == sum(debt.total for debt in list_debts(db) if debt.currency is currency)
            sold = ledger[EntryKind.CHARGE] - ledger[EntryKind.REFUND] - tax
            assert figures.margin == sold - figures.credited + figures.debited - spent
            assert all(sum_lines(db, by, currency) == figures for by in ReportBy)
