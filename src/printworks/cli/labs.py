"""`printworks lab`: what labs have before them, and doing by hand what a lab does."""

from typing import TYPE_CHECKING, Annotated

import typer

from printworks.cli.options import (
    Data,
    Json,
    load_settings,
    make_console,
    open_database,
    print_json,
)

if TYPE_CHECKING:
    from printworks.labs.documents import Report

app = typer.Typer(
    help="Labs: what they have before them, and what became of it.", no_args_is_help=True
)

Shipment = Annotated[int, typer.Argument(help="The number of the shipment.")]
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

    from printworks.store.shipments import list_open_shipments

    with open_database(load_settings(context, data)) as database, database.reading() as db:
        found = list_open_shipments(db, lab=lab, limit=limit)
    if json:
        print_json(found)
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
    make_console().print(table if found else "No lab has anything before it.")


@app.command()
def accept(context: typer.Context, shipment: Shipment, *, data: Data = None) -> None:
    """Say that the lab will make a shipment."""
    from printworks.labs.documents import Report
    from printworks.rules.production import LabState

    _hear(context, Report(job=shipment, state=LabState.ACCEPTED), data)


@app.command()
def produce(context: typer.Context, shipment: Shipment, *, data: Data = None) -> None:
    """Say that the lab has begun to print a shipment."""
    from printworks.labs.documents import Report
    from printworks.rules.production import LabState

    _hear(context, Report(job=shipment, state=LabState.IN_PRODUCTION), data)


@app.command()
def dispatch(
    context: typer.Context,
    shipment: Shipment,
    *,
    carrier: Annotated[str | None, typer.Option(help="Who carries it, if not as planned.")] = None,
    tracking: Annotated[str | None, typer.Option(help="The tracking number.")] = None,
    url: Annotated[str | None, typer.Option(help="Where it can be tracked.")] = None,
    data: Data = None,
) -> None:
    """Say that a shipment is on its way."""
    from printworks.labs.documents import Report
    from printworks.rules.production import LabState

    report = Report(
        job=shipment,
        state=LabState.DISPATCHED,
        carrier=carrier,
        tracking_number=tracking,
        tracking_url=url,
    )
    _hear(context, report, data)


@app.command()
def reject(
    context: typer.Context, shipment: Shipment, *, reason: Reason, data: Data = None
) -> None:
    """Say that the lab will not make a shipment; others are asked."""
    from printworks.labs.documents import Report
    from printworks.rules.production import LabState

    _hear(context, Report(job=shipment, state=LabState.REJECTED, reason=reason), data)


@app.command()
def fail(context: typer.Context, shipment: Shipment, *, reason: Reason, data: Data = None) -> None:
    """Say that the lab could not make a shipment, and will not."""
    from printworks.labs.documents import Report
    from printworks.rules.production import LabState

    _hear(context, Report(job=shipment, state=LabState.FAILED, reason=reason), data)


def _hear(context: typer.Context, report: "Report", data: Data) -> None:
    from printworks.actions.production import hear_from_lab
    from printworks.catalogue.opening import open_catalogue
    from printworks.clock import system_clock
    from printworks.store.shipments import get_shipment

    settings = load_settings(context, data)
    catalogue = open_catalogue(settings.catalogue)
    with open_database(settings) as database:
        with database.writing() as db:
            is_news = hear_from_lab(db, report, catalogue=catalogue, now=system_clock())
        with database.reading() as db:
            now = get_shipment(db, report.job)
    if not is_news:
        make_console().print(f"Shipment {report.job} is {now.state}: that is no news.")
        raise typer.Exit(1)
    held = f" It is held: {now.held_because}" if now.held_because else ""
    make_console().print(f"Shipment {report.job} is {now.state}.{held}")


@app.command("print-again")
def print_again(context: typer.Context, shipment: Shipment, *, data: Data = None) -> None:
    """Offer a shipment that failed or is held to labs again, the same one included."""
    from printworks.actions.production import offer_again
    from printworks.catalogue.opening import open_catalogue
    from printworks.clock import system_clock

    settings = load_settings(context, data)
    catalogue = open_catalogue(settings.catalogue)
    with open_database(settings) as database, database.writing() as db:
        offered = offer_again(db, shipment, catalogue=catalogue, now=system_clock())
    numbers = ", ".join(f"{one.id} ({one.lab})" for one in offered)
    make_console().print(f"Shipment {shipment} is replaced by {numbers}.")
