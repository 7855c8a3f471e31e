"""Orders say their tax and what is charged in all, once there is a seller."""

import pytest

from printworks.store.engine.database import Database
from tests.api.client import Client
from tests.api.production import see, set_status, submit
from tests.sellers import sell


def test_without_a_seller_there_are_no_such_members(v3: Client) -> None:
    shown = see(v3, submit(v3))

    assert not {"tax", "total"} & shown.keys()


@pytest.mark.both_databases
def test_prices_kept_net_are_charged_with_tax(v3: Client, database: Database) -> None:
    sell(database)
    shown = see(v3, submit(v3))

    assert shown["tax"] == round(shown["price"] * 0.2) > 0
    assert shown["total"] == shown["price"] + shown["tax"]
    [listed] = v3.get("/orders").data["content"]
    assert (listed["tax"], listed["total"]) == (shown["tax"], shown["total"])


def test_prices_kept_gross_include_it(v3: Client, database: Database) -> None:
    sell(database, is_gross=True)
    shown = see(v3, submit(v3))

    assert shown["tax"] == round(shown["price"] / 6) > 0
    assert shown["total"] == shown["price"]


def test_a_cancelled_order_costs_nothing(v3: Client, database: Database) -> None:
    sell(database)
    order_id = submit(v3)
    set_status(v3, order_id, "Cancelled")

    shown = see(v3, order_id)
    assert (shown["price"], shown["tax"], shown["total"]) == (0, 0, 0)
