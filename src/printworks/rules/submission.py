"""What still stands between an order and its submission."""

from enum import StrEnum


class GeneralError(StrEnum):
    """What is wrong with an order as a whole."""

    NO_ITEMS_IN_ORDER = "NoItemsInOrder"
    POSTAL_ADDRESS_NOT_SET = "PostalAddressNotSet"


def find_general_errors(
    *,
    recipient_name: str | None,
    address1: str | None,
    town_or_city: str | None,
    postal_code: str | None,
    destination_country: str | None,
    image_count: int,
) -> list[GeneralError]:
    """List what keeps the order from being submitted; empty when nothing does."""
    errors = []
    if image_count == 0:
        errors.append(GeneralError.NO_ITEMS_IN_ORDER)
    needed = (recipient_name, address1, town_or_city, postal_code, destination_country)
    if not all(needed):
        errors.append(GeneralError.POSTAL_ADDRESS_NOT_SET)
    return errors
