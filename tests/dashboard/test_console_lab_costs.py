"""What labs are owed, in the console."""

from typing import Any

import pytest
from sqlalchemy import update

from printworks.rules.people import Role
from printworks.rules.production import LabState
from printworks.store.engine.database import Database
from printworks.store.money.lab_costs import list_costs, list_debts
from printworks.store.orders.shipments import Shipment
from printworks.store.tables import lab_costs
from tests.api.client import Server
from tests.dashboard.scenes import hand_in, hear
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, open_console

PAGE = "/console/lab-costs"


def send(database: Database, alice: Window) -> Shipment:
    """Let a lab send a job."""
    _, shipment = hand_in(database, alice)
    hear(database, shipment, LabState.DISPATCHED)
    with database.writing() as db:
        # A day before that of the console.
        db.execute(update(lab_costs).values(day="2026-11-14"))
    return shipment


@pytest.mark.both_databases
def test_a_lab_is_owed_something_and_paid(
    operator: Window, alice: Window, database: Database
) -> None:
    nothing = operator.words(PAGE)
    shipment = send(database, alice)
    owed = operator.words(PAGE)

    answer = operator.do(
        PAGE, "pay-lab", debt=f"{shipment.lab}/GBP", until="2026-11-14", memo="<b>transfer</b>"
    )
    paid = operator.words(PAGE)

    assert "No lab is owed anything" in nothing
    assert "Sat, 14 Nov 2026" in owed
    assert answer.status == 303, words_of(answer)
    assert "No lab is owed anything" in paid
    assert "<b>transfer</b>" in paid


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"debt": "nothing"}, "Choose what is paid"),
        ({"until": "soon"}, "Choose the last day"),
        ({"until": "2999-01-01"}, "Choose a day that is over"),
        ({"until": "2020-01-01"}, "is owed nothing"),
    ],
)
def test_a_payment_that_cannot_be_is_refused(
    operator: Window, alice: Window, database: Database, fields: dict[str, Any], said: str
) -> None:
    shipment = send(database, alice)
    given = {"debt": f"{shipment.lab}/GBP", "until": "2026-11-14", **fields}

    assert said in words_of(operator.do(PAGE, "pay-lab", **given))

    with database.reading() as db:
        assert len(list_debts(db)) == 1


@pytest.mark.both_databases
def test_a_cost_is_corrected(operator: Window, alice: Window, database: Database) -> None:
    shipment = send(database, alice)

    operator.do(
        PAGE,
        "correct-lab-cost",
        shipment=shipment.id,
        items_cost="12.50",
        shipping_cost="0",
        reason="invoice 7",
    )

    with database.reading() as db:
        costs = list_costs(db, shipment.id)
    assert sum(cost.items_cost for cost in costs) == 1250
    assert sum(cost.shipping_cost for cost in costs) == 0
    assert "£12.50" in operator.words(PAGE)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"shipment": "x"}, "Enter the number of a job"),
        ({"items_cost": "much"}, "Enter an amount"),
        ({"shipping_cost": ""}, "Enter an amount"),
        ({"reason": ""}, "Write why"),
    ],
)
def test_a_correction_that_cannot_be_is_refused(
    operator: Window, alice: Window, database: Database, fields: dict[str, Any], said: str
) -> None:
    shipment = send(database, alice)
    given = {"items_cost": "1", "shipping_cost": "1", "reason": "invoice 7"}

    answer = operator.do(PAGE, "correct-lab-cost", **{"shipment": shipment.id, **given, **fields})

    assert said in words_of(answer)


def test_who_only_looks_pays_nobody(server: Server, database: Database, alice: Window) -> None:
    send(database, alice)
    viewer = open_console(server, database, Role.VIEWER)

    assert "Record payment" not in viewer.words(PAGE)
    assert viewer.do(PAGE, "pay-lab").status == 403
