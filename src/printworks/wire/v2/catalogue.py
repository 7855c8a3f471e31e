"""The catalogue of a country and a quality level, as the 2.x family shows it."""

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Self

import msgspec

from printworks.catalogue.countries import Country
from printworks.catalogue.merchant_prices import MerchantPrices
from printworks.catalogue.products import Currency, Product, QualityLevel
from printworks.catalogue.tariff import ShippingRate
from printworks.rules.sizing import Units
from printworks.wire.v2.shipping import METHOD_SHOWN
from printworks.wire.v2.versions import V2_3, V2_5, V2_6, only


class RateMethod(StrEnum):
    """How an order travels, as rates spell it."""

    CHEAPEST = "cheapest"
    PRIORITY = "priority"


# Whole numbers stay so: 4 and not 4.0, which some clients could not read.
Length = int | float


class AttributeOut(msgspec.Struct, frozen=True):
    """A choice, and what there is to choose from; without a default it is required."""

    name: str
    validValues: list[str]
    defaultValue: str | None


class ItemOut(msgspec.Struct, frozen=True, kw_only=True):
    """Something that can be ordered; photos name it as their `type`."""

    name: str
    description: str
    itemType: str
    imageHorizontalSize: Length
    imageVerticalSize: Length
    fullProductHorizontalSize: Length
    fullProductVerticalSize: Length
    sizeUnits: Units
    priceGBP: int | None
    priceUSD: int | None
    recommendedHorizontalResolution: int
    recommendedVerticalResolution: int
    shippingBand: str
    attributes: list[AttributeOut]

    @classmethod
    def of(cls, product: Product, country: str, prices: MerchantPrices) -> Self:
        """Show a product with the merchant's prices in a country."""
        return cls(
            name=product.type_names[0],
            description=product.description,
            itemType=product.kind,
            imageHorizontalSize=_number(product.image_size.width),
            imageVerticalSize=_number(product.image_size.height),
            fullProductHorizontalSize=_number(product.full_size.width),
            fullProductVerticalSize=_number(product.full_size.height),
            sizeUnits=product.units,
            priceGBP=prices.find(product, country, currency=Currency.GBP),
            priceUSD=prices.find(product, country, currency=Currency.USD),
            recommendedHorizontalResolution=product.recommended_pixels.width,
            recommendedVerticalResolution=product.recommended_pixels.height,
            shippingBand=product.shipping_band,
            attributes=[
                AttributeOut(attribute.name, list(attribute.valid_values), attribute.default)
                for attribute in product.attributes
            ],
        )


def _number(length: Decimal) -> Length:
    return int(length) if length == length.to_integral_value() else float(length)


class ShippingRateOut(msgspec.Struct, frozen=True, kw_only=True):
    """What sending one item of a band to the country is charged, whichever lab prints it."""

    band: str
    description: str
    isTracked: Annotated[bool, only(V2_3, V2_6)]
    shippingMethod: Annotated[RateMethod, only(V2_5)]
    priceGBP: Annotated[int | None, only(V2_3, V2_5)]
    priceUSD: Annotated[int | None, only(V2_3, V2_5)]
    price: Annotated[int | None, only(V2_6)]
    currency: Annotated[Currency, only(V2_6)]

    @classmethod
    def of(cls, rate: ShippingRate, currency: Currency) -> Self:
        prices = {each: step.price(1) for each, step in rate.steps.items()}
        return cls(
            band=rate.band,
            description=rate.name,
            isTracked=rate.is_tracked,
            shippingMethod=RateMethod(METHOD_SHOWN[rate.method].lower()),
            priceGBP=prices.get(Currency.GBP),
            priceUSD=prices.get(Currency.USD),
            price=prices.get(currency),
            currency=currency,
        )


class CatalogueOut(msgspec.Struct, frozen=True, kw_only=True):
    """All that is sold to a country in a quality level."""

    country: str
    countryCode: str
    qualityLevel: QualityLevel
    items: list[ItemOut]
    shippingRates: list[ShippingRateOut]
    errorMessage: str | None = None

    @classmethod
    def of(
        cls,
        country: Country,
        quality: QualityLevel,
        items: list[ItemOut],
        rates: list[ShippingRateOut],
    ) -> Self:
        return cls(
            country=country.name,
            countryCode=country.code,
            qualityLevel=quality,
            items=items,
            shippingRates=rates,
        )
