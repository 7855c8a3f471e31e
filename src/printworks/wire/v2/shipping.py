"""Shipping as the 2.x family speaks of it: two methods, where the core has four."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from printworks.rules.orders import ShippingMethod


class PreferredMethod(StrEnum):
    """How an order should travel."""

    CHEAPEST = "CHEAPEST"
    PRIORITY = "PRIORITY"


# What each means to the core.
METHOD_MEANT: Final[Mapping[PreferredMethod, ShippingMethod]] = {
    PreferredMethod.CHEAPEST: ShippingMethod.BUDGET,
    PreferredMethod.PRIORITY: ShippingMethod.EXPRESS,
}

# As what each method of the core is shown.
METHOD_SHOWN: Final[Mapping[ShippingMethod, PreferredMethod]] = {
    ShippingMethod.BUDGET: PreferredMethod.CHEAPEST,
    ShippingMethod.STANDARD: PreferredMethod.CHEAPEST,
    ShippingMethod.EXPRESS: PreferredMethod.PRIORITY,
    ShippingMethod.OVERNIGHT: PreferredMethod.PRIORITY,
}


def choose_method(wanted: PreferredMethod, present: ShippingMethod) -> ShippingMethod:
    """Return the method that is meant; the one that is shown under this name already stays."""
    return present if METHOD_SHOWN[present] is wanted else METHOD_MEANT[wanted]
