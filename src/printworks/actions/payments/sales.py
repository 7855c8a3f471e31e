"""Charges and refunds, divided by product and lab for reports."""

from printworks.actions.work import Work
from printworks.rules.ledger import LedgerEntry
from printworks.rules.sales import (
    SHIPPING,
    Sale,
    SalePart,
    SoldItem,
    SoldLine,
    divide_sale,
    mirror_parts,
    price_lines,
)
from printworks.store.images.images import Images
from printworks.store.money.sales import get_sale, insert_sale
from printworks.store.orders.orders import Order, read_tax_terms
from printworks.store.orders.shipments import Shipments


def divide_charge(
    work: Work, order: Order, images: Images, shipments: Shipments, *, is_new: bool
) -> tuple[SalePart, ...]:
    """Divide what an order costs by what is sold and the labs that are to make it."""
    labs = {image: shipment.lab for shipment in shipments for image in shipment.image_ids}
    items = [
        SoldItem(labs.get(image.id, ""), image.sku, image.copies, image.copies * image.price)
        for image in images
    ]
    return divide_sale(items, _list_lines(work, order, items), is_new=is_new)


def _list_lines(work: Work, order: Order, items: list[SoldItem]) -> list[SoldLine]:
    """Return what is charged for each product, with the tax that was frozen with the order."""
    terms = read_tax_terms(work.db, order.id) if order.tax is not None else None
    if terms is None:
        return price_lines(items, shipping=order.shipping_price, amount=order.total)
    amounts: dict[str, tuple[int, int]] = {}
    for line in terms.lines:
        sku = SHIPPING if line.is_shipping else line.sku
        net, tax = amounts.get(sku, (0, 0))
        amounts[sku] = (net + line.net, tax + line.tax)
    return [SoldLine(sku, net, tax) for sku, (net, tax) in amounts.items()]


def record_sale(work: Work, order: Order, entry: LedgerEntry, parts: tuple[SalePart, ...]) -> None:
    """Record the parts of a charge or refund beside its entry."""
    sale = Sale(
        number=entry.number,
        kind=entry.kind,
        day=entry.day,
        currency=entry.currency,
        country=order.destination_country or "",
        parts=parts,
    )
    insert_sale(work.db, work.merchant.id, sale)


def mirror_charge(work: Work, key: str) -> tuple[SalePart, ...]:
    """Return the parts of a refund: those of the charge with this key."""
    return mirror_parts(get_sale(work.db, work.merchant.id, key).parts)
