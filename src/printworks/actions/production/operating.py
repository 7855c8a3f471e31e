"""What an operator says in the place of a lab, whose people may use the console and no folder."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from printworks.actions.production.production import apply_lab_report, offer_again
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import WrongState
from printworks.labs.documents import LabReport
from printworks.rules.jobs import JobKind
from printworks.rules.production import LabState
from printworks.store.accounts.merchants import get_merchant
from printworks.store.labs.shipments import Shipment, get_shipment
from printworks.store.orders.orders import get_any_order_to_change
from printworks.store.queue.jobs import enqueue

# After this the lab must not find the job where new ones lie: it would be made once more.
_ENDS_AT_LAB: Final = frozenset({LabState.DISPATCHED, LabState.REJECTED, LabState.FAILED})


def speak_for_lab(
    db: Connection, report: LabReport, *, catalogue: Catalogue, now: datetime
) -> Shipment:
    """Believe an operator as if the lab had said it, and take back what lies there.

    Raise `WrongState` if it is no news. `now` is the real time; the merchant's may be ahead.
    """
    before = _lock(db, report.job)
    if not apply_lab_report(db, report, catalogue=catalogue, now=now):
        state = get_shipment(db, report.job).state
        message = f"Shipment {report.job} is {state}, so that it cannot become {report.state}."
        raise WrongState(message)
    if report.state in _ENDS_AT_LAB:
        _take_back(db, before, now=now)
    return get_shipment(db, report.job)


def offer_job_again(
    db: Connection, shipment_id: int, *, catalogue: Catalogue, now: datetime
) -> list[Shipment]:
    """Offer to labs again what failed or is held; the old job is taken back. `now` is real."""
    before = _lock(db, shipment_id)
    offered = offer_again(db, shipment_id, catalogue=catalogue, now=now)
    _take_back(db, before, now=now)
    return offered


def _lock(db: Connection, shipment_id: int) -> Shipment:
    """Return a job as it stays until this is over: a worker may be handing it over just now."""
    get_any_order_to_change(db, get_shipment(db, shipment_id).order_id)
    return get_shipment(db, shipment_id)


def _take_back(db: Connection, shipment: Shipment, *, now: datetime) -> None:
    """Promise to take a job out of the lab's hands, if it ever came there.

    A worker that is still handing it over takes it back itself.
    """
    if shipment.sent_at is None:
        return
    order = get_any_order_to_change(db, shipment.order_id)
    merchant = get_merchant(db, order.merchant_id)
    args = {"shipment": shipment.id}
    now += merchant.clock_offset
    enqueue(db, JobKind.CANCEL_AT_LAB, args, merchant=merchant, now=now)
