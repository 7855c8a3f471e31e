"""What an order lacks before it can be submitted."""

from typing import Any

import pytest

from printworks.rules.submission import GeneralError, find_general_errors

COMPLETE: dict[str, Any] = {
    "recipient_name": "Mary Fox",
    "address1": "1 High Street",
    "town_or_city": "London",
    "postal_code": "SW1A 1AA",
    "destination_country": "GB",
    "image_count": 1,
}


def test_a_complete_order_lacks_nothing() -> None:
    assert find_general_errors(**COMPLETE) == []


def test_an_order_needs_an_image() -> None:
    errors = find_general_errors(**{**COMPLETE, "image_count": 0})

    assert errors == [GeneralError.NO_ITEMS_IN_ORDER]


@pytest.mark.parametrize("name", sorted(set(COMPLETE) - {"image_count"}))
@pytest.mark.parametrize("value", [None, ""])
def test_an_order_needs_its_whole_address(name: str, value: str | None) -> None:
    errors = find_general_errors(**{**COMPLETE, name: value})

    assert errors == [GeneralError.POSTAL_ADDRESS_NOT_SET]


def test_a_missing_address_is_said_once() -> None:
    nothing: dict[str, Any] = dict.fromkeys(COMPLETE) | {"image_count": 1}

    assert find_general_errors(**nothing) == [GeneralError.POSTAL_ADDRESS_NOT_SET]


def test_a_dash_will_do_where_there_are_no_postcodes() -> None:
    assert find_general_errors(**{**COMPLETE, "postal_code": "-"}) == []
