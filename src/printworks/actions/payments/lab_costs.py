"""What shipments cost: booked when they leave their labs, corrected, and paid to the labs."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date
from typing import Final

from printworks.actions.work import SystemWork, Work
from printworks.catalogue.products import Currency
from printworks.errors import BadInput, WrongState
from printworks.rules.sales import CostPart, LabCost, spread
from printworks.store.images.images import list_images
from printworks.store.money.lab_costs import (
    LabPayment,
    NewLabPayment,
    insert_cost,
    insert_payment,
    list_costs,
)
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import Shipment, get_shipment

# In minor units, as everywhere.
_LARGEST: Final = 10**12


def book_cost(work: Work, order: Order, shipment: Shipment) -> None:
    """Book what a shipment cost that has just left its lab: what was planned when it was offered.

    A shipment leaves once, so it is booked once.
    """
    weights = _weigh_products(work, order, shipment)
    costs = spread(shipment.items_cost, list(weights.values()))
    parts = tuple(CostPart(*part) for part in zip(weights, costs, strict=True))
    cost = LabCost(
        shipment_id=shipment.id,
        number=1,
        lab=shipment.lab,
        merchant_id=order.merchant_id,
        order_id=order.id,
        currency=order.currency or work.merchant.currency,
        country=order.destination_country or "",
        items_cost=shipment.items_cost,
        shipping_cost=shipment.shipping_cost,
        parts=parts,
        reason="",
        day=_day_of(work),
    )
    insert_cost(work.db, cost, now=work.now)


def _weigh_products(work: Work, order: Order, shipment: Shipment) -> Mapping[str, int]:
    """Return what each product of a shipment weighs in its cost: what the lab charges for it."""
    lab = work.catalogue.find_lab(shipment.lab)
    weights = Counter[str]()
    for image in list_images(work.db, order.id):
        if image.id in shipment.image_ids:
            making = lab.makes.get(image.sku) if lab else None
            weights[image.sku] += image.copies * (making.cost if making else 1)
    return weights


def correct_cost(
    system: SystemWork, shipment_id: int, *, items_cost: int, shipping_cost: int, reason: str
) -> LabCost:
    """Correct what a shipment cost to what its lab really charged; return the difference."""
    if not reason.strip():
        raise BadInput("Write why it is corrected, such as a number of an invoice.", field="reason")
    for name, amount in (("items_cost", items_cost), ("shipping_cost", shipping_cost)):
        if not 0 <= amount <= _LARGEST:
            raise BadInput("A cost is an amount of 0 or more.", field=name)
    work, _ = system.lock_order(get_shipment(system.db, shipment_id).order_id)
    booked = list_costs(work.db, shipment_id)
    if not booked:
        raise WrongState(f"Shipment {shipment_id} has not left its lab, so nothing is booked yet.")
    extra = items_cost - sum(cost.items_cost for cost in booked)
    extra_shipping = shipping_cost - sum(cost.shipping_cost for cost in booked)
    if not extra and not extra_shipping:
        raise WrongState(f"That is what is booked for shipment {shipment_id}.")
    first = booked[0]
    shares = spread(extra, [part.items_cost for part in first.parts])
    correction = LabCost(
        shipment_id=shipment_id,
        number=len(booked) + 1,
        lab=first.lab,
        merchant_id=first.merchant_id,
        order_id=first.order_id,
        currency=first.currency,
        country=first.country,
        items_cost=extra,
        shipping_cost=extra_shipping,
        parts=tuple(
            CostPart(part.sku, share) for part, share in zip(first.parts, shares, strict=True)
        ),
        reason=reason.strip(),
        day=_day_of(work),
    )
    insert_cost(work.db, correction, now=work.now)
    work.audit(
        "correct-lab-cost", f"shipment {shipment_id}", items=items_cost, shipping=shipping_cost
    )
    return correction


def pay_lab(
    system: SystemWork, lab: str, currency: Currency, until: date, *, memo: str
) -> LabPayment:
    """Note that a lab was paid all that it was owed up to the end of a day."""
    if until >= system.real_now.astimezone(UTC).date():
        raise BadInput("Choose a day that is over.", field="until")
    new = NewLabPayment(lab, currency, until.isoformat(), memo.strip())
    paid = insert_payment(system.db, new, now=system.real_now)
    if paid is None:
        raise BadInput(f"{lab} is owed nothing in {currency} up to that day.", field="until")
    system.audit("pay-lab", lab, amount=paid.amount, currency=currency, until=paid.until)
    return paid


def _day_of(work: Work) -> str:
    return work.now.astimezone(UTC).date().isoformat()
