"""What a shipping service is: from which labs to which countries, how fast and at what cost."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from printworks.catalogue.products import Currency
from printworks.rules.orders import ShippingMethod


class Carrier(StrEnum):
    """Who carries a parcel: the only codes that clients know."""

    ROYAL_MAIL = "RoyalMail"
    ROYAL_MAIL_FIRST_CLASS = "RoyalMailFirstClass"
    ROYAL_MAIL_SECOND_CLASS = "RoyalMailSecondClass"
    FEDEX = "FedEx"
    FEDEX_UK = "FedExUK"
    FEDEX_INTL = "FedExIntl"
    INTERLINK = "Interlink"
    UPS = "UPS"
    UPS_TWO_DAY = "UpsTwoDay"
    UK_MAIL = "UKMail"
    TNT = "TNT"
    PARCEL_FORCE = "ParcelForce"
    DHL = "DHL"
    UPS_MI = "UPSMI"
    DPD_NEXT_DAY = "DpdNextDay"
    EU_POSTAL = "EuPostal"
    AU_POST = "AuPost"
    AIR_MAIL = "AirMail"
    NOT_KNOWN = "NotKnown"


# As people know them; those without a name of their own are not named.
CARRIER_NAMES: Final[Mapping[Carrier, str]] = {
    Carrier.ROYAL_MAIL: "Royal Mail",
    Carrier.ROYAL_MAIL_FIRST_CLASS: "Royal Mail",
    Carrier.ROYAL_MAIL_SECOND_CLASS: "Royal Mail",
    Carrier.FEDEX: "FedEx",
    Carrier.FEDEX_UK: "FedEx",
    Carrier.FEDEX_INTL: "FedEx",
    Carrier.INTERLINK: "Interlink",
    Carrier.UPS: "UPS",
    Carrier.UPS_TWO_DAY: "UPS",
    Carrier.UK_MAIL: "UK Mail",
    Carrier.TNT: "TNT",
    Carrier.PARCEL_FORCE: "Parcelforce",
    Carrier.DHL: "DHL",
    Carrier.UPS_MI: "UPS",
    Carrier.DPD_NEXT_DAY: "DPD",
    Carrier.AU_POST: "Australia Post",
}


class StepPrice(msgspec.Struct, frozen=True):
    """The price of so many items in a parcel, and of as many again, in minor units."""

    items: int
    first: int
    further: int

    def price(self, copies: int) -> int:
        """Return the price of a parcel; a step that is begun is paid for."""
        steps = -(-copies // self.items)
        return self.first + self.further * (steps - 1) if steps > 0 else 0


class Service(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """A way for parcels to leave a lab."""

    code: str
    name: str
    carrier: Carrier
    # By code.
    labs: tuple[str, ...]
    methods: tuple[ShippingMethod, ...]
    countries: frozenset[str]
    # Working days on the way, after the day of dispatch.
    min_transit_days: int
    max_transit_days: int
    tracked: bool
    # What it carries.
    bands: tuple[str, ...]
    # What the carrier charges us; merchants pay the tariff, whatever service is used.
    costs: Mapping[tuple[str, Currency], StepPrice]

    def goes_to(self, country: str) -> bool:
        """Say whether it reaches this destination country."""
        return country.upper() in self.countries

    def find_cost(self, band: str, copies: int, currency: Currency) -> int | None:
        """Return the cost of so many items of a band, or None if it does not carry them."""
        cost = self.costs.get((band, currency))
        return None if cost is None else cost.price(copies)
