"""Labs learn what customs need to know, and nothing of what merchants pay."""

import pytest

from printworks.rules.customs import crosses_customs, find_declared_value


@pytest.mark.parametrize(
    ("origin", "destination", "crosses"),
    [
        ("GB", "GB", False),
        ("DE", "FR", False),
        ("DE", "GB", True),
        ("GB", "DE", True),
        ("DE", "CH", True),
        ("US", "CA", True),
    ],
)
def test_a_parcel_is_declared_where_it_crosses_a_customs_border(
    origin: str, destination: str, crosses: bool
) -> None:
    assert crosses_customs(origin, destination) is crosses


@pytest.mark.parametrize(
    ("price_to_user", "list_price", "value"),
    [(2000, 1500, 2000), (0, 1500, 0), (None, 1500, 1500), (None, None, None)],
)
def test_the_value_is_what_the_recipient_pays_or_the_list_price(
    price_to_user: int | None, list_price: int | None, value: int | None
) -> None:
    assert find_declared_value(price_to_user, list_price) == value
