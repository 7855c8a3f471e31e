"""`printworks lab`: what labs have to make, and reporting on behalf of a lab."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import msgspec
import typer

from printworks.actions.production.lab_reports import (
    cancel_shipment,
    reoffer_shipment,
    report_for_lab,
)
from printworks.actions.production.strays import find_strays
from printworks.catalogue.services import Carrier
from printworks.cli import lab_costs
from printworks.cli.options import Limit
from printworks.cli.output import Columns, pick
from printworks.cli.session import CommandSession, command
from printworks.errors import NotFound, WrongState
from printworks.labs import open_connector
from printworks.labs.connector import LabConnector
from printworks.labs.documents import LabReport
from printworks.rules.production import LabState
from printworks.store.orders.shipments import (
    Shipment,
    get_shipment,
    list_open_shipments,
    list_shipments,
)

app = typer.Typer(no_args_is_help=True)

ShipmentId = Annotated[int, typer.Argument(metavar="SHIPMENT", help="The number of the shipment.")]
Reason = Annotated[str, typer.Option(help="Why, in a sentence for the operator.")]


@command(app, "list")
def list_open(
    session: CommandSession,
    *,
    lab: Annotated[str | None, typer.Option(help="Only this lab's.")] = None,
    limit: Limit = 50,
) -> None:
    """List what labs still have to make, the oldest first."""
    with session.reading() as db:
        found = list_open_shipments(db, lab=lab, limit=limit + 1)
    if lab and not found and session.services.catalogue.find_lab(lab) is None:
        raise NotFound(f"There is no lab '{lab}'; `printworks catalogue labs` lists them.")
    columns: Columns = {
        "shipment": "id",
        "order": "orderId",
        **{name: name for name in ("lab", "state", "band", "copies")},
        "held": "heldBecause",
    }
    none = "No lab has anything to make." if lab is None else f"{lab} has nothing to make."
    session.show_list([_describe(one) for one in found], columns, none, limit=limit)


@command(app, "strays")
def strays(session: CommandSession) -> None:
    """List jobs that labs have and this installation does not know, as after a restore."""
    with session.reading() as db:
        found = [msgspec.to_builtins(stray) for stray in find_strays(db, list_connectors(session))]
    columns: Columns = {"lab": "lab", "job": "name", "where": "where"}
    session.show_list(found, columns, "Labs have no jobs that are not known here.")


def list_connectors(session: CommandSession) -> Iterator[tuple[str, LabConnector]]:
    """Open the connector of every lab."""
    for lab in session.services.catalogue.labs:
        yield lab.code, open_connector(lab, session.settings)


@command(app, "accept")
def accept(session: CommandSession, shipment: ShipmentId) -> None:
    """Report that the lab will make a shipment."""
    _report(session, LabReport(job=shipment, state=LabState.ACCEPTED))


@command(app, "produce")
def produce(session: CommandSession, shipment: ShipmentId) -> None:
    """Report that the lab has begun to print a shipment."""
    _report(session, LabReport(job=shipment, state=LabState.IN_PRODUCTION))


@command(app, "dispatch")
def dispatch(
    session: CommandSession,
    shipment: ShipmentId,
    *,
    carrier: Annotated[
        Carrier | None,
        typer.Option(case_sensitive=False, help="The carrier, if it is not the planned one."),
    ] = None,
    tracking: Annotated[str | None, typer.Option(help="The tracking number.")] = None,
    url: Annotated[str | None, typer.Option(help="Where it can be tracked.")] = None,
) -> None:
    """Report that a shipment is on its way."""
    report = LabReport(
        job=shipment,
        state=LabState.DISPATCHED,
        carrier=carrier,
        tracking_number=tracking,
        tracking_url=url,
    )
    _report(session, report)


@command(app, "deliver")
def deliver(session: CommandSession, shipment: ShipmentId) -> None:
    """Report that the carrier has delivered a shipment."""
    _report(session, LabReport(job=shipment, state=LabState.DELIVERED))


@command(app, "reject")
def reject(session: CommandSession, shipment: ShipmentId, *, reason: Reason) -> None:
    """Report that the lab will not make a shipment; it is offered to others."""
    _report(session, LabReport(job=shipment, state=LabState.REJECTED, reason=reason))


@command(app, "fail")
def fail(session: CommandSession, shipment: ShipmentId, *, reason: Reason) -> None:
    """Report that the lab could not make a shipment, and will not."""
    _report(session, LabReport(job=shipment, state=LabState.FAILED, reason=reason))


def _report(session: CommandSession, report: LabReport) -> None:
    """Apply a report as if the lab had sent it; exit with 1 if it changes nothing."""
    is_news = True
    try:
        with session.system_work() as system:
            report_for_lab(system, report)
    except WrongState:
        is_news = False
    with session.reading() as db:
        shipment = get_shipment(db, report.job)
        others = list_shipments(db, shipment.order_id)
    replaced_by = [one for one in others if _replaces(one, shipment)]
    facts = {"ok": is_news, **_describe(shipment), "replacedBy": [one.id for one in replaced_by]}
    session.show(facts, _write(shipment, replaced_by, is_news=is_news))
    if not is_news:
        raise typer.Exit(1)


def _write(shipment: Shipment, replaced_by: Sequence[Shipment], *, is_news: bool) -> str:
    state = f"Shipment {shipment.id} is {shipment.state or 'only planned'}"
    if not is_news:
        return f"{state}: nothing was changed."
    if shipment.state is LabState.REJECTED:
        return f"{state}, and replaced by {_name(replaced_by)}."
    return f"{state}. It is held: {shipment.held_because}" if shipment.held_because else f"{state}."


@command(app, "print-again")
def print_again(session: CommandSession, shipment: ShipmentId) -> None:
    """Offer a shipment that failed or is held to labs again, the same one included."""
    with session.system_work() as system:
        offered = reoffer_shipment(system, shipment)
    session.show(
        [_describe(one) for one in offered], f"Shipment {shipment} is replaced by {_name(offered)}."
    )


@command(app, "cancel")
def cancel(session: CommandSession, shipment: ShipmentId, *, reason: Reason) -> None:
    """Give up a shipment that failed or is held, if others of its order were dispatched."""
    with session.system_work() as system:
        cancelled = cancel_shipment(system, shipment, reason)
    said = f"Shipment {shipment} is cancelled. Nothing was refunded: open an issue for that."
    session.show(_describe(cancelled), said)


def _replaces(new: Shipment, old: Shipment) -> bool:
    is_over = old.state is LabState.REJECTED
    return is_over and new.id > old.id and not set(old.image_ids).isdisjoint(new.image_ids)


def _name(shipments: Sequence[Shipment]) -> str:
    return " and ".join(f"{one.id} ({one.lab})" for one in shipments)


def _describe(shipment: Shipment) -> dict[str, Any]:
    return {
        **pick(shipment, "id", "order_id", "lab", "state", "band", "service"),
        "images": shipment.image_ids,
        **pick(shipment, "copies", "sent_at", "held_because", "created_at", "updated_at"),
    }


app.add_typer(lab_costs.app)
