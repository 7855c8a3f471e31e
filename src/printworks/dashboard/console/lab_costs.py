"""What labs are owed for what they sent, and what they were paid."""

from datetime import date
from typing import Final

from starlette.responses import Response

from printworks.actions.payments.lab_costs import correct_cost, pay_lab
from printworks.catalogue.products import Currency
from printworks.dashboard.shared.dates import write_stored_day
from printworks.dashboard.shared.money import read_money
from printworks.dashboard.shared.order_routing import name_lab
from printworks.dashboard.site.forms import at_field, find_choice
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput
from printworks.rules.people import Duty
from printworks.store.engine.rows import cut_page
from printworks.store.money.lab_costs import list_costs, list_debts, list_lab_payments

_ROWS: Final = 20


@page_at("/console/lab-costs")
def show_lab_costs(visit: ConsoleVisit) -> Response:
    """Show what labs are owed, and the latest payments."""
    paid = list_lab_payments(visit.db, before=visit.cursor(), limit=_ROWS + 1)
    shown, after = cut_page(paid, _ROWS, lambda payment: payment.id)
    debts = list_debts(visit.db)
    catalogue = visit.services.catalogue
    return visit.render(
        "console/lab_costs.html",
        debts=debts,
        debt_choices=[
            (f"{debt.lab}/{debt.currency}", f"{name_lab(debt.lab, catalogue)}, {debt.currency}")
            for debt in debts
        ],
        payments=shown,
        lab_name=lambda code: name_lab(code, catalogue),
        write_day=write_stored_day,
        may_pay=visit.may(Duty.ADMINISTER),
        pages=visit.pages(after),
    )


@show_lab_costs.action("pay-lab", "The payment was recorded.", duty=Duty.ADMINISTER)
def pay(visit: ConsoleVisit) -> None:
    """Record that a lab was paid up to a day."""
    lab, _, code = visit.sent.text("debt").rpartition("/")
    currency = find_choice(Currency, code)
    if not lab or currency is None:
        raise BadInput("Choose what is paid.", field="debt")
    try:
        until = date.fromisoformat(visit.sent.text("until"))
    except ValueError:
        raise BadInput("Choose the last day that is paid for.", field="until") from None
    pay_lab(visit.system_work, lab, currency, until, memo=visit.sent.text("memo"))


@show_lab_costs.action("correct-lab-cost", "The cost was corrected.", duty=Duty.ADMINISTER)
def correct(visit: ConsoleVisit) -> None:
    """Correct what a shipment cost to what its lab charged."""
    shipment_id = visit.sent.number("shipment") or 0
    booked = list_costs(visit.db, shipment_id)
    if not booked:
        raise BadInput("Enter the number of a job that was sent.", field="shipment")
    amounts = []
    for name in ("items_cost", "shipping_cost"):
        with at_field(name):
            amounts.append(read_money(visit.sent.text(name), booked[0].currency, least=0))
    correct_cost(
        visit.system_work,
        shipment_id,
        items_cost=amounts[0],
        shipping_cost=amounts[1],
        reason=visit.sent.text("reason"),
    )
