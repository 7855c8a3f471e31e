"""`printworks lab owed`, `pay` and `correct`: what labs are owed for what they sent."""

from datetime import datetime
from typing import Annotated

import typer

from printworks.actions.payments.lab_costs import correct_cost, pay_lab
from printworks.catalogue.products import Currency
from printworks.cli.output import Columns, pick, write_money
from printworks.cli.session import CommandSession, command
from printworks.store.money.lab_costs import list_debts

app = typer.Typer()

_Cost = Annotated[int, typer.Option(min=0, max=10**12, help="In pence or cents.")]


@command(app, "owed")
def owed(session: CommandSession) -> None:
    """List what labs are owed for what they have sent, by currency."""
    with session.reading() as db:
        found = [
            {
                **pick(debt, "lab", "currency", "costs", "items_cost", "shipping_cost", "total"),
                "since": debt.since,
            }
            for debt in list_debts(db)
        ]
    columns: Columns = {
        "lab": "lab",
        "printing": lambda debt: write_money(debt["itemsCost"], debt["currency"]),
        "shipping": lambda debt: write_money(debt["shippingCost"], debt["currency"]),
        "owed": lambda debt: write_money(debt["total"], debt["currency"]),
        "since": "since",
    }
    session.show_list(found, columns, "No lab is owed anything.")


@command(app, "pay")
def pay(
    session: CommandSession,
    lab: Annotated[str, typer.Argument(help="The code of the lab.")],
    currency: Annotated[
        Currency, typer.Argument(case_sensitive=False, help="What it is paid in, such as EUR.")
    ],
    *,
    until: Annotated[
        datetime,
        typer.Option(
            formats=["%Y-%m-%d"], help="The last day that is paid for, such as 2026-10-31."
        ),
    ],
    memo: Annotated[
        str, typer.Option(help="What it is known by, such as a bank's reference.")
    ] = "",
) -> None:
    """Note that a lab was paid all that it was owed up to a day."""
    with session.system_work() as system:
        paid = pay_lab(system, lab, currency, until.date(), memo=memo)
    session.done(
        f"{lab} is paid {write_money(paid.amount, currency)}, for everything up to {paid.until}.",
        **pick(paid, "id", "lab", "currency", "until", "amount", "memo"),
    )


@command(app, "correct")
def correct(
    session: CommandSession,
    shipment: Annotated[
        int, typer.Argument(metavar="SHIPMENT", help="The number of the shipment.")
    ],
    *,
    items: _Cost,
    shipping: _Cost,
    reason: Annotated[str, typer.Option(help="Why, such as the number of the lab's invoice.")],
) -> None:
    """Correct what a shipment cost to what its lab really charged."""
    with session.system_work() as system:
        extra = correct_cost(
            system, shipment, items_cost=items, shipping_cost=shipping, reason=reason
        )
    session.done(
        f"Shipment {shipment} cost {write_money(items + shipping, extra.currency)}; "
        "the difference is booked.",
        **pick(extra, "shipment_id", "lab", "currency", "items_cost", "shipping_cost", "day"),
    )
