"""What an operator says of a lab job: accepted, begun, dispatched, rejected, failed, held."""

import re
from collections.abc import Callable
from typing import Final

from printworks.actions.production.operating import offer_job_again, speak_for_lab
from printworks.actions.production.production import hold_order, release_order
from printworks.catalogue.services import Carrier
from printworks.dashboard.site.router import FormAction
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput
from printworks.labs.documents import LabReport
from printworks.rules.people import Duty
from printworks.rules.production import LabState
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.labs.shipments import get_shipment
from printworks.store.orders.orders import Order, get_any_order_to_change

LONGEST_REASON: Final = 500
_TRACKING_NUMBER: Final = re.compile(r"(?=.*[0-9])[A-Za-z0-9][A-Za-z0-9 ./_-]{2,63}")
_TRACKING_URL: Final = re.compile(r"https?://[!-~]{1,500}", re.IGNORECASE)


def accept(visit: ConsoleVisit) -> str:
    """Say that the lab will make it."""
    return _say(visit, "lab-accept", LabReport(job=visit.number("id"), state=LabState.ACCEPTED))


def begin(visit: ConsoleVisit) -> str:
    """Say that the lab has begun to print it."""
    return _say(visit, "lab-begin", LabReport(job=visit.number("id"), state=LabState.IN_PRODUCTION))


def dispatch(visit: ConsoleVisit) -> str:
    """Say that it is on its way, and how it can be followed."""
    report = LabReport(
        job=visit.number("id"),
        state=LabState.DISPATCHED,
        carrier=_read_carrier(visit.sent.text("carrier")),
        tracking_number=_read_number(visit.sent.text("tracking_number")),
        tracking_url=_read_url(visit.sent.text("tracking_url")),
    )
    return _say(visit, "lab-dispatch", report)


def reject(visit: ConsoleVisit) -> str:
    """Say that the lab will not make it; others are asked."""
    reason = read_reason(visit.sent.text("reason"))
    report = LabReport(job=visit.number("id"), state=LabState.REJECTED, reason=reason)
    return _say(visit, "lab-reject", report)


def fail(visit: ConsoleVisit) -> str:
    """Say that the lab could not make it."""
    reason = read_reason(visit.sent.text("reason"))
    return _say(
        visit, "lab-fail", LabReport(job=visit.number("id"), state=LabState.FAILED, reason=reason)
    )


def offer_again(visit: ConsoleVisit) -> str:
    """Offer what failed or is held to labs once more, and go to the job in its place."""
    number = visit.number("id")
    order, _ = _open(visit)
    offered = offer_job_again(
        visit.db, number, catalogue=visit.services.catalogue, now=visit.real_now
    )
    _note(visit, "lab-offer-again", order)
    return f"/console/shipments/{offered[0].id}" if offered else visit.path


def hold(visit: ConsoleVisit) -> str:
    """Keep the order of the job from being sent to labs."""
    order, merchant = _open(visit)
    hold_for(visit, order, merchant)
    _note(visit, "lab-hold", order, reason=visit.sent.text("reason"))
    return visit.path


def release(visit: ConsoleVisit) -> str:
    """Let the order of the job go on."""
    order, merchant = _open(visit)
    release_order(visit.db, merchant, order, now=visit.real_now + merchant.clock_offset)
    _note(visit, "lab-release", order)
    return visit.path


def hold_for(visit: ConsoleVisit, order: Order, merchant: Merchant) -> None:
    """Hold an order, for the reason that was given."""
    reason = read_reason(visit.sent.text("reason"))
    hold_order(
        visit.db,
        order,
        catalogue=visit.services.catalogue,
        now=visit.real_now + merchant.clock_offset,
        reason=reason,
    )


def read_reason(text: str) -> str:
    """Return a reason in one line; refuse none."""
    reason = " ".join(text.split())[:LONGEST_REASON]
    if not reason:
        raise BadInput("Give a reason: a sentence that others will read.")
    return reason


def _say(visit: ConsoleVisit, action: str, report: LabReport) -> str:
    order, _ = _open(visit)
    speak_for_lab(visit.db, report, catalogue=visit.services.catalogue, now=visit.real_now)
    _note(
        visit,
        action,
        order,
        carrier=report.carrier or "",
        tracking=report.tracking_number or "",
        reason=report.reason or "",
    )
    return visit.path


def _open(visit: ConsoleVisit) -> tuple[Order, Merchant]:
    order = get_any_order_to_change(visit.db, get_shipment(visit.db, visit.number("id")).order_id)
    return order, get_merchant(visit.db, order.merchant_id)


def _note(visit: ConsoleVisit, action: str, order: Order, **details: str) -> None:
    given = {name: value for name, value in details.items() if value}
    subject = f"shipment {visit.number('id')}"
    visit.note(action, subject, merchant_id=order.merchant_id, **given)


def _read_carrier(text: str) -> str | None:
    if text and text not in set(Carrier):
        raise BadInput("Choose a carrier from the list.")
    return text or None


def _read_number(text: str) -> str | None:
    if text and not _TRACKING_NUMBER.fullmatch(text):
        message = (
            "A tracking number has 3 to 64 letters, digits, spaces and . / _ - "
            "with a digit among them."
        )
        raise BadInput(message)
    return text or None


def _read_url(text: str) -> str | None:
    if text and not _TRACKING_URL.fullmatch(text):
        raise BadInput("The tracking address must begin with https:// or http://.")
    return text or None


def _form_action(
    name: str, take: Callable[[ConsoleVisit], str], says: str
) -> FormAction[ConsoleVisit]:
    return FormAction(name=name, take=take, says=says, duty=Duty.PRODUCE)


FORM_ACTIONS: Final[tuple[FormAction[ConsoleVisit], ...]] = (
    _form_action("lab-accept", accept, "The job is accepted."),
    _form_action("lab-begin", begin, "The job is in production."),
    _form_action("lab-dispatch", dispatch, "The job is dispatched, and the merchant is told."),
    _form_action("lab-reject", reject, "The lab does not make the job; others were asked."),
    _form_action("lab-fail", fail, "The job has failed. Offer it again when you know why."),
    _form_action("lab-offer-again", offer_again, "This job takes the place of the old one."),
    _form_action("lab-hold", hold, "The order is held."),
    _form_action("lab-release", release, "The order goes on."),
)
