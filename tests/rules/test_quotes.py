"""An open order keeps its price for a while, and prices are explained."""

import pytest

from printworks.rules.orders import OrderStatus
from printworks.rules.price_explaining import explain_picked
from printworks.rules.price_lists import PickedPrice, PriceBasis
from printworks.rules.quotes import explain_new_price, keeps_quote
from tests.factories import NOON


def test_only_an_open_order_that_is_not_being_paid_for_has_a_quote_that_ends() -> None:
    assert keeps_quote(OrderStatus.NOT_YET_SUBMITTED, NOON, None)
    assert not keeps_quote(OrderStatus.NOT_YET_SUBMITTED, None, None)
    assert not keeps_quote(OrderStatus.NOT_YET_SUBMITTED, NOON, 7)
    assert not keeps_quote(OrderStatus.AWAITING_PAYMENT, NOON, None)


def test_both_prices_are_named() -> None:
    said = explain_new_price(quoted=123_456, current=90, currency="EUR")

    assert "it was 1,234.56 EUR, and is 0.90 EUR now" in said


@pytest.mark.parametrize(
    ("picked", "said"),
    [
        (PickedPrice(100, 100), "1.00 each, as in the catalogue."),
        (
            PickedPrice(90, 100, PriceBasis.PERCENTAGE, 1050),
            "0.90 each: 10.5 % off the catalogue's 1.00, by “Spring”.",
        ),
        (
            PickedPrice(80, 100, PriceBasis.PRICE, from_copies=1000),
            "0.80 each, by “Spring”, from 1,000 copies on; the catalogue says 1.00.",
        ),
    ],
)
def test_a_price_is_explained(picked: PickedPrice, said: str) -> None:
    assert explain_picked(picked, "“Spring”", lambda amount: f"{amount / 100:.2f}") == said
