"""The tax of orders: calculated with the quote, frozen at submission, told to whoever asks."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from printworks.actions.work import Work
from printworks.rules.businesses import Business
from printworks.rules.orders import Payment
from printworks.rules.payments import MOST_TO_PAY, find_price_for_recipient
from printworks.rules.sellers import Seller
from printworks.rules.tax_table import TaxClass
from printworks.rules.tax_terms import (
    PricedLine,
    TaxedSale,
    TaxTerms,
    change_shipping_line,
    tax_sale,
)
from printworks.store.images.images import ItemSum, list_images_to_show, sum_items
from printworks.store.money.sellers import TaxParties, find_business, find_tax_parties, get_seller
from printworks.store.orders.orders import Order, read_tax_terms, update_order

# What an order has where nobody collects tax.
_UNTAXED: Final[dict[str, Any]] = {
    "tax": None,
    "tax_included": False,
    "tax_terms": None,
    "recipient_tax": 0,
}


class TaxedOrder(msgspec.Struct, frozen=True, kw_only=True):
    """An order with its tax: all that an invoice says."""

    order: Order
    # Its lines, of which the last one is shipping, and their sums: `net`, `tax`, `gross`, `rates`.
    terms: TaxTerms
    seller_id: int
    # As they are now; an invoice that was written keeps what it says.
    seller: Seller
    # None if the merchant has not named its company: it is known by its name alone.
    buyer: Business | None


def get_taxed_order(work: Work, order: Order) -> TaxedOrder | None:
    """Return an order of the work's merchant with its taxed lines, its seller and its buyer.

    None if it was submitted while nobody collected tax, or costs nothing.
    """
    terms = read_tax_terms(work.db, order.id)
    if terms is None:
        return None
    return TaxedOrder(
        order=order,
        terms=terms,
        seller_id=terms.seller_id,
        seller=get_seller(work.db, terms.seller_id),
        buyer=find_business(work.db, order.merchant_id),
    )


def tax_order(
    work: Work, order: Order, items: Iterable[ItemSum], *, shipping: int
) -> dict[str, Any]:
    """Return the columns of an order that say how it is taxed, at these prices."""
    return _tax_order(work, order, find_tax_parties(work.db, work.merchant.id), items, shipping)


def _tax_order(
    work: Work, order: Order, parties: TaxParties | None, items: Iterable[ItemSum], shipping: int
) -> dict[str, Any]:
    terms = _find_terms(work, order, parties, items, shipping)
    if parties is None or terms is None:
        return _UNTAXED
    return {
        "tax": terms.tax,
        "tax_included": terms.is_gross,
        "tax_terms": msgspec.to_builtins(terms),
        "recipient_tax": _tax_recipient(work, order, parties, shipping),
    }


def _find_terms(
    work: Work, order: Order, parties: TaxParties | None, items: Iterable[ItemSum], shipping: int
) -> TaxTerms | None:
    """Return how an order is taxed at these prices; None if it is not."""
    if parties is None or order.destination_country is None:
        return None
    # One line for each product and price, also while its images had different prices before.
    copies = Counter[tuple[str, int]]()
    for item in items:
        copies[item.sku, item.price] += item.copies
    priced = sorted((kind, number) for kind, number in copies.items() if number)
    sold = [_describe(work, sku, number, each) for (sku, each), number in priced]
    return _tax(work, order.destination_country, parties, sold, shipping) if sold else None


class TaxedTotal(NamedTuple):
    """What an order is charged in all, and the tax in it, if there is any."""

    total: int
    tax: int | None


def total_again(
    work: Work, order: Order, parties: TaxParties | None, items: Iterable[ItemSum]
) -> TaxedTotal:
    """Return what an order is charged in all by who sells and buys now, at the price it has."""
    terms = _find_terms(work, order, parties, items, order.shipping_price)
    if terms is None:
        return TaxedTotal(order.price, None)
    return TaxedTotal(order.price if terms.is_gross else order.price + terms.tax, terms.tax)


def tax_again(work: Work, order: Order) -> Order:
    """Calculate the tax of an order once more, by who sells and buys now; the price stays.

    What is being paid for stays as it is.
    """
    if order.payment_request_id is not None:
        return order
    changes = _find_changes(work, order)
    return update_order(work.db, order, changes) if changes else order


def _find_changes(work: Work, order: Order) -> dict[str, Any]:
    """Return the columns of an order that are others by now."""
    parties = find_tax_parties(work.db, work.merchant.id)
    if parties is None and order.tax is None:
        return {}
    items = sum_items(work.db, order.id)
    values = _tax_order(work, order, parties, items, order.shipping_price)
    terms = read_tax_terms(work.db, order.id)
    stored = {
        "tax": order.tax,
        "tax_included": order.tax_included,
        "tax_terms": None if terms is None else msgspec.to_builtins(terms),
        "recipient_tax": order.recipient_tax,
    }
    return {} if stored == values else values


def tax_other_shipping(work: Work, order: Order, shipping: int) -> dict[str, Any]:
    """Return the columns of a submitted order whose shipping costs something else.

    The rates are those that were frozen; those of a reprint, which was free, are frozen now.
    """
    terms = read_tax_terms(work.db, order.id)
    if terms is None and order.reprint_of is not None:
        terms = _find_terms_of_reprint(work, order)
    if terms is None:
        return {}
    changed = change_shipping_line(terms, shipping)
    return {
        "tax": changed.tax,
        "tax_included": changed.is_gross,
        "tax_terms": msgspec.to_builtins(changed),
    }


def _find_terms_of_reprint(work: Work, order: Order) -> TaxTerms | None:
    """Return how the shipping of a reprint is taxed: as with its images, which cost nothing."""
    parties = find_tax_parties(work.db, work.merchant.id)
    terms = _find_terms(work, order, parties, sum_items(work.db, order.id), order.shipping_price)
    if terms is None:
        return None
    shipping = tuple(line for line in terms.lines if line.is_shipping)
    return msgspec.structs.replace(terms, lines=shipping)


def estimate_tax(
    work: Work, country: str, copies: Iterable[tuple[str, int, int]], *, shipping: int
) -> TaxTerms | None:
    """Return how the merchant would be taxed for so many copies of skus at these prices.

    None where nobody collects tax.
    """
    parties = find_tax_parties(work.db, work.merchant.id)
    if parties is None:
        return None
    sold = [_describe(work, sku, number, each) for sku, number, each in copies]
    return _tax(work, country, parties, sold, shipping)


def _tax(
    work: Work,
    country: str,
    parties: TaxParties,
    sold: Sequence[PricedLine],
    shipping: int,
) -> TaxTerms:
    seller, buyer = parties.seller, parties.buyer or Business()
    sale = TaxedSale(
        seller=seller.place,
        buyer_country=buyer.vat_country,
        destination=country,
        day=work.now.date(),
    )
    return TaxTerms(
        seller_id=parties.seller_id,
        is_gross=seller.is_gross,
        rounding=seller.rounding,
        situation=sale.situation,
        vat_id=buyer.vat_id,
        lines=tax_sale(sale, sold, shipping, seller.policy, work.catalogue.taxes),
    )


def _tax_recipient(work: Work, order: Order, parties: TaxParties, shipping: int) -> int:
    """Return what a recipient who pays is charged as tax: as a consumer, at its own prices."""
    if order.payment is not Payment.INVOICE_RECIPIENT:
        return 0
    sold = [
        _describe(
            work,
            image.sku,
            image.copies,
            find_price_for_recipient(image.price_to_user, image.price),
        )
        for image in list_images_to_show(work.db, order.id)
    ]
    country, consumer = order.destination_country or "", parties._replace(buyer=None)
    # What is more than can be paid need not be known exactly, and no column holds it.
    return min(_tax(work, country, consumer, sold, shipping).tax, MOST_TO_PAY + 1)


def _describe(work: Work, sku: str, copies: int, each: int) -> PricedLine:
    product = work.catalogue.find_product(sku)
    if product is None:
        return PricedLine(sku, sku, copies, each, TaxClass.STANDARD)
    return PricedLine(sku, product.description, copies, each, product.tax_class)
