"""Production for the tests of the API: orders on their way, and what labs say of them."""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Table, select

from printworks.actions.production.lab_reports import apply_lab_report
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.snapshot import Catalogue
from printworks.labs.documents import LabReport
from printworks.rules.events import OrderEvent
from printworks.rules.production import LabState
from printworks.store.engine.database import Database
from printworks.store.orders.events import list_events
from printworks.store.tables import images, jobs, order_events, orders, plans, shipments
from tests.api.client import Client
from tests.api.images import add, create
from tests.factories import NOON, a_system_work
from tests.running import Answer

CATALOGUE: Final = open_catalogue(None)
# All that a request about an order may touch.
TOUCHED: Final = (orders, images, order_events, jobs, shipments, plans)


def set_status(client: Client, order_id: int, status: str) -> Answer:
    """Ask for another status."""
    return client.post(f"/orders/{order_id}/status", {"status": status})


def submit(client: Client, **members: Any) -> int:
    """Create an order for a print, submit it, and return its id."""
    order_id = create(client, **members)
    add(client, order_id)
    assert set_status(client, order_id, "Submitted").status == 200
    return order_id


def see(client: Client, order_id: int) -> dict[str, Any]:
    """Return an order."""
    order: dict[str, Any] = client.get(f"/orders/{order_id}").data
    return order


def see_shipments(client: Client, order_id: int) -> list[dict[str, Any]]:
    """Return the shipments of an order."""
    found: list[dict[str, Any]] = see(client, order_id)["shippingInfo"]["shipments"]
    return found


def hear(
    database: Database,
    client: Client,
    order_id: int,
    state: LabState,
    catalogue: Catalogue = CATALOGUE,
    **facts: Any,
) -> None:
    """Let the labs say that they have come so far with every shipment of an order."""
    for shipment in see_shipments(client, order_id):
        hear_of(database, int(shipment["shipmentId"]), state, catalogue, **facts)


def hear_of(
    database: Database,
    shipment_id: int,
    state: LabState,
    catalogue: Catalogue = CATALOGUE,
    **facts: Any,
) -> None:
    """Let a lab say that it has come so far with a shipment."""
    report = LabReport(job=shipment_id, state=state, **facts)
    with database.writing() as db:
        assert apply_lab_report(a_system_work(db, now=NOON, catalogue=catalogue), report)


def events_of(database: Database, order_id: int, kind: type[OrderEvent]) -> list[Any]:
    """Return what happened to an order, of one kind."""
    with database.reading() as db:
        return [event for event in list_events(db, order_id) if isinstance(event, kind)]


def all_rows(database: Database) -> Mapping[str, list[Any]]:
    """Return all that is remembered of orders, to be compared with later."""

    def rows_of(table: Table) -> list[Any]:
        return [tuple(row) for row in db.execute(select(table).order_by(table.c.id))]

    with database.reading() as db:
        return {table.name: rows_of(table) for table in TOUCHED}
