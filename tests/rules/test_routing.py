"""Who prints what: the cheapest that keeps the promise, and why nobody else."""

from typing import Any

import msgspec
import pytest

from printworks.rules.routing.calendars import Window
from printworks.rules.routing.costs import ShipmentPrice
from printworks.rules.routing.explaining import RoutingWords, explain
from printworks.rules.routing.model import (
    LabFinding,
    LabVerdict,
    Offer,
    ServiceOffer,
    Unroutable,
)
from tests.rules.labs import (
    BUDGET,
    EXPRESS,
    PROMISE,
    a_lab,
    a_service,
    an_item,
    ask,
    day,
    findings_of,
    plan_of,
)


class TestThePlan:
    def test_the_cheapest_lab_prints(self) -> None:
        plan = plan_of(ask([an_item()], [a_lab("a", {1: 90}), a_lab("b", {1: 80})]))

        assert plan.labs == {1: "b"}
        assert (plan.items_cost, plan.shipping_cost, plan.total) == (80, 200, 280)
        assert plan.meets_promise
        assert plan.is_exact

    def test_shipping_counts_as_much_as_printing(self) -> None:
        near, far = a_lab("near", {1: 90}), a_lab("far", {1: 50}, a_service(price=250))

        assert plan_of(ask([an_item()], [near, far])).labs == {1: "near"}

    def test_a_second_package_is_worth_it_only_if_it_saves_more_than_it_costs(self) -> None:
        items = [an_item(1), an_item(2)]

        together = ask(items, [a_lab("a", {1: 500, 2: 500}), a_lab("b", {1: 900, 2: 301})])
        apart = ask(items, [a_lab("a", {1: 500, 2: 500}), a_lab("b", {1: 900, 2: 299})])

        assert plan_of(together).labs == {1: "a", 2: "a"}
        assert plan_of(apart).labs == {1: "a", 2: "b"}

    def test_items_of_one_lab_and_band_travel_together_and_bands_apart(self) -> None:
        items = [an_item(1), an_item(2, band="Canvas"), an_item(3, copies=4)]
        prices = {"Prints": ShipmentPrice(200, 2, 30), "Canvas": ShipmentPrice(900)}

        plan = plan_of(ask(items, [a_lab("a", {1: 1, 2: 1, 3: 1}, a_service(price=prices))]))

        packed = [(p.band, p.items, p.copies, p.shipping_cost) for p in plan.shipments]
        assert packed == [("Prints", (1, 3), 5, 290), ("Canvas", (2,), 1, 900)]

    def test_every_copy_is_paid_for(self) -> None:
        plan = plan_of(ask([an_item(copies=7)], [a_lab("a", {1: 30})]))

        assert plan.items_cost == 210

    def test_a_package_is_sent_by_the_cheapest_service_that_is_in_time(self) -> None:
        slow, fast = a_service("slow", takes=5, price=100), a_service("fast", takes=4, price=150)
        dear = a_service("dear", takes=1, price=900)

        (shipment,) = plan_of(ask([an_item()], [a_lab("a", {1: 1}, dear, slow, fast)])).shipments

        assert shipment.service == "fast"
        assert shipment.dispatch == Window(day(0), day(1))
        assert shipment.arrival == Window(day(1), day(5))

    def test_a_package_leaves_with_its_slowest_item(self) -> None:
        slow, fast = a_service("slow", takes=4, price=100), a_service("fast", takes=1, price=150)
        lab = a_lab("a", {1: 1, 2: 1}, slow, fast)
        later = Offer(1, Window(day(3), day(4)))
        lab = msgspec.structs.replace(lab, offers={**lab.offers, 2: later})

        (shipment,) = plan_of(ask([an_item(1), an_item(2)], [lab])).shipments

        assert shipment.service == "fast"
        assert shipment.dispatch == Window(day(3), day(4))
        assert shipment.arrival == Window(day(4), day(5))

    def test_untracked_services_are_out_where_tracking_is_needed(self) -> None:
        tracked = a_service("tracked", price=999, is_tracked=True)
        lab = a_lab("a", {1: 1}, a_service("post"), tracked)

        (shipment,) = plan_of(ask([an_item()], [lab], needs_tracking=True)).shipments

        assert (shipment.service, shipment.is_tracked) == ("tracked", True)

    def test_a_faster_service_of_another_method_is_no_substitute(self) -> None:
        express = a_service("express", takes=1, price=1, method=EXPRESS)
        lab = a_lab("a", {1: 1}, express, a_service("post"))

        assert plan_of(ask([an_item()], [lab])).shipments[0].service == "post"

    def test_an_order_without_items_needs_nobody(self) -> None:
        plan = plan_of(ask([], [a_lab("a", {})]))

        assert (plan.shipments, plan.total, plan.arrives_by) == ((), 0, PROMISE)
        assert plan.meets_promise


class TestTies:
    def test_fewer_shipments_win(self) -> None:
        items = [an_item(1), an_item(2)]
        apart = [a_lab("a", {1: 100}), a_lab("b", {2: 100})]

        together = a_lab("c", {1: 150, 2: 150}, a_service(price=300))

        assert plan_of(ask(items, [*apart, together])).labs == {1: "c", 2: "c"}

    def test_then_the_labs_that_come_first_item_by_item(self) -> None:
        items = [an_item(1), an_item(2)]
        free = a_service(price=0)
        labs = [a_lab(code, {1: 5, 2: 5 if code != "a" else 9}, free) for code in "cba"]

        # With a for item 1 there would be two shipments.
        assert plan_of(ask(items, labs)).labs == {1: "b", 2: "b"}

    def test_then_the_service_that_comes_first(self) -> None:
        lab = a_lab("a", {1: 1}, a_service("y"), a_service("x"), a_service("z"))

        assert plan_of(ask([an_item()], [lab])).shipments[0].service == "x"


class TestWhenThePromiseCannotBeKept:
    def test_the_fastest_wins_and_says_that_it_is_late(self) -> None:
        slow = a_lab("slow", {1: 1}, a_service(takes=9, price=1))
        fast = a_lab("fast", {1: 999}, a_service(takes=7, price=999))

        plan = plan_of(ask([an_item()], [slow, fast]))

        assert plan.labs == {1: "fast"}
        assert not plan.meets_promise
        assert plan.arrives_by == day(8)

    def test_of_the_fastest_the_cheapest_wins(self) -> None:
        late = a_service(takes=7)
        labs = [a_lab("a", {1: 80, 2: 10}, late), a_lab("b", {1: 70}, late)]
        # Item 2 keeps everything waiting, so that item 1 may take as long.
        labs.append(a_lab("quick", {1: 75}, a_service(takes=1)))

        plan = plan_of(ask([an_item(1), an_item(2)], labs))

        assert plan.labs == {1: "a", 2: "a"}
        assert plan.total == 290

    def test_other_methods_help_out_where_the_wanted_one_does_not_exist(self) -> None:
        express = a_service("express", takes=1, method=EXPRESS, price=800)
        budget = a_service("budget", takes=4, method=BUDGET, price=100)

        plan = plan_of(ask([an_item()], [a_lab("a", {1: 1}, express, budget)]))

        # In time, but not as asked for.
        assert plan.shipments[0].service == "budget"
        assert not plan.meets_promise

    def test_other_methods_do_not_help_out_where_the_wanted_one_is_only_late(self) -> None:
        express = a_service("express", takes=1, method=EXPRESS)

        plan = plan_of(ask([an_item()], [a_lab("a", {1: 1}, express, a_service(takes=9))]))

        assert plan.shipments[0].service == "post"
        assert not plan.meets_promise


class TestRefusal:
    def test_what_nobody_can_make_is_named(self) -> None:
        labs = [a_lab("a", {1: 5, 2: "no gold frames", 3: 1}), a_lab("b", {1: 5})]

        routing = ask([an_item(1), an_item(2), an_item(3, band="Canvas")], labs)

        # Item 3 could be made, but there is no service for canvases.
        assert isinstance(routing, Unroutable)
        assert routing.items == (2, 3)
        assert findings_of(routing) == {
            ("a", 2): LabFinding.CANNOT_MAKE,
            ("a", 3): LabFinding.NO_SERVICE,
            ("b", 2): LabFinding.CANNOT_MAKE,
            ("b", 3): LabFinding.CANNOT_MAKE,
        }

    def test_a_tracked_parcel_is_never_sent_untracked(self) -> None:
        routing = ask([an_item()], [a_lab("a", {1: 1})], needs_tracking=True)

        assert isinstance(routing, Unroutable)

    def test_there_may_be_no_labs_at_all(self) -> None:
        assert ask([an_item()], []) == Unroutable(items=(1,), verdicts=())


class TestVerdicts:
    def test_every_lab_has_one_for_every_item(self) -> None:
        labs = [
            a_lab("chosen", {1: 10}),
            a_lab("cannot", {1: "no gold frames"}),
            a_lab("dear", {1: 45}),
            a_lab("late", {1: 1}, a_service(takes=8)),
            a_lab("left-out", {1: 1}),
            a_lab("nowhere", {1: 1}, a_service(method=BUDGET)),
            a_lab("paused", {1: 1}, paused="on holiday"),
            a_lab("same", {1: 10}),
            a_lab("unaware", {}),
        ]

        routing = ask([an_item()], labs, without=frozenset({"left-out"}))

        def verdict(lab: str, finding: LabFinding, **why: Any) -> LabVerdict:
            return LabVerdict(lab=lab, items=(1,), finding=finding, **why)

        assert routing.verdicts == (
            verdict("cannot", LabFinding.CANNOT_MAKE, reason="no gold frames"),
            verdict("chosen", LabFinding.CHOSEN),
            verdict("dear", LabFinding.DEARER, extra_cost=35),
            verdict("late", LabFinding.TOO_LATE, arrives_by=day(9)),
            verdict("left-out", LabFinding.LEFT_OUT),
            verdict("nowhere", LabFinding.NO_SERVICE),
            verdict("paused", LabFinding.PAUSED, reason="on holiday"),
            verdict("same", LabFinding.DEARER, extra_cost=0),
            verdict("unaware", LabFinding.CANNOT_MAKE, reason="not in its range"),
        )

    def test_items_with_the_same_verdict_are_told_together(self) -> None:
        items = [an_item(1), an_item(2), an_item(3)]
        labs = [a_lab("a", {1: 10, 2: 10, 3: 10}), a_lab("b", {1: 15, 2: "too big", 3: 15})]

        routing = ask(items, labs)

        assert [(v.lab, v.items, v.finding) for v in routing.verdicts] == [
            ("a", (1, 2, 3), LabFinding.CHOSEN),
            ("b", (1, 3), LabFinding.DEARER),
            ("b", (2,), LabFinding.CANNOT_MAKE),
        ]

    def test_dearer_is_the_cheaper_of_going_alone_and_with_the_package(self) -> None:
        items = [an_item(1), an_item(2)]
        labs = [
            a_lab("a", {1: 10, 2: 10}),
            a_lab("b", {1: 12, 2: 13}),
            a_lab("c", {1: 60, 2: "no"}),
        ]

        routing = ask(items, labs)

        extra = {(v.lab, v.items): v.extra_cost for v in routing.verdicts}
        # b takes both for 5 more; c can only take one, in a shipment of its own.
        assert extra == {("a", (1, 2)): None, ("b", (1, 2)): 5, ("c", (1,)): 250, ("c", (2,)): None}

    def test_a_lab_that_refused_is_routed_around(self) -> None:
        labs = [a_lab("a", {1: 10}), a_lab("b", {1: 20})]

        assert plan_of(ask([an_item()], labs, without={"a"})).labs == {1: "b"}


class TestExplain:
    def test_a_plan_reads_like_a_letter(self) -> None:
        labs = [
            a_lab("a", {1: 10, 2: 10}),
            a_lab("b", {1: "no gold frames", 2: 95}),
            a_lab("c", {1: 1, 2: 1}, a_service(takes=8)),
            a_lab("d", {1: 10, 2: 10}),
        ]

        said = explain(
            ask([an_item(1), an_item(2, copies=2)], labs), RoutingWords(money="{}p".format)
        )

        assert said == [
            "a prints items 1 and 2 (Prints, 3 copies), dispatches by 2026-03-03 and sends by post "
            "(Standard, untracked) for 200p, to arrive from 2026-03-03 to 2026-03-05.",
            "Together that costs 230p: 30p for printing and 200p for shipping.",
            "It meets the promise of 2026-03-07 by Standard.",
            "b cannot make item 1: no gold frames.",
            "b would cost 370p more for item 2.",
            "c is too late for items 1 and 2: they would arrive by 2026-03-11.",
            "d would cost the same for items 1 and 2, and came second.",
        ]

    def test_a_refusal_names_items_and_reasons(self) -> None:
        labs = [a_lab("a", dict.fromkeys(range(1, 9), 1), paused="on holiday"), a_lab("b", {})]

        said = explain(ask([an_item(n) for n in range(1, 9)], labs))

        assert said == [
            "No lab can make and send items 1, 2, 3, 4, 5 and 3 more.",
            "a was not considered for items 1, 2, 3, 4, 5 and 3 more: paused, on holiday.",
            "b cannot make items 1, 2, 3, 4, 5 and 3 more: not in its range.",
        ]

    @pytest.mark.parametrize(
        ("service", "sentence"),
        [
            (
                a_service(takes=9),
                "Nothing meets the promise of 2026-03-07 by Standard; this plan arrives the "
                "earliest, on 2026-03-12.",
            ),
            (
                a_service(method=BUDGET),
                "Not all of it can be sent by Standard, so the promise of 2026-03-07 by Standard "
                "is not met.",
            ),
        ],
    )
    def test_a_promise_that_is_not_met_is_said_to_be(
        self, service: ServiceOffer, sentence: str
    ) -> None:
        assert sentence in explain(ask([an_item()], [a_lab("a", {1: 1}, service)]))

    def test_a_search_that_was_cut_short_is_said_to_be(self) -> None:
        # Two of these labs are needed, but each by itself is worth only half of what it costs.
        labs = [a_lab("a", {1: 1, 2: 1}), a_lab("b", {2: 1, 3: 1}), a_lab("c", {1: 1, 3: 1})]

        said = explain(ask([an_item(1), an_item(2), an_item(3)], labs, most_steps=0))

        assert (
            "There were too many possibilities to try them all; a cheaper plan may exist." in said
        )


@pytest.mark.parametrize(
    ("copies", "price"), [(0, 100), (1, 100), (3, 100), (4, 130), (8, 130), (9, 160), (14, 190)]
)
def test_a_package_costs_more_step_by_step(copies: int, price: int) -> None:
    assert ShipmentPrice(100, 3, 30, 5).price_for(copies) == price


@pytest.mark.parametrize("wrong", [(-1, 1, 1, 1), (1, -1, 1, 1), (1, 1, -1, 1), (1, 1, 1, 0)])
def test_a_package_price_that_falls_is_refused(wrong: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="cannot be negative"):
        ShipmentPrice(*wrong)


class TestThePrintCountry:
    HERE, THERE = a_lab("here", {1: 900}, country="FR"), a_lab("there", {1: 1})

    def test_a_lab_there_prints_whatever_it_costs(self) -> None:
        routing = ask([an_item()], [self.HERE, self.THERE], print_country="FR")

        assert plan_of(routing).labs == {1: "here"}
        assert plan_of(routing).printed_elsewhere == ()
        assert findings_of(routing)["there", 1] is LabFinding.ABROAD
        assert "there was passed over for item 1: a lab in the print country is in time." in (
            explain(routing)
        )

    def test_without_one_the_cheapest_prints(self) -> None:
        assert plan_of(ask([an_item()], [self.HERE, self.THERE])).labs == {1: "there"}

    def test_of_several_labs_there_the_cheapest_prints(self) -> None:
        second = a_lab("near", {1: 800}, country="FR")

        routing = ask([an_item()], [self.HERE, second, self.THERE], print_country="FR")

        assert plan_of(routing).labs == {1: "near"}
        assert findings_of(routing)["here", 1] is LabFinding.DEARER

    @pytest.mark.parametrize(
        "changes",
        [
            {"offers": {}},
            {"services": (a_service(takes=9),)},
            {"services": (a_service(method=EXPRESS),)},
            {"paused": "on holiday"},
        ],
        ids=["not made", "too late", "not by the method", "paused"],
    )
    def test_otherwise_any_lab_prints_and_the_plan_says_so(self, changes: dict[str, Any]) -> None:
        here = msgspec.structs.replace(self.HERE, **changes)

        routing = ask([an_item()], [here, self.THERE], print_country="FR")

        assert plan_of(routing).labs == {1: "there"}
        assert plan_of(routing).printed_elsewhere == (1,)
        assert "No lab in FR can make and send item 1 in time." in explain(routing)

    def test_each_item_is_looked_at_alone(self) -> None:
        items = [an_item(1), an_item(2)]
        labs = [a_lab("here", {1: 900}, country="FR"), a_lab("there", {1: 1, 2: 1})]

        plan = plan_of(ask(items, labs, print_country="FR"))

        assert plan.labs == {1: "here", 2: "there"}
        assert plan.printed_elsewhere == (2,)

    def test_if_nobody_is_in_time_the_country_does_not_matter(self) -> None:
        late = a_service(takes=9)
        here = a_lab("here", {1: 1}, late, country="FR")
        labs = [here, a_lab("there", {1: 900}, late)]

        plan = plan_of(ask([an_item()], labs, print_country="FR"))

        assert (plan.labs, plan.printed_elsewhere) == ({1: "here"}, ())

    def test_a_lab_there_that_is_too_late_is_called_so(self) -> None:
        late = a_lab("late", {1: 1}, a_service(takes=9), country="FR")

        routing = ask([an_item()], [self.HERE, late], print_country="FR")

        assert findings_of(routing)["late", 1] is LabFinding.TOO_LATE
