"""What was sold and what it cost, part by part: by product, lab and country, to the last unit.

A sale is a charge or a refund of the ledger, divided. The sums of a day, which reports read, are
kept beside both, and the audit recalculates them.
"""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

import msgspec

from printworks.rules.ledger import Booked, EntryKind, LedgerEntry
from printworks.rules.ledger_audit import LedgerFault

# Stand for the product of what is none. No product has such a name.
SHIPPING: Final = "#shipping"
ADJUSTMENTS: Final = "#adjustments"
# The entries that are sales.
SALES: Final = frozenset({EntryKind.CHARGE, EntryKind.REFUND})
# The entries that change the margin, and are for no product, lab or country.
_CREDITS: Final = frozenset({EntryKind.CREDIT, EntryKind.CREDIT_REVERSAL})
_DEBITS: Final = frozenset({EntryKind.DEBIT, EntryKind.DEBIT_REVERSAL})


class ReportBy(StrEnum):
    """What a report has a line for each of."""

    DAY = "day"
    MERCHANT = "merchant"
    PRODUCT = "product"
    LAB = "lab"
    COUNTRY = "country"


class SoldItem(NamedTuple):
    """An image of an order, as it is sold."""

    lab: str
    sku: str
    copies: int
    # For all copies.
    price: int


class SoldLine(NamedTuple):
    """What is charged for a product, or for shipping."""

    sku: str
    net: int
    tax: int


class SalePart(msgspec.Struct, frozen=True, array_like=True):
    """The part of a charge or refund that is for one product from one lab, or for shipping."""

    lab: str
    sku: str
    # An order is counted in one of its parts.
    orders: int
    copies: int
    net: int
    tax: int


class Sale(msgspec.Struct, frozen=True, kw_only=True):
    """A charge or a refund, divided."""

    # That of its ledger entry.
    number: int
    kind: EntryKind
    # In UTC, in ISO 8601.
    day: str
    currency: str
    country: str
    parts: tuple[SalePart, ...]


class CostPart(msgspec.Struct, frozen=True, array_like=True):
    """What a lab charges for the copies of one product in a shipment."""

    sku: str
    items_cost: int


class LabCost(msgspec.Struct, frozen=True, kw_only=True):
    """What a shipment cost, or a correction of it."""

    shipment_id: int
    # 1 is the cost as planned; others are corrections.
    number: int
    lab: str
    merchant_id: int
    order_id: int
    currency: str
    country: str
    items_cost: int
    shipping_cost: int
    parts: tuple[CostPart, ...]
    reason: str
    # In UTC, in ISO 8601.
    day: str


class SentShipment(NamedTuple):
    """A shipment that has left its lab, with what it was planned to cost."""

    id: int
    items_cost: int
    shipping_cost: int


class Figures(msgspec.Struct, frozen=True):
    """What was sold, refunded and spent."""

    orders: int = 0
    copies: int = 0
    net: int = 0
    tax: int = 0
    refunded_net: int = 0
    refunded_tax: int = 0
    items_cost: int = 0
    shipping_cost: int = 0
    credited: int = 0
    credited_tax: int = 0
    debited: int = 0

    @property
    def gross(self) -> int:
        return self.net + self.tax

    @property
    def refunded(self) -> int:
        return self.refunded_net + self.refunded_tax

    @property
    def margin(self) -> int:
        """What is left, without tax."""
        earned = self.net - self.refunded_net - self.credited + self.debited
        return earned - self.items_cost - self.shipping_cost

    def plus(self, other: "Figures") -> "Figures":
        """Return the sums."""
        mine, others = msgspec.structs.astuple(self), msgspec.structs.astuple(other)
        return Figures(*(one + more for one, more in zip(mine, others, strict=True)))


class SalesPlace(NamedTuple):
    """Where the figures of one merchant belong."""

    day: str
    currency: str
    country: str
    lab: str
    sku: str


class SalesDay(NamedTuple):
    """The figures of one merchant, day, currency, country, lab and product."""

    place: SalesPlace
    figures: Figures


def spread(amount: int, weights: Sequence[int]) -> list[int]:
    """Divide an amount in proportion to weights, to the last unit; equally if all are zero."""
    shares = weights if any(weights) else [1] * len(weights)
    total = sum(shares)
    # The parts are the steps of a sum that is rounded as it grows, so nothing is left over.
    grown = [amount * done // total for done in accumulate(shares, initial=0)]
    return [after - before for before, after in pairwise(grown)]


def price_lines(items: Iterable[SoldItem], *, shipping: int, amount: int) -> list[SoldLine]:
    """Divide an amount without tax by product, in proportion to the prices."""
    prices: dict[str, int] = {}
    for item in items:
        prices[item.sku] = prices.get(item.sku, 0) + item.price
    prices[SHIPPING] = shipping
    amounts = spread(amount, list(prices.values()))
    return [SoldLine(sku, part, 0) for sku, part in zip(prices, amounts, strict=True)]


def divide_sale(
    items: Sequence[SoldItem], lines: Iterable[SoldLine], *, is_new: bool
) -> tuple[SalePart, ...]:
    """Divide what is charged for an order by product and by the labs that make it.

    Shipping is divided among the labs by their copies. An order that was charged before is not
    counted again.
    """
    of_labs: dict[str, int] = {}
    for item in items:
        of_labs[item.lab] = of_labs.get(item.lab, 0) + item.copies
    first = next(iter(of_labs))
    parts = []
    for line in lines:
        copies = {
            lab: sum(item.copies for item in items if (item.lab, item.sku) == (lab, line.sku))
            for lab in of_labs
        }
        shares = of_labs if line.sku == SHIPPING else copies
        labs = [lab for lab in shares if shares[lab]] or [first]
        weights = [shares[lab] for lab in labs]
        amounts = zip(labs, spread(line.net, weights), spread(line.tax, weights), strict=True)
        parts += [
            SalePart(
                lab,
                line.sku,
                int(is_new and lab == labs[0] and line.sku == SHIPPING),
                copies[lab] if is_new else 0,
                net,
                tax,
            )
            for lab, net, tax in amounts
        ]
    return tuple(parts)


def mirror_parts(parts: Iterable[SalePart]) -> tuple[SalePart, ...]:
    """Return the parts of a refund: the same amounts, and nothing is counted."""
    return tuple(SalePart(part.lab, part.sku, 0, 0, part.net, part.tax) for part in parts)


def figures_of_sale(sale: Sale) -> list[SalesDay]:
    """Return what a sale adds to the sums of its day."""
    is_refund = sale.kind is EntryKind.REFUND
    return [
        SalesDay(
            SalesPlace(sale.day, sale.currency, sale.country, part.lab, part.sku),
            Figures(refunded_net=part.net, refunded_tax=part.tax)
            if is_refund
            else Figures(part.orders, part.copies, part.net, part.tax),
        )
        for part in sale.parts
    ]


def figures_of_cost(cost: LabCost) -> list[SalesDay]:
    """Return what a cost adds to the sums of its day."""

    def place(sku: str) -> SalesPlace:
        return SalesPlace(cost.day, cost.currency, cost.country, cost.lab, sku)

    items = [SalesDay(place(part.sku), Figures(items_cost=part.items_cost)) for part in cost.parts]
    return [*items, SalesDay(place(SHIPPING), Figures(shipping_cost=cost.shipping_cost))]


def figures_of_entry(entry: LedgerEntry) -> list[SalesDay]:
    """Return what an entry adds to the sums of its day that is no sale."""
    place = SalesPlace(entry.day, entry.currency, "", "", ADJUSTMENTS)
    # A reversal takes away from what it reverses.
    if entry.kind in _CREDITS:
        tax = entry.tax if entry.owed < 0 else -entry.tax
        return [SalesDay(place, Figures(credited=-entry.owed - tax, credited_tax=tax))]
    if entry.kind in _DEBITS:
        return [SalesDay(place, Figures(debited=entry.owed))]
    return []


def _facts_of(entry: LedgerEntry) -> tuple[object, ...]:
    return entry.kind, entry.day, entry.currency, entry.amount, entry.tax


class SalesAudit:
    """Compares sales, costs and the sums of days of one merchant with its ledger and shipments.

    Let it `watch` every entry, then add everything else, then call `finish`.
    """

    def __init__(self) -> None:
        self.faults: list[LedgerFault] = []
        self._entries: dict[int, LedgerEntry] = {}
        self._booked: dict[int, LabCost] = {}
        self._sums: dict[SalesPlace, Figures] = {}

    def watch(self, entries: Iterable[Booked]) -> Iterator[Booked]:
        """Pass entries on, and remember those that are sales."""
        for booked in entries:
            if booked.entry.kind in SALES:
                self._entries[booked.entry.number] = booked.entry
            self._add(figures_of_entry(booked.entry))
            yield booked

    def add_sale(self, sale: Sale) -> None:
        """Compare a sale with its entry."""
        entry = self._entries.pop(sale.number, None)
        net, tax = (sum(getattr(part, name) for part in sale.parts) for name in ("net", "tax"))
        facts = (sale.kind, sale.day, sale.currency, net + tax, tax)
        if entry is None or facts != _facts_of(entry):
            self._find("sale", f"The parts of entry {sale.number} are not those of the entry.")
        self._add(figures_of_sale(sale))

    def add_cost(self, cost: LabCost) -> None:
        """Remember what a shipment cost."""
        if cost.number == 1:
            self._booked[cost.shipment_id] = cost
        if sum(part.items_cost for part in cost.parts) != cost.items_cost:
            self._find("cost", f"The parts of what shipment {cost.shipment_id} cost differ.")
        self._add(figures_of_cost(cost))

    def add_sent(self, shipment: SentShipment) -> None:
        """Compare a shipment that has left its lab with its cost."""
        cost = self._booked.pop(shipment.id, None)
        planned = (shipment.items_cost, shipment.shipping_cost)
        if cost is None or (cost.items_cost, cost.shipping_cost) != planned:
            self._find("cost", f"What shipment {shipment.id} cost is not booked as planned.")

    def add_day(self, day: SalesDay) -> None:
        """Compare the sums of a day with what was sold and spent."""
        if self._sums.pop(day.place, Figures()) != day.figures:
            self._find_day(day.place)

    def finish(self) -> list[LedgerFault]:
        for number in self._entries:
            self._find("sale", f"Entry {number} is not divided by product and lab.")
        for shipment_id in self._booked:
            self._find("cost", f"Shipment {shipment_id} has a cost, and has not left its lab.")
        for place in self._sums:
            self._find_day(place)
        return self.faults

    def _add(self, days: Iterable[SalesDay]) -> None:
        for place, figures in days:
            self._sums[place] = self._sums.get(place, Figures()).plus(figures)

    def _find_day(self, place: SalesPlace) -> None:
        sentence = f"The sums of {place.day} differ from what was sold and spent ({place.sku})."
        self._find("sales-day", sentence)

    def _find(self, kind: str, sentence: str) -> None:
        self.faults.append(LedgerFault(kind, sentence))


class PaidToLab(msgspec.Struct, frozen=True):
    """A payment to a lab, and the costs that it is said to pay."""

    id: int
    lab: str
    amount: int
    # What its costs add up to, and how many of them are not the lab's, not in its currency, or later.
    costs: int
    strange: int


def audit_lab_payment(paid: PaidToLab) -> LedgerFault:
    """Say what is wrong with a payment to a lab."""
    if paid.strange:
        what = f"{paid.strange} of its costs are of another lab, currency or day"
    else:
        what = f"its costs are {paid.costs}, and {paid.amount} was paid"
    return LedgerFault("lab-payment", f"Payment {paid.id} to {paid.lab}: {what}.")


class WrongDebt(msgspec.Struct, frozen=True):
    """How much more a lab is said to be owed for a merchant's orders than its unpaid costs are."""

    lab: str
    currency: str
    costs: int
    amount: int


def audit_lab_debt(wrong: WrongDebt) -> LedgerFault:
    """Say what is wrong with what a lab is said to be owed."""
    what = f"{wrong.amount:+} {wrong.currency} for {wrong.costs:+} costs"
    return LedgerFault("lab-debt", f"What {wrong.lab} is owed differs from its costs: {what}.")
