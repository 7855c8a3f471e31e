"""`printworks order`: why an order is where it is, holding it and letting it go on."""

import pytest

from printworks.rules.jobs import JobKind
from printworks.store.tables import images
from printworks.store.views.console.jobs import JobFilter, list_jobs
from tests.cli.operators import NO_NUMBER, SKU, Operator
from tests.cli.program import run


@pytest.mark.both_databases
def test_a_new_order_is_explained_before_it_is_submitted(keeper: Operator) -> None:
    order = keeper.adds_an_order(images=2)

    lines = keeper.asks("order", "explain", str(order.id)).said.splitlines()

    assert lines[:3] == [
        f"Order {order.id} is NotYetSubmitted.",
        f"Item 1 is 2 copies of {SKU}.",
        f"Item 2 is 2 copies of {SKU}.",
    ]
    assert lines[3] == "Its prices are those of the catalogue."
    assert lines[4].startswith("Its quote is valid until 20")
    assert lines[5].startswith("hill prints items 1 and 2 (Prints, 4 copies), dispatches by 20")
    assert "sends by post (Standard, untracked) for 1.99 GBP" in lines[5]
    assert (
        lines[6] == "Together that costs 2.31 GBP: 0.32 GBP for printing and 1.99 GBP for shipping."
    )
    assert lines[-2:] == [
        "dale would cost 0.16 GBP more for items 1 and 2.",
        "The price is 3.79 GBP, of which 2.99 GBP is shipping. The planned cost is 0.32 GBP for "
        "printing and 1.99 GBP for shipping, which leaves 1.48 GBP.",
    ]


@pytest.mark.both_databases
def test_an_explanation_says_who_rejected_and_where_it_is_now(keeper: Operator) -> None:
    order, shipment = keeper.submits_an_order()
    keeper.asks("lab", "reject", str(shipment.id), "--reason", "Out of paper.")
    [new] = keeper.shipments(order)
    keeper.asks("lab", "fail", str(new.id), "--reason", "The press caught fire.")

    said = keeper.asks("order", "explain", str(order.id)).said

    assert "\nAfter hill had rejected it:\n" in said
    assert "hill was left out for item 1: it rejected the order before.\n" in said
    assert said.endswith(f"Shipment {new.id}, at dale, is failed: The press caught fire.\n")


def test_an_explanation_for_programs_reckons_in_minor_units(keeper: Operator) -> None:
    order, shipment = keeper.submits_an_order()

    told = keeper.reads("order", "explain", str(order.id))

    [decision] = told["decisions"]
    assert told["status"] == "Submitted"
    assert told["currency"] == "GBP"
    assert told["items"] == [{"image": 1, "sku": SKU, "copies": 2}]
    assert (told["price"], told["shippingPrice"]) == (2 * 20 + 299, 299)
    assert (told["itemsCost"], told["shippingCost"]) == (16, 199)
    assert (told["printCountry"], decision["printedElsewhere"]) == (None, [])
    assert decision["packages"][0]["shippingCost"] == 199
    assert {one["lab"]: one["extraCost"] for one in decision["verdicts"]} == {
        "hill": None,
        "dale": 8,
    }
    assert [one["id"] for one in told["shipments"]] == [shipment.id]


def test_an_order_that_is_printed_elsewhere_is_explained(keeper: Operator) -> None:
    order = keeper.adds_an_order(print_country="FR")

    said = keeper.asks("order", "explain", str(order.id)).said
    told = keeper.reads("order", "explain", str(order.id))

    assert "No lab in FR can make and send item 1 in time.\n" in said
    assert (told["printCountry"], told["decisions"][0]["printedElsewhere"]) == ("FR", [1])


def test_an_order_without_images_has_nothing_to_explain(keeper: Operator) -> None:
    order = keeper.adds_an_order(images=0)

    for_people = keeper.asks("order", "explain", str(order.id))
    for_programs = keeper.reads("order", "explain", str(order.id))

    assert for_people.code == 0
    assert "There is nothing to route yet" in for_people.said
    assert for_programs["decisions"] == for_programs["shipments"] == []


@pytest.mark.both_databases
def test_a_held_order_is_sent_once_it_is_released(keeper: Operator) -> None:
    order, _ = keeper.submits_an_order()
    number = str(order.id)
    with keeper.database.writing() as db:
        db.execute(images.update().values(manifest={"output_sha256": "x"}))

    held = keeper.asks("order", "hold", number)
    explained = keeper.asks("order", "explain", number)
    before = _count_sendings(keeper)
    released = keeper.asks("order", "release", number)

    assert held.said == f"Order {number} is held.\n"
    assert explained.said.startswith(f"Order {number} is Submitted and held.\n")
    assert released.said == f"Order {number} was released.\n"
    assert (before, _count_sendings(keeper)) == (0, 1)
    assert keeper.order(order).held_at is None


def _count_sendings(keeper: Operator) -> int:
    with keeper.database.reading() as db:
        return len(list_jobs(db, JobFilter(kind=JobKind.SEND_TO_LAB), limit=10))


def test_an_order_in_production_cannot_be_held(keeper: Operator) -> None:
    order, shipment = keeper.submits_an_order()
    keeper.asks("lab", "produce", str(shipment.id))

    ended = keeper.asks("order", "hold", str(order.id))

    assert ended.code == 1
    assert ended.complained == ("printworks: An order that is Submitted cannot be held now.\n")


def test_only_a_held_order_is_released(keeper: Operator) -> None:
    order, _ = keeper.submits_an_order()

    ended = keeper.asks("order", "release", str(order.id))

    assert ended.code == 1
    assert ended.complained == "printworks: The order is not held.\n"


def test_a_hold_is_noted_in_the_merchants_time(keeper: Operator) -> None:
    keeper.asks("clock", "advance", keeper.merchant.code, "2d")
    order, _ = keeper.submits_an_order()

    keeper.asks("order", "hold", str(order.id))

    held_at = keeper.order(order).held_at
    assert held_at is not None
    assert held_at >= order.updated_at


@pytest.mark.parametrize("number", ["42", NO_NUMBER])
@pytest.mark.parametrize("command", ["explain", "hold", "release"])
@pytest.mark.parametrize("backend", ["sqlite"])
@pytest.mark.both_databases
def test_an_order_that_is_not_there_is_one_sentence(
    keeper: Operator, command: str, number: str
) -> None:
    ended = keeper.asks("order", command, number)

    assert (ended.code, ended.said) == (1, "")
    assert ended.complained == f"printworks: There is no order {number}.\n"


@pytest.mark.parametrize("command", ["explain", "hold", "release"])
def test_the_number_of_an_order_is_a_number(command: str) -> None:
    ended = run("order", command, "mine")

    assert ended.code == 2
    assert "Invalid value for 'ORDER'" in ended.complained


@pytest.mark.both_databases
class TestLists:
    def test_they_are_found_by_what_is_known(self, keeper: Operator) -> None:
        first = keeper.adds_an_order(merchant_order_id="A-7")
        second, _ = keeper.submits_an_order(recipient_name="Ida Bauer", postal_code="N1 9GU")
        code = keeper.merchant.code

        def ids(*words: str) -> list[int]:
            return [order["id"] for order in keeper.reads("order", "list", *words)]

        assert ids() == [second.id, first.id]
        assert ids("--search", "A-7") == [first.id]
        assert ids("--search", "bauer") == ids("--search", "n19gu") == [second.id]
        assert ids("--status", "submitted") == [second.id]
        assert ids("--problem", "stuck") == ids("--problem", "held") == []
        assert ids("--merchant", code, "--status", "NotYetSubmitted") == [first.id]
        assert ids("--merchant", code, "--search", "ida", "--since", "2026-01-01") == [second.id]
        assert ids("--merchant", code, "--until", "2020-01-01") == []
        said = keeper.asks("order", "list").said
        assert "Ida Bauer" in said
        assert "There is no such order." in keeper.asks("order", "list", "--search", "x").said

    def test_a_list_says_when_it_is_cut(self, keeper: Operator) -> None:
        for _ in range(3):
            keeper.adds_an_order()
        merchant = ("--merchant", keeper.merchant.code)

        for words in ((), ("--status", "NotYetSubmitted"), merchant):
            cut = keeper.asks("order", "list", "--limit", "2", *words)
            assert "There are more than 2" in cut.complained
            assert "There are more than" not in keeper.asks("order", "list", *words).complained
        found = keeper.asks("order", "list", "--limit", "2", "--search", "fox")
        assert "There are more" in found.complained

    def test_one_is_shown_completely(self, keeper: Operator) -> None:
        order, shipment = keeper.submits_an_order(merchant_order_id="A-7")

        said = keeper.asks("order", "show", str(order.id)).said
        told = keeper.reads("order", "show", str(order.id))

        assert "recipientName" in said
        assert "Shipments:\n" in said
        assert f"  id {shipment.id}, lab hill, state offered" in said
        assert (told["merchantOrderId"], told["merchant"]) == ("A-7", keeper.merchant.code)
        assert [one["id"] for one in told["shipments"]] == [shipment.id]
        assert "paymentToken" not in told

    def test_they_are_cancelled_and_what_is_refused_says_why(self, keeper: Operator) -> None:
        order, _ = keeper.submits_an_order()
        begun, busy = keeper.submits_an_order()
        for word in ("accept", "produce"):
            keeper.asks("lab", word, str(busy.id))

        ended = keeper.asks("order", "cancel", str(order.id), str(begun.id), NO_NUMBER[:18])

        assert ended.code == 1
        assert "Cancelled." in ended.said
        assert "at a lab that has begun with it" in ended.said
        assert keeper.order(order).status == "Cancelled"
        assert keeper.order(begun).status == "Submitted"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--since", "2026-01-01"), "need a --merchant"),
        (("--status", "Complete", "--search", "x"), "give only one of"),
        (("--problem", "held", "--merchant", "{code}"), "leave --merchant out"),
        (("--merchant", "nobody"), "nobody"),
        (("--since", "yesterday"), "is not a day"),
    ],
)
def test_a_list_that_cannot_be_meant_is_refused(
    keeper: Operator, words: tuple[str, ...], reason: str
) -> None:
    given = [word.format(code=keeper.merchant.code) for word in words]

    ended = keeper.asks("order", "list", *given)

    assert ended.code != 0
    assert reason in ended.complained
