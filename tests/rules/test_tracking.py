"""Who prefers tracking gets it wherever it is to be had, and is never left without a parcel."""

from printworks.rules.routing.costs import ShipmentPrice
from printworks.rules.routing.model import Unroutable
from tests.rules.labs import BUDGET, EXPRESS, a_lab, a_service, an_item, ask, plan_of

POST = a_service("post", price=100)
BOTH = {"Prints", "Mugs"}
PARCEL = a_service("parcel", price=500, is_tracked=True)


def test_a_tracked_service_wins_however_dear() -> None:
    (shipment,) = plan_of(
        ask([an_item()], [a_lab("a", {1: 1}, POST, PARCEL)], prefers_tracking=BOTH)
    ).shipments

    assert (shipment.service, shipment.is_tracked) == ("parcel", True)


def test_without_the_wish_the_cheapest_wins() -> None:
    (shipment,) = plan_of(ask([an_item()], [a_lab("a", {1: 1}, POST, PARCEL)])).shipments

    assert shipment.service == "post"


def test_another_lab_wins_if_it_has_the_only_tracked_service() -> None:
    labs = [a_lab("a", {1: 1}, POST), a_lab("b", {1: 900}, PARCEL)]

    (shipment,) = plan_of(ask([an_item()], labs, prefers_tracking=BOTH)).shipments

    assert shipment.lab == "b"


def test_where_there_is_none_it_is_sent_without() -> None:
    plan = plan_of(ask([an_item()], [a_lab("a", {1: 1}, POST)], prefers_tracking=BOTH))

    assert [shipment.is_tracked for shipment in plan.shipments] == [False]
    assert plan.meets_promise


def test_a_band_that_cannot_be_tracked_does_not_spoil_the_others() -> None:
    both = a_service("post", price={"Prints": ShipmentPrice(1, 9), "Mugs": ShipmentPrice(1, 9)})
    lab = a_lab("a", {1: 1, 2: 1}, both, PARCEL)
    items = [an_item(1), an_item(2, band="Mugs")]

    plan = plan_of(ask(items, [lab], prefers_tracking=BOTH))

    assert {shipment.band: shipment.is_tracked for shipment in plan.shipments} == {
        "Prints": True,
        "Mugs": False,
    }


def test_a_tracked_service_of_another_method_is_no_substitute() -> None:
    express = a_service("express", method=EXPRESS, is_tracked=True)
    lab = a_lab("a", {1: 1}, a_service("post", method=BUDGET), express)

    (shipment,) = plan_of(ask([an_item()], [lab], method=BUDGET, prefers_tracking=BOTH)).shipments

    assert shipment.service == "post"


def test_if_only_other_methods_are_left_tracking_still_counts() -> None:
    untracked = a_service("quick", method=EXPRESS, price=1)
    tracked = a_service("express", method=EXPRESS, price=900, is_tracked=True)

    (shipment,) = plan_of(
        ask([an_item()], [a_lab("a", {1: 1}, untracked, tracked)], prefers_tracking=BOTH)
    ).shipments

    assert shipment.service == "express"


def test_what_nobody_can_make_stays_unroutable() -> None:
    lab = a_lab("a", {1: "too large"}, POST, PARCEL)

    assert isinstance(ask([an_item()], [lab], prefers_tracking=BOTH), Unroutable)


def test_a_need_is_more_than_a_wish() -> None:
    lab = a_lab("a", {1: 1}, POST)

    routing = ask([an_item()], [lab], prefers_tracking=BOTH, needs_tracking=True)

    assert isinstance(routing, Unroutable)
