"""`printworks lab`: what labs have before them, and doing by hand what a lab does."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from printworks.catalogue.services import Carrier
from printworks.cli.options import (
    Data,
    Json,
    load_settings,
    make_console,
    open_database,
    print_json,
)
from printworks.labs.documents import LabReport
from printworks.rules.production import LabState

if TYPE_CHECKING:
    from printworks.settings import Settings
    from printworks.store.labs.shipments import Shipment

app = typer.Typer(
    help="Labs: what they have before them, and what became of it.", no_args_is_help=True
)

Number = Annotated[int, typer.Argument(metavar="SHIPMENT", help="The number of the shipment.")]
Reason = Annotated[str, typer.Option(help="Why, in a sentence for the operator.")]


@app.command("list")
def list_open(
    context: typer.Context,
    *,
    lab: Annotated[str | None, typer.Option(help="Only this lab's.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many at most.")] = 50,
    data: Data = None,
    json: Json = False,
) -> None:
    """List what labs still have to make, the oldest first."""
    from rich.table import Table

    from printworks.store.labs.shipments import list_open_shipments

    settings = load_settings(context, data)
    with open_database(settings) as database, database.reading() as db:
        found = list_open_shipments(db, lab=lab, limit=limit)
    if lab is not None and not found:
        _check_lab(lab, settings)
    nobody = "No lab has anything before it." if lab is None else f"{lab} has nothing before it."
    if json:
        print_json([_describe(shipment) for shipment in found])
        return
    table = Table("shipment", "order", "lab", "state", "band", "copies", "held", box=None)
    for shipment in found:
        table.add_row(
            str(shipment.id),
            str(shipment.order_id),
            shipment.lab,
            str(shipment.state),
            shipment.band,
            str(shipment.copies),
            shipment.held_because or "",
        )
    make_console().print(table if found else nobody)


def _check_lab(code: str, settings: "Settings") -> None:
    from printworks.catalogue.opening import open_catalogue
    from printworks.errors import NotFound

    if open_catalogue(settings.catalogue).find_lab(code) is None:
        raise NotFound(f"There is no lab '{code}'; `printworks catalogue labs` lists them.")


@app.command()
def accept(context: typer.Context, shipment: Number, *, data: Data = None) -> None:
    """Say that the lab will make a shipment."""
    _hear(context, data, LabReport(job=shipment, state=LabState.ACCEPTED))


@app.command()
def produce(context: typer.Context, shipment: Number, *, data: Data = None) -> None:
    """Say that the lab has begun to print a shipment."""
    _hear(context, data, LabReport(job=shipment, state=LabState.IN_PRODUCTION))


@app.command()
def dispatch(
    context: typer.Context,
    shipment: Number,
    *,
    carrier: Annotated[
        Carrier | None,
        typer.Option(case_sensitive=False, help="Who carries it, if not as planned."),
    ] = None,
    tracking: Annotated[str | None, typer.Option(help="The tracking number.")] = None,
    url: Annotated[str | None, typer.Option(help="Where it can be tracked.")] = None,
    data: Data = None,
) -> None:
    """Say that a shipment is on its way."""
    report = LabReport(
        job=shipment,
        state=LabState.DISPATCHED,
        carrier=carrier,
        tracking_number=tracking,
        tracking_url=url,
    )
    _hear(context, data, report)


@app.command()
def reject(context: typer.Context, shipment: Number, *, reason: Reason, data: Data = None) -> None:
    """Say that the lab will not make a shipment; others are asked."""
    _hear(context, data, LabReport(job=shipment, state=LabState.REJECTED, reason=reason))


@app.command()
def fail(context: typer.Context, shipment: Number, *, reason: Reason, data: Data = None) -> None:
    """Say that the lab could not make a shipment, and will not."""
    _hear(context, data, LabReport(job=shipment, state=LabState.FAILED, reason=reason))


def _hear(context: typer.Context, data: Data, report: LabReport) -> None:
    """Believe the operator as if the lab itself had said it; exit with 1 if it is no news."""
    from printworks.actions.production.operating import speak_for_lab
    from printworks.catalogue.opening import open_catalogue
    from printworks.clock import system_clock
    from printworks.errors import WrongState
    from printworks.store.labs.shipments import get_shipment, list_shipments

    settings = load_settings(context, data)
    catalogue = open_catalogue(settings.catalogue)
    with open_database(settings) as database:
        is_news = True
        try:
            with database.writing() as db:
                speak_for_lab(db, report, catalogue=catalogue, now=system_clock())
        except WrongState:
            is_news = False
        with database.reading() as db:
            shipment = get_shipment(db, report.job)
            others = list_shipments(db, shipment.order_id)
    is_now = f"Shipment {shipment.id} is {shipment.state or 'only planned'}"
    if not is_news:
        make_console().print(f"{is_now}: that is no news.")
        raise typer.Exit(1)
    if shipment.state is LabState.REJECTED:
        theirs = [one for one in others if _replaces(one, shipment)]
        make_console().print(f"{is_now}, and replaced by {_name(theirs)}.")
    elif shipment.held_because:
        make_console().print(f"{is_now}. It is held: {shipment.held_because}")
    else:
        make_console().print(f"{is_now}.")


@app.command("print-again")
def print_again(
    context: typer.Context, shipment: Number, *, data: Data = None, json: Json = False
) -> None:
    """Offer a shipment that failed or is held to labs again, the same one included."""
    from printworks.actions.production.operating import offer_job_again
    from printworks.catalogue.opening import open_catalogue
    from printworks.clock import system_clock

    settings = load_settings(context, data)
    catalogue = open_catalogue(settings.catalogue)
    with open_database(settings) as database, database.writing() as db:
        offered = offer_job_again(db, shipment, catalogue=catalogue, now=system_clock())
    if json:
        print_json([_describe(one) for one in offered])
        return
    make_console().print(f"Shipment {shipment} is replaced by {_name(offered)}.")


def _replaces(new: "Shipment", old: "Shipment") -> bool:
    return new.id > old.id and not set(old.image_ids).isdisjoint(new.image_ids)


def _name(shipments: Sequence["Shipment"]) -> str:
    return " and ".join(f"{one.id} ({one.lab})" for one in shipments)


def _describe(shipment: "Shipment") -> dict[str, Any]:
    return {
        "id": shipment.id,
        "orderId": shipment.order_id,
        "lab": shipment.lab,
        "state": shipment.state,
        "band": shipment.band,
        "service": shipment.service,
        "images": shipment.image_ids,
        "copies": shipment.copies,
        "sentAt": shipment.sent_at,
        "heldBecause": shipment.held_because,
        "createdAt": shipment.created_at,
        "updatedAt": shipment.updated_at,
    }
