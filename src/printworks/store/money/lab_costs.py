"""What each shipment cost, what labs are owed for it, and what they were paid."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import (
    Connection,
    case,
    func,
    insert,
    literal,
    or_,
    select,
    text,
    union_all,
    update,
)

from printworks.catalogue.products import Currency
from printworks.conversion import reader_of
from printworks.rules.sales import (
    CostPart,
    LabCost,
    PaidToLab,
    SentShipment,
    WrongDebt,
    figures_of_cost,
)
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.rows import columns_of, list_structs, newest_first, read_all
from printworks.store.money.ledger import lock_books
from printworks.store.money.sales import add_to_days
from printworks.store.tables import lab_costs, lab_debts, lab_payments, orders, shipments

read_cost_parts: Final = reader_of(tuple[CostPart, ...])
# Spelled as in the index.
_IS_UNPAID: Final = text("payment_id IS NULL")


class LabDebt(msgspec.Struct, frozen=True):
    """What a lab is owed in a currency, for shipments and corrections since the first day."""

    lab: str
    currency: Currency
    costs: int
    items_cost: int
    shipping_cost: int
    # In ISO 8601.
    since: str

    @property
    def total(self) -> int:
        return self.items_cost + self.shipping_cost


class NewLabPayment(msgspec.Struct, frozen=True):
    """A payment of all that a lab is owed up to a day."""

    lab: str
    currency: Currency
    # In ISO 8601.
    until: str
    memo: str


class LabPayment(msgspec.Struct, frozen=True):
    """A payment to a lab, for everything up to a day."""

    id: int
    lab: str
    currency: Currency
    until: str
    amount: int
    memo: str
    created_at: datetime


_COST: Final = columns_of(lab_costs, LabCost)
_PAYMENT: Final = columns_of(lab_payments, LabPayment)
_ADD_TO_DEBT: Final = PreparedStatement(
    text("""
    INSERT INTO lab_debts (lab, currency, merchant_id, costs, items_cost, shipping_cost)
    VALUES (:lab, :currency, :merchant_id, :costs, :items_cost, :shipping_cost)
    ON CONFLICT (lab, currency, merchant_id) DO UPDATE
    SET costs = lab_debts.costs + excluded.costs,
        items_cost = lab_debts.items_cost + excluded.items_cost,
        shipping_cost = lab_debts.shipping_cost + excluded.shipping_cost
""")
)


def insert_cost(db: Connection, cost: LabCost, *, now: datetime) -> None:
    """Add what a shipment cost, or a correction; its number is new, or it is an error."""
    # Whoever adds to the sums of a merchant's days has locked its books.
    lock_books(db, cost.merchant_id)
    values: dict[str, Any] = msgspec.structs.asdict(cost)
    values |= {"parts": msgspec.to_builtins(cost.parts), "created_at": now}
    db.execute(insert(lab_costs).values(**values))
    add_to_days(db, cost.merchant_id, figures_of_cost(cost))
    _ADD_TO_DEBT.run(db, {**values, "costs": 1})


def list_costs(db: Connection, shipment_id: int) -> list[LabCost]:
    """Return what a shipment cost, and its corrections in their order."""
    query = select(*_COST).where(lab_costs.c.shipment_id == shipment_id)
    return [read_cost(row._mapping) for row in db.execute(query.order_by(lab_costs.c.number))]


def read_cost(values: Any) -> LabCost:
    """Convert the columns of a row to a cost."""
    return LabCost(**{**values, "parts": read_cost_parts(values["parts"])})


def list_all_costs(db: Connection, merchant_id: int) -> Iterator[LabCost]:
    """Yield what all shipments of a merchant cost."""
    query = select(*_COST, lab_costs.c.id).where(lab_costs.c.merchant_id == merchant_id)
    for row in read_all(db, query, lab_costs.c.id):
        values = dict(row._mapping)
        del values["id"]
        yield read_cost(values)


def list_sent(db: Connection, merchant_id: int) -> Iterator[SentShipment]:
    """Yield the shipments of a merchant that have left their labs."""
    planned = (shipments.c.id, shipments.c.items_cost, shipments.c.shipping_cost)
    query = (
        select(*planned)
        .join_from(shipments, orders, shipments.c.order_id == orders.c.id)
        .where(orders.c.merchant_id == merchant_id, shipments.c.shipped_at.is_not(None))
    )
    for row in read_all(db, query, shipments.c.id):
        yield SentShipment(*row)


def list_debts(db: Connection) -> list[LabDebt]:
    """Return what every lab is owed, by currency."""
    debt, cost = lab_debts.c, lab_costs.c
    since = (
        select(func.min(cost.day))
        .where(_IS_UNPAID, cost.lab == debt.lab, cost.currency == debt.currency)
        .scalar_subquery()
    )
    count = func.sum(debt.costs)
    query = (
        select(
            *(debt.lab, debt.currency, count),
            *(func.sum(debt.items_cost), func.sum(debt.shipping_cost), since),
        )
        .group_by(debt.lab, debt.currency)
        .having(count > 0)
        .order_by(debt.lab, debt.currency)
    )
    return [
        LabDebt(lab, Currency(currency), int(costs), int(items), int(shipping), first)
        for lab, currency, costs, items, shipping, first in db.execute(query)
    ]


def insert_payment(db: Connection, new: NewLabPayment, *, now: datetime) -> LabPayment | None:
    """Add a payment to a lab; None if it is owed nothing.

    Costs are marked by one statement, so that two who pay at once do not pay the same.
    """
    values = {**msgspec.structs.asdict(new), "amount": 0, "created_at": now}
    added = insert(lab_payments).values(**values).returning(lab_payments.c.id)
    payment_id = db.execute(added).scalar_one()
    cost = lab_costs.c
    due = (_IS_UNPAID, cost.lab == new.lab, cost.currency == new.currency, cost.day <= new.until)
    db.execute(update(lab_costs).where(*due).values(payment_id=payment_id))
    amount = _lower_debts(db, payment_id)
    if amount <= 0:
        return None
    wanted = update(lab_payments).where(lab_payments.c.id == payment_id).values(amount=amount)
    return LabPayment(*db.execute(wanted.returning(*_PAYMENT)).one())


def _lower_debts(db: Connection, payment_id: int) -> int:
    """Take what a payment settles from what is owed, and return it."""
    cost = lab_costs.c
    settled = (
        select(
            *(cost.lab, cost.currency, cost.merchant_id, func.count()),
            *(func.sum(cost.items_cost), func.sum(cost.shipping_cost)),
        )
        .where(cost.payment_id == payment_id)
        .group_by(cost.lab, cost.currency, cost.merchant_id)
        # Always in the same order: two payments at once must not wait for each other.
        .order_by(cost.merchant_id)
    )
    rows = [
        {
            "lab": lab,
            "currency": currency,
            "merchant_id": merchant_id,
            "costs": -costs,
            "items_cost": -int(items),
            "shipping_cost": -int(shipping),
        }
        for lab, currency, merchant_id, costs, items, shipping in db.execute(settled)
    ]
    _ADD_TO_DEBT.run_each(db, rows)
    return -sum(int(row["items_cost"] + row["shipping_cost"]) for row in rows)


def list_wrong_debts(db: Connection) -> list[WrongDebt]:
    """Return where what labs are owed is not what their unpaid costs add up to."""
    names = ("lab", "currency", "merchant_id")
    sums = ("costs", "items_cost", "shipping_cost")
    cost, debt = lab_costs.c, lab_debts.c
    unpaid = select(
        *(cost[name] for name in names),
        literal(-1).label(sums[0]),
        *((-cost[name]).label(name) for name in sums[1:]),
    ).where(_IS_UNPAID)
    both = union_all(unpaid, select(*(debt[name] for name in (*names, *sums)))).subquery()
    extra = [func.sum(both.c[name]) for name in sums]
    query = (
        select(both.c.lab, both.c.currency, *extra)
        .group_by(*(both.c[name] for name in names))
        .having(or_(*(each != 0 for each in extra)))
        .order_by(both.c.lab, both.c.currency)
    )
    return [
        WrongDebt(lab, currency, int(costs), int(items) + int(shipping))
        for lab, currency, costs, items, shipping in db.execute(query)
    ]


def list_wrong_payments(db: Connection) -> list[PaidToLab]:
    """Return the payments to labs that are not what their costs add up to, or pay for others."""
    paid, cost = lab_payments.c, lab_costs.c
    is_strange = (cost.lab != paid.lab) | (cost.currency != paid.currency) | (cost.day > paid.until)
    costs = func.coalesce(func.sum(cost.items_cost + cost.shipping_cost), 0)
    strange = func.coalesce(func.sum(case((is_strange, 1), else_=0)), 0)
    query = (
        select(paid.id, paid.lab, paid.amount, costs, strange)
        .join_from(lab_payments, lab_costs, cost.payment_id == paid.id, isouter=True)
        .group_by(paid.id, paid.lab, paid.amount)
        .having((costs != paid.amount) | (strange > 0))
        .order_by(paid.id)
    )
    return [
        PaidToLab(number, lab, amount, int(total), int(others))
        for number, lab, amount, total, others in db.execute(query)
    ]


def list_lab_payments(db: Connection, *, before: int | None = None, limit: int) -> list[LabPayment]:
    """Return what labs were paid, newest first."""
    page = newest_first(select(*_PAYMENT), lab_payments.c.id, before=before, limit=limit)
    return list_structs(db, LabPayment, page)
