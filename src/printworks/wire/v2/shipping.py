"""Shipping as the 2.x family speaks of it: two methods, where the core has four."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from printworks.rules.orders import ShippingMethod
from printworks.wire.v2.versions import V2_3


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


# The method of orders that name none.
USUAL_METHOD: Final = ShippingMethod.BUDGET


def methods_in(version: str) -> tuple[ShippingMethod, ...]:
    """Return the methods that orders of a version can have; 2.3 has no choice."""
    return (USUAL_METHOD,) if version == V2_3 else tuple(METHOD_MEANT.values())


def choose_method(wanted: PreferredMethod, present: ShippingMethod) -> ShippingMethod:
    """Return the method that is meant; the one that is shown under this name already stays."""
    return present if METHOD_SHOWN[present] is wanted else METHOD_MEANT[wanted]
