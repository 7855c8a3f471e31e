"""Prices as 3.0 shows them, and the codes that it takes."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final, Self

import msgspec
from msgspec import Meta

from printworks.catalogue.products import Currency
from printworks.catalogue.tariff import ShippingRate
from printworks.errors import BadInput
from printworks.rules.orders import ShippingMethod
from printworks.rules.price_lists import PickedPrice
from printworks.wire.reading import by_lower_name

MOST_SKUS: Final = 1000

Sku = Annotated[str, Meta(max_length=100)]


class FetchPrices(msgspec.Struct, frozen=True):
    """For which products prices are wanted."""

    skus: Annotated[list[Sku], Meta(max_length=MOST_SKUS)]


class VolumePriceOut(msgspec.Struct, frozen=True):
    """What each copy costs in an order with so many copies of the product."""

    fromCopies: int
    price: int


class PriceOut(msgspec.Struct, frozen=True):
    """What one copy costs the merchant, in cents or pence."""

    sku: str
    price: int
    currency: str
    # Only of products that cost less in larger numbers.
    volumePrices: list[VolumePriceOut] | msgspec.UnsetType = msgspec.UNSET

    @classmethod
    def of(cls, sku: str, price: int, currency: str, steps: Sequence[PickedPrice]) -> Self:
        cheaper = [VolumePriceOut(step.from_copies, step.price) for step in steps]
        return cls(sku, price, currency, cheaper or msgspec.UNSET)


class PricesOut(msgspec.Struct, frozen=True):
    """Prices, without an envelope."""

    prices: list[PriceOut]


class ShippingRateOut(msgspec.Struct, frozen=True, kw_only=True):
    """What shipping a band costs: `price` for `items` copies, `furtherPrice` for as many again."""

    band: str
    method: ShippingMethod
    isTracked: bool
    description: str
    items: int
    price: int
    furtherPrice: int
    currency: Currency

    @classmethod
    def of(cls, rate: ShippingRate, currency: Currency) -> Self:
        step = rate.steps[currency]
        return cls(
            band=rate.band,
            method=rate.method,
            isTracked=rate.is_tracked,
            description=rate.name,
            items=step.items,
            price=step.first,
            furtherPrice=step.further,
            currency=currency,
        )


def read_skus(sent: object) -> list[str]:
    """Read the codes: in an object, as the contract has it, or as a bare list."""
    if isinstance(sent, Mapping):
        sent = by_lower_name(sent).get("skus")
        if sent is None:
            raise BadInput("`skus` is required.")
        # A form with one code in it, or with several: `skus[0]=...&skus[1]=...`.
        if isinstance(sent, str):
            sent = [sent]
        elif isinstance(sent, Mapping) and sent:
            sent = list(sent.values())
    if not isinstance(sent, list) or not all(isinstance(sku, str) for sku in sent):
        raise BadInput("`skus` must be an array of product codes.")
    if len(sent) > MOST_SKUS:
        raise BadInput(f"`skus` must have at most {MOST_SKUS} elements, not {len(sent)}.")
    return sent
