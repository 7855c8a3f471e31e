"""Operation 9 of the 3.0 contract."""

import pytest
from sqlalchemy import update

from printworks.store.engine.database import Database
from printworks.store.tables import orders
from tests.api.client import Client
from tests.api.conftest import an_order
from tests.api.images import add, create
from tests.api.production import see, set_status


def test_every_country_is_listed_by_name_with_both_names_of_its_code(v3: Client) -> None:
    countries = v3.get("/countries").data

    assert len(countries) == 250
    assert {"name": "UNITED KINGDOM", "isoCode": "GB", "countryCode": "GB"} in countries
    assert all(country["isoCode"] == country["countryCode"] for country in countries)
    names = [country["name"] for country in countries]
    assert names == sorted(names)


# Codes of countries that are gone, that never were, and that are something else.
@pytest.mark.parametrize("code", ["AN", "CS", "UK", "EU", "QQ", "GBR", "G"])
@pytest.mark.both_databases
def test_no_order_goes_to_a_code_that_is_not_listed(v3: Client, code: str) -> None:
    order_id = create(v3)
    add(v3, order_id)
    before = see(v3, order_id)

    refusals = [
        v3.post("/orders", an_order(countryCode=code)),
        v3.put(f"/orders/{order_id}", an_order(countryCode=code)),
    ]

    for refusal in refusals:
        assert refusal.status == 400
        assert "`countryCode` is wrong" in refusal.error
    assert see(v3, order_id) == before
    assert v3.get("/orders").data["count"] == 1


def test_an_order_whose_country_has_left_the_list_cannot_be_submitted(
    v3: Client, database: Database
) -> None:
    order_id = create(v3)
    add(v3, order_id)
    with database.writing() as db:
        db.execute(update(orders).values(destination_country="AN"))

    answer = set_status(v3, order_id, "Submitted")

    assert v3.get(f"/orders/{order_id}/SubmissionStatus").data["isValid"] is False
    assert answer.status == 403
    assert see(v3, order_id)["status"] == "NotYetSubmitted"
