"""Operation 9 of the 3.0 contract."""

from tests.api.client import Client


def test_every_country_is_listed_by_name_with_both_names_of_its_code(v3: Client) -> None:
    countries = v3.get("/countries").data

    assert len(countries) == 250
    assert {"name": "UNITED KINGDOM", "isoCode": "GB", "countryCode": "GB"} in countries
    assert all(country["isoCode"] == country["countryCode"] for country in countries)
    names = [country["name"] for country in countries]
    assert names == sorted(names)
