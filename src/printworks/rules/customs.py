"""Which parcels cross a customs border, and what they are worth there."""

from typing import Final

# fmt: off
# One customs area: between these, nothing is declared. Monaco belongs to it, Northern Ireland does
# not have a code of its own.
_UNION: Final = frozenset({
    "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE",
    "IT", "LT", "LU", "LV", "MC", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK",
})
# fmt: on


def crosses_customs(origin: str, destination: str) -> bool:
    """Whether a parcel from one country to another has to be declared."""
    return origin != destination and not {origin, destination} <= _UNION


def find_declared_value(price_to_user: int | None, list_price: int | None) -> int | None:
    """Return what one copy is worth for customs: what the recipient pays, else the list price.

    Never what the merchant pays, which is not the lab's business.
    """
    return list_price if price_to_user is None else price_to_user
