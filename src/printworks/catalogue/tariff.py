"""What merchants pay for shipping: by destination, band, copies, method and tracking alone."""

from collections.abc import Collection, Iterator, Mapping

import msgspec

from printworks.catalogue.products import Currency
from printworks.catalogue.services import StepPrice
from printworks.rules.orders import ShippingMethod


class ShippingRate(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What items of a band cost to send by a method, with tracking or without."""

    name: str
    band: str
    method: ShippingMethod
    is_tracked: bool
    steps: Mapping[Currency, StepPrice]

    def price(self, copies: int, currency: Currency) -> int:
        """Return the price of so many items; 0 in a currency in which nothing is sold."""
        step = self.steps.get(currency)
        return 0 if step is None else step.price(copies)


class Tariff(msgspec.Struct, frozen=True):
    """Every rate that is charged."""

    # By country, band and method: the untracked rate, the tracked one, or both in this order.
    rates: Mapping[tuple[str, str, ShippingMethod], tuple[ShippingRate, ...]]

    def find_rate(
        self, country: str, band: str, method: ShippingMethod, *, tracked: bool
    ) -> ShippingRate | None:
        """Return the rate that is charged; None for what is not sold.

        Where only one of the two is offered, that one is charged, asked for or not.
        """
        offered = self.rates.get((country.upper(), band, method), ())
        return min(offered, key=lambda rate: rate.is_tracked is not tracked, default=None)

    def list_rates(
        self, country: str, bands: Collection[str], methods: Collection[ShippingMethod]
    ) -> Iterator[ShippingRate]:
        """List all that may be charged for these bands and methods."""
        for band in bands:
            for method in methods:
                yield from self.rates.get((country.upper(), band, method), ())
