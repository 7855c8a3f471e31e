"""What there is to see at the console: orders at labs, issues, and who did what."""

from typing import Any

from printworks.actions.production.lab_reports import apply_lab_report
from printworks.catalogue.opening import open_catalogue
from printworks.labs.documents import LabReport
from printworks.rules.production import LabState
from printworks.store.accounts.audit import AuditEntry, list_audit
from printworks.store.engine.database import Database
from printworks.store.issues.issues import Issue
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import Shipment, get_shipment, list_shipments
from printworks.store.views.console.orders import get_any_order
from tests.actions.complaints import complain, submitted
from tests.dashboard.windows import Window, merchant_of
from tests.factories import NOON, a_system_work

HOSTILE = "<script>alert('x')</script>"


def hand_in(database: Database, window: Window, **values: Any) -> tuple[Order, Shipment]:
    """Submit an order of two images; return it with its job at a lab."""
    with database.writing() as db:
        order = submitted(db, merchant_of(db, window), **values)
        return order, list_shipments(db, order.id)[0]


def complain_about(database: Database, window: Window, **values: Any) -> Issue:
    """Open an issue about a new order."""
    with database.writing() as db:
        merchant = merchant_of(db, window)
        return complain(db, merchant, submitted(db, merchant), **values)


def see_order(database: Database, order: Order) -> Order:
    """Return an order as it is now."""
    with database.reading() as db:
        return get_any_order(db, order.id)


def see_shipment(database: Database, shipment: Shipment) -> Shipment:
    """Return a job as it is now."""
    with database.reading() as db:
        return get_shipment(db, shipment.id)


def last_entry(database: Database) -> AuditEntry:
    """Return what was done last, of all that is written down."""
    with database.reading() as db:
        [entry] = list_audit(db, limit=1)
        return entry


def hear(database: Database, shipment: Shipment, state: LabState, **facts: Any) -> None:
    """Let a lab say how far it is."""
    report = LabReport(job=shipment.id, state=state, **facts)
    with database.writing() as db:
        assert apply_lab_report(a_system_work(db, now=NOON, catalogue=open_catalogue(None)), report)


def let_labs_be_seen(operator: Window) -> None:
    """Let the operator show merchants which labs print for them."""
    operator.follow(operator.do("/console/brand", "change-brand", show_labs="yes"))
