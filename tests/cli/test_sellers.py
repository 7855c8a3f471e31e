"""`printworks seller` says who sells, and lists the rates of tax."""

import pytest

from tests.cli.operators import Operator

GIVEN = (
    *("--name", "Prints Ltd", "--street", "1 High Street", "--postal-code", "YO1 1AA"),
    *("--town", "York", "--country", "GB", "--vat-id", "GB980780684"),
)


@pytest.mark.both_databases
def test_a_seller_is_set_shown_and_ended(keeper: Operator) -> None:
    assert "No seller has been set up" in keeper.asks("seller", "show").said

    keeper.asks("seller", "set", *GIVEN)
    keeper.asks("seller", "set", "--gross", "--rounding", "document", "--one-stop")
    keeper.asks("seller", "register", "fr", "FR40303265045", "--reverse-charge")
    shown = keeper.asks("seller", "show").said

    assert "VAT ID         GB980780684\n" in shown
    assert "registered in  FR: FR40303265045\n" in shown
    assert "prices         gross\n" in shown
    facts = keeper.reads("seller", "show")
    assert facts["company"]["town"] == "York"

    keeper.asks("seller", "unregister", "FR")
    assert "registered in  none\n" in keeper.asks("seller", "show").said
    keeper.asks("seller", "end")
    assert keeper.reads("seller", "show") == {"seller": None}


def test_what_is_wrong_is_refused(keeper: Operator) -> None:
    refused = keeper.asks("seller", "set", *GIVEN[:-1], "GB980780685")

    assert refused.code == 1
    assert keeper.reads("seller", "show") == {"seller": None}


def test_the_rates_of_today_are_listed(keeper: Operator) -> None:
    rates = {(one["country"], one["class"]): one["rate"] for one in keeper.reads("seller", "rates")}

    assert rates["DE", "standard"] == 19.0
    assert rates["GB", "books"] == 0.0
    assert 'country = "DE"' in keeper.asks("seller", "rates", "--toml").said
