"""What is sold for less than the cheapest lab charges for it."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TypeAlias

import msgspec

from printworks.catalogue.products import Currency
from printworks.catalogue.snapshot import Catalogue
from printworks.rules.price_lists import PriceBasis, PriceList, PriceRates

# In minor units, by product and currency.
_Costs: TypeAlias = Mapping[tuple[str, Currency], Fraction]


class PriceLoss(msgspec.Struct, frozen=True):
    """A price that does not cover what the cheapest lab charges."""

    sku: str
    currency: Currency
    price: int
    # Rounded down.
    cost: int
    from_copies: int = 1


def find_catalogue_losses(catalogue: Catalogue) -> Iterator[PriceLoss]:
    """Return what the catalogue itself sells for less than it costs."""
    lowest = _list_lowest_costs(catalogue)
    for product in catalogue.products:
        for currency, price in product.base_prices.items():
            cost = lowest.get((product.sku, currency), 0)
            if price < cost:
                yield PriceLoss(product.sku, currency, price, int(cost))


def find_list_losses(catalogue: Catalogue, found: PriceList) -> Iterator[PriceLoss]:
    """Return what a price list sells for less than it costs, each from the first such price on."""
    lowest, rates = _list_lowest_costs(catalogue), PriceRates(found)
    for product in catalogue.products:
        for currency, catalogue_price in product.base_prices.items():
            cost = lowest.get((product.sku, currency), 0)
            for step in rates.list_steps(product.sku, currency, catalogue_price):
                if step.price < cost and step.basis is not PriceBasis.CATALOGUE:
                    copies = step.from_copies
                    yield PriceLoss(product.sku, currency, step.price, int(cost), copies)
                    break


def _list_lowest_costs(catalogue: Catalogue) -> _Costs:
    return catalogue.remember("lowest costs", lambda: _find_lowest_costs(catalogue))


def _find_lowest_costs(catalogue: Catalogue) -> _Costs:
    """Return what the cheapest lab charges for a copy of each product that is made anywhere."""
    rates = {
        (of, to): catalogue.find_exchange_rate(of, to=to)
        for of in {lab.currency for lab in catalogue.labs}
        for to in catalogue.currencies
    }
    return {
        (product.sku, currency): min(
            rates[lab.currency, currency] * lab.makes[product.sku].cost for lab in makers
        )
        for product in catalogue.products
        if (makers := [lab for lab in catalogue.labs if lab.can_make(product)])
        for currency in product.base_prices
    }
