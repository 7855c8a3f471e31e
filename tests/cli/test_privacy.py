"""`printworks privacy`: a person is found, exported and erased, and receipts say so."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from printworks.actions.orders.orders import cancel_order
from printworks.store.orders.orders import Order
from tests.cli.operators import Operator
from tests.factories import a_work_of

ASKED = ("--asked-by", "the recipient, by letter")


def ended_order(keeper: Operator, **values: Any) -> Order:
    order = keeper.adds_an_order(email="mary@fox.example", **values)
    with keeper.database.writing() as db:
        return cancel_order(a_work_of(db, order), order)


@pytest.mark.both_databases
def test_a_person_is_found_erased_and_receipted(keeper: Operator) -> None:
    first, second = ended_order(keeper), ended_order(keeper)

    found = keeper.reads("privacy", "find", "--email", "Mary@fox.example")
    assert [order["id"] for order in found] == [second.id, first.id]
    named = keeper.asks("privacy", "find", "--name", "mary fox", "--postcode", "yo11aa").said
    assert "Mary Fox" in named
    results = keeper.reads("privacy", "erase", "--email", "mary@fox.example", *ASKED, "--yes")

    assert [result["outcome"] for result in results] == ["erasing", "erasing"]
    assert keeper.order(first).recipient_name is None
    listed = keeper.reads("privacy", "receipts", "--order", str(first.id))
    [receipt] = [one["id"] for one in listed]
    said = keeper.asks("privacy", "receipts", str(receipt)).said
    assert "askedBy     the recipient, by letter\n" in said
    assert "Fields with the name, the address" in said
    assert "Kept:\n  Ledger entries" in said
    assert keeper.asks("privacy", "find", "--email", "mary@fox.example").said == (
        "No order of this person was found.\n"
    )
    assert "the recipient, by letter" in keeper.asks("privacy", "receipts").said


def test_one_that_is_refused_does_not_stop_the_others(keeper: Operator) -> None:
    ended = ended_order(keeper)
    begun, _ = keeper.submits_an_order()

    ended_command = keeper.asks(
        "privacy", "erase", str(begun.id), str(ended.id), "99", *ASKED, "--yes"
    )

    assert ended_command.code == 1
    assert "The order is Submitted" in ended_command.said
    assert "There is no order 99." in ended_command.said
    assert keeper.order(ended).recipient_name is None
    assert keeper.order(begun).recipient_name == "Mary Fox"
    waits = keeper.reads("privacy", "erase", str(begun.id), *ASKED, "--when-ended", "--yes")
    assert [result["outcome"] for result in waits] == ["waiting"]


def test_it_asks_before_it_erases(keeper: Operator) -> None:
    order = ended_order(keeper)

    ended = keeper.asks("privacy", "erase", str(order.id), *ASKED)

    assert ended.code == 1
    assert keeper.order(order).recipient_name == "Mary Fox"


@pytest.mark.both_databases
def test_a_person_is_exported(keeper: Operator, tmp_path: Path) -> None:
    order = ended_order(keeper)
    target = tmp_path / "person.zip"

    told = keeper.reads("privacy", "export", str(target), str(order.id))

    assert told["orders"] == [order.id]
    assert target.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(target) as archive:
        [known] = json.loads(archive.read("person.json"))["orders"]
    assert known["recipient"]["recipient_name"] == "Mary Fox"
    again = keeper.asks("privacy", "export", str(target), str(order.id))
    assert (again.code, "exists already" in again.complained) == (1, True)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("find",), "Give an email address, or a name and a postcode."),
        (("find", "--name", "Mary"), "Give an email address, or a name and a postcode."),
        (("find", "--email", "a@b", "--merchant", "nobody"), "nobody"),
        (("erase", *ASKED), "Give the numbers of orders"),
        (("erase", "1", "--email", "a@b", *ASKED), "Give the numbers of orders"),
        (("erase", "--email", "a@b", *ASKED), "No order of this person was found."),
        (("erase", "1", *ASKED, "--json"), "Add --yes"),
        (("receipts", "99"), "There is no receipt 99."),
    ],
)
def test_what_cannot_be_meant_is_refused(
    keeper: Operator, words: tuple[str, ...], reason: str
) -> None:
    ended = keeper.asks("privacy", *words)

    assert ended.code != 0
    assert reason in ended.complained
