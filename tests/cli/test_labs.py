"""`printworks lab`: an operator does by hand what a lab does."""

import msgspec
import pytest
from sqlalchemy import insert, update

from printworks.actions.production.release import record_sent
from printworks.catalogue.services import Carrier
from printworks.rules.orders import OrderStatus
from printworks.rules.production import LabState
from printworks.rules.reasons import write_reasons
from printworks.store.orders.shipments import update_shipment
from printworks.store.tables import lab_costs, shipments
from tests.cli.operators import NO_NUMBER, Operator
from tests.cli.program import run
from tests.factories import NOON, a_work_of


@pytest.mark.both_databases
def test_the_list_shows_what_labs_have_before_them(keeper: Operator) -> None:
    order, shipment = keeper.submits_an_order()

    for_people = keeper.asks("lab", "list")
    [for_programs] = keeper.reads("lab", "list", "--lab", "hill")

    assert for_people.said.splitlines()[1].split() == [
        *(str(shipment.id), str(order.id), "hill", "offered", "Prints", "2")
    ]
    assert for_programs["id"] == shipment.id
    assert for_programs["orderId"] == order.id
    assert for_programs["images"] == shipment.image_ids


def test_an_empty_list_says_so(keeper: Operator) -> None:
    keeper.submits_an_order()

    assert keeper.asks("lab", "list", "--lab", "dale").said == "dale has nothing to make.\n"
    assert keeper.reads("lab", "list", "--lab", "dale") == []


def test_a_list_without_any_shipment_says_so(keeper: Operator) -> None:
    assert keeper.asks("lab", "list").said == "No lab has anything to make.\n"


def test_a_list_that_stops_at_its_limit_says_so(keeper: Operator) -> None:
    for _ in range(2):
        keeper.submits_an_order()

    cut, whole = (keeper.asks("lab", "list", "--limit", limit) for limit in ("1", "2"))

    assert cut.complained == "There are more than 1; --limit shows more.\n"
    assert len(cut.said.splitlines()) == 2
    assert whole.complained == ""
    assert len(whole.said.splitlines()) == 3


def test_a_lab_that_is_not_in_the_catalogue_is_a_mistake(keeper: Operator) -> None:
    ended = keeper.asks("lab", "list", "--lab", "hil")

    assert ended.code == 1
    assert ended.complained == (
        "printworks: There is no lab 'hil'; `printworks catalogue labs` lists them.\n"
    )


@pytest.mark.both_databases
def test_a_shipment_goes_all_the_way(keeper: Operator) -> None:
    order, shipment = keeper.submits_an_order()
    number = str(shipment.id)
    tracking = ("--carrier", "dhl", "--tracking", "JD01", "--url", "https://track.example/JD01")

    said = [
        keeper.asks("lab", "accept", number).said,
        keeper.asks("lab", "produce", number).said,
        keeper.asks("lab", "dispatch", number, *tracking).said,
    ]

    assert said == [
        f"Shipment {number} is accepted.\n",
        f"Shipment {number} is in-production.\n",
        f"Shipment {number} is dispatched.\n",
    ]
    [sent] = keeper.shipments(order)
    assert (sent.carrier, sent.tracking_number) == (Carrier.DHL, "JD01")
    assert sent.tracking_url == "https://track.example/JD01"
    assert keeper.order(order).status is OrderStatus.COMPLETE


def test_a_carrier_as_planned_need_not_be_named(keeper: Operator) -> None:
    order, shipment = keeper.submits_an_order()

    ended = keeper.asks("lab", "dispatch", str(shipment.id))

    assert ended.code == 0
    assert keeper.shipments(order)[0].carrier is Carrier.ROYAL_MAIL


@pytest.mark.parametrize(
    "words", [["accept"], ["produce"], ["reject", "--reason", "x"], ["fail", "--reason", "x"]]
)
def test_what_comes_too_late_is_no_news(keeper: Operator, words: list[str]) -> None:
    order, shipment = keeper.submits_an_order()
    keeper.asks("lab", "dispatch", str(shipment.id))

    ended = keeper.asks("lab", *words, str(shipment.id))

    assert ended.code == 1
    assert ended.said == f"Shipment {shipment.id} is dispatched: nothing was changed.\n"
    assert keeper.shipments(order)[0].state is LabState.DISPATCHED


def test_a_shipment_that_is_only_planned_is_no_business_of_a_lab(keeper: Operator) -> None:
    order = keeper.adds_an_order()
    keeper.asks("order", "explain", str(order.id))
    [planned] = keeper.shipments(order)

    ended = keeper.asks("lab", "accept", str(planned.id))

    assert ended.code == 1
    assert ended.said == f"Shipment {planned.id} is only planned: nothing was changed.\n"


@pytest.mark.both_databases
def test_what_one_lab_rejects_goes_to_the_next(keeper: Operator) -> None:
    order, shipment = keeper.submits_an_order()

    ended = keeper.asks("lab", "reject", str(shipment.id), "--reason", "Out of paper.")

    [new] = keeper.shipments(order)
    assert ended.said == f"Shipment {shipment.id} is rejected, and replaced by {new.id} (dale).\n"
    assert (new.lab, new.state) == ("dale", LabState.OFFERED)


def test_what_all_labs_reject_is_held_and_can_be_printed_again(keeper: Operator) -> None:
    order, shipment = keeper.submits_an_order()
    keeper.asks("lab", "reject", str(shipment.id), "--reason", "Out of paper.")
    [second] = keeper.shipments(order)

    held = keeper.asks("lab", "reject", str(second.id), "--reason", "Out of ink.")
    again = keeper.asks("lab", "print-again", str(second.id))

    reason = "The lab rejected it (Out of ink.), and no other can make it."
    assert held.code == 0
    assert held.said == f"Shipment {second.id} is offered. It is held: {reason}\n"
    [third] = keeper.shipments(order)
    assert again.said == f"Shipment {second.id} is replaced by {third.id} (hill).\n"
    assert write_reasons(keeper.order(order).reasons) is None


@pytest.mark.both_databases
def test_what_a_lab_could_not_make_can_be_printed_again(keeper: Operator) -> None:
    order, shipment = keeper.submits_an_order()
    number = str(shipment.id)

    failed = keeper.asks("lab", "fail", number, "--reason", "The press caught fire.")
    shown = write_reasons(keeper.order(order).reasons)
    [offered] = keeper.reads("lab", "print-again", number)

    assert failed.said == f"Shipment {number} is failed.\n"
    assert shown == f"A lab could not make shipment {number}; we are looking into it."
    assert (offered["lab"], offered["state"]) == ("hill", "offered")
    assert [one.id for one in keeper.shipments(order)] == [offered["id"]]


@pytest.mark.parametrize(
    ("words", "is_taken_back"),
    [
        (["accept"], False),
        (["dispatch"], True),
        (["reject", "--reason", "Out of paper."], True),
    ],
)
def test_what_is_over_is_taken_out_of_the_labs_hands(
    keeper: Operator, words: list[str], *, is_taken_back: bool
) -> None:
    _, shipment = keeper.submits_an_order()
    with keeper.database.writing() as db:
        record_sent(a_work_of(db, shipment, now=NOON), shipment)

    keeper.asks("lab", *words, str(shipment.id))

    promised = keeper.reads("jobs", "list", "--kind", "cancel-at-lab")
    assert len(promised) == is_taken_back


def test_what_is_printed_again_is_taken_out_of_the_labs_hands(keeper: Operator) -> None:
    order, shipment = keeper.submits_an_order()
    keeper.asks("lab", "reject", str(shipment.id), "--reason", "Out of paper.")
    [second] = keeper.shipments(order)
    keeper.asks("lab", "fail", str(second.id), "--reason", "Out of paper.")
    with keeper.database.writing() as db:
        update_shipment(db, keeper.shipments(order)[0], {"sent_at": NOON})

    keeper.asks("lab", "print-again", str(second.id))

    [promised] = keeper.reads("jobs", "list", "--kind", "cancel-at-lab")
    assert promised["state"] in {"scheduled", "due"}


def test_only_what_failed_or_is_held_is_printed_again(keeper: Operator) -> None:
    _, shipment = keeper.submits_an_order()

    ended = keeper.asks("lab", "print-again", str(shipment.id))

    assert ended.code == 1
    assert ended.complained == f"printworks: Shipment {shipment.id} is offered, and not held.\n"


def test_what_nobody_can_make_is_given_up_beside_what_has_left(keeper: Operator) -> None:
    order, shipment = keeper.submits_an_order()
    number = str(shipment.id)
    words = ("lab", "cancel", number, "--reason", "Nobody makes it.")
    keeper.asks("lab", "fail", number, "--reason", "The press caught fire.")

    refused = keeper.asks(*words)
    with keeper.database.writing() as db:
        sent = {**msgspec.structs.asdict(shipment), "id": 987_654, "state": LabState.DISPATCHED}
        db.execute(insert(shipments).values(sent))
    cancelled = keeper.asks(*words)

    assert refused.complained == (
        "printworks: No other shipment of this order has been dispatched: cancel the order.\n"
    )
    assert cancelled.said == (
        f"Shipment {number} is cancelled. Nothing was refunded: open an issue for that.\n"
    )
    assert keeper.order(order).status is OrderStatus.COMPLETE


@pytest.mark.parametrize("number", ["42", NO_NUMBER])
@pytest.mark.parametrize("command", ["accept", "print-again"])
@pytest.mark.parametrize("backend", ["sqlite"])
@pytest.mark.both_databases
def test_a_shipment_that_is_not_there_is_one_sentence(
    keeper: Operator, command: str, number: str
) -> None:
    ended = keeper.asks("lab", command, number)

    assert (ended.code, ended.said) == (1, "")
    assert ended.complained == f"printworks: There is no shipment {number}.\n"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["accept"], "Missing argument 'SHIPMENT'"),
        (["produce", "one"], "Invalid value for 'SHIPMENT'"),
        (["reject", "1"], "Missing option '--reason'"),
        (["fail", "1"], "Missing option '--reason'"),
        (["dispatch", "1", "--carrier", "pigeon"], "'pigeon' is not one of"),
        (["list", "--limit", "0"], "Invalid value for '--limit'"),
    ],
)
def test_a_wrong_word_is_explained(words: list[str], complaint: str) -> None:
    ended = run("lab", *words)

    assert ended.code == 2
    assert complaint in ended.complained


@pytest.mark.both_databases
def test_labs_are_owed_what_they_sent_until_they_are_paid(keeper: Operator) -> None:
    _, shipment = keeper.submits_an_order()
    nothing = keeper.asks("lab", "owed")
    keeper.asks("lab", "dispatch", str(shipment.id))
    costs = ("--items", "300", "--shipping", "150", "--reason", "invoice 7")

    corrected = keeper.asks("lab", "correct", str(shipment.id), *costs)
    for_people, [for_programs] = keeper.asks("lab", "owed"), keeper.reads("lab", "owed")
    early = keeper.asks("lab", "pay", "hill", "GBP", "--until", "2020-01-01")

    assert nothing.said == "No lab is owed anything.\n"
    assert corrected.said == (f"Shipment {shipment.id} cost 4.50 GBP; the difference is booked.\n")
    assert for_people.said.splitlines()[1].split()[:7] == [
        *("hill", "3.00", "GBP", "1.50", "GBP", "4.50", "GBP")
    ]
    assert for_programs["total"] == 450
    assert early.code == 1
    assert early.complained == "printworks: hill is owed nothing in GBP up to that day.\n"


def test_a_lab_is_paid_for_days_that_are_over(keeper: Operator) -> None:
    _, shipment = keeper.submits_an_order()
    keeper.asks("lab", "dispatch", str(shipment.id))
    with keeper.database.writing() as db:
        db.execute(update(lab_costs).values(day="2020-01-01"))

    ended = keeper.asks("lab", "pay", "hill", "gbp", "--until", "2020-01-01", "--memo", "transfer")

    assert ended.said.startswith("hill is paid ")
    assert ended.said.endswith(" GBP, for everything up to 2020-01-01.\n")
    assert keeper.reads("lab", "owed") == []
