"""The form actions of a lab job: reports on behalf of the lab, and holds."""

import re
from collections.abc import Callable
from typing import Any, Final

from printworks.actions.production.holds import hold_order, release_order
from printworks.actions.production.lab_reports import reoffer_shipment, report_for_lab
from printworks.actions.work import Work
from printworks.catalogue.services import Carrier
from printworks.dashboard.site.router import FormAction
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput
from printworks.labs.documents import LabReport
from printworks.rules.people import Duty
from printworks.rules.production import LabState
from printworks.store.labs.shipments import get_shipment
from printworks.store.orders.orders import Order

LONGEST_REASON: Final = 500
_TRACKING_NUMBER: Final = re.compile(r"(?=.*[0-9])[A-Za-z0-9][A-Za-z0-9 ./_-]{2,63}")
_TRACKING_URL: Final = re.compile(r"https?://[!-~]{1,500}", re.IGNORECASE)


def accept(visit: ConsoleVisit) -> str:
    """Report that the lab accepts the job."""
    return _report(visit, LabState.ACCEPTED)


def begin(visit: ConsoleVisit) -> str:
    """Report that the lab has started printing."""
    return _report(visit, LabState.IN_PRODUCTION)


def dispatch(visit: ConsoleVisit) -> str:
    """Report that the job was dispatched, with its tracking."""
    return _report(
        visit,
        LabState.DISPATCHED,
        carrier=_read_carrier(visit.sent.text("carrier")),
        tracking_number=_read_number(visit.sent.text("tracking_number")),
        tracking_url=_read_url(visit.sent.text("tracking_url")),
    )


def reject(visit: ConsoleVisit) -> str:
    """Report that the lab rejects the job; it is offered to others."""
    return _report(visit, LabState.REJECTED, reason=read_reason(visit.sent.text("reason")))


def fail(visit: ConsoleVisit) -> str:
    """Report that the job failed at the lab."""
    return _report(visit, LabState.FAILED, reason=read_reason(visit.sent.text("reason")))


def offer_again(visit: ConsoleVisit) -> str:
    """Offer a failed or held job to labs again, and open the one that replaces it."""
    offered = reoffer_shipment(visit.system_work, visit.number("id"))
    return f"/console/shipments/{offered[0].id}" if offered else visit.path


def hold(visit: ConsoleVisit) -> str:
    """Put the order of the job on hold."""
    work, order = _take_order(visit)
    hold_order(work, order, reason=read_reason(visit.sent.text("reason")))
    return visit.path


def release(visit: ConsoleVisit) -> str:
    """Release the order of the job from hold."""
    release_order(*_take_order(visit))
    return visit.path


def _take_order(visit: ConsoleVisit) -> tuple[Work, Order]:
    shipment = get_shipment(visit.db, visit.number("id"))
    return visit.system_work.lock_order(shipment.order_id)


def read_reason(text: str) -> str:
    """Return a reason in one line; refuse an empty one."""
    reason = " ".join(text.split())[:LONGEST_REASON]
    if not reason:
        raise BadInput("Enter a reason, as a sentence for others to read.")
    return reason


def _report(visit: ConsoleVisit, state: LabState, **details: Any) -> str:
    report = LabReport(job=visit.number("id"), state=state, **details)
    report_for_lab(visit.system_work, report)
    return visit.path


def _read_carrier(text: str) -> str | None:
    if text and text not in set(Carrier):
        raise BadInput("Choose a carrier from the list.")
    return text or None


def _read_number(text: str) -> str | None:
    if text and not _TRACKING_NUMBER.fullmatch(text):
        message = (
            "A tracking number has 3 to 64 letters, digits, spaces or . / _ - "
            "and at least one digit."
        )
        raise BadInput(message)
    return text or None


def _read_url(text: str) -> str | None:
    if text and not _TRACKING_URL.fullmatch(text):
        raise BadInput("The tracking address must start with https:// or http://.")
    return text or None


def _form_action(
    name: str, take: Callable[[ConsoleVisit], str], says: str
) -> FormAction[ConsoleVisit]:
    return FormAction(name, take, says, duty=Duty.PRODUCE)


FORM_ACTIONS: Final[tuple[FormAction[ConsoleVisit], ...]] = (
    _form_action("lab-accept", accept, "The job was accepted."),
    _form_action("lab-begin", begin, "The job is in production."),
    _form_action("lab-dispatch", dispatch, "The job was dispatched and the merchant notified."),
    _form_action("lab-reject", reject, "The job was rejected and offered to other labs."),
    _form_action(
        "lab-fail", fail, "The job was marked as failed. Offer it again once the cause is known."
    ),
    _form_action("lab-offer-again", offer_again, "This job replaces the old one."),
    _form_action("lab-hold", hold, "The order is on hold."),
    _form_action("lab-release", release, "The order was released."),
)
