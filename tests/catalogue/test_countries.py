"""The countries that parcels go to."""

import pytest

from printworks.catalogue.countries import COUNTRIES


def test_every_country_has_a_name_in_capitals_and_a_code_of_two_letters() -> None:
    for code, country in COUNTRIES.items():
        assert code == country.code
        assert code.isascii()
        assert code.isupper()
        assert len(code) == 2
        assert country.name.isascii()
        assert country.name.isupper()
        assert "?" not in country.name


def test_the_countries_stand_in_the_order_of_their_names() -> None:
    names = [country.name for country in COUNTRIES.values()]

    assert names == sorted(names)


@pytest.mark.parametrize("code", ["BQ", "CW", "SX", "SS", "RS", "ME"])
def test_the_successors_of_countries_that_are_gone_are_listed(code: str) -> None:
    assert code in COUNTRIES


@pytest.mark.parametrize("code", ["AN", "CS", "XX"])
def test_a_country_that_is_gone_is_not_listed(code: str) -> None:
    assert code not in COUNTRIES
