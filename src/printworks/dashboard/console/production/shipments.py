"""The page of a lab job: its prints, its state, and reports on behalf of the lab."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final

import msgspec
from starlette.responses import Response

from printworks.actions.production.holds import hold_order, release_order
from printworks.actions.production.lab_documents import read_manifest
from printworks.actions.production.lab_reports import (
    cancel_shipment,
    reoffer_shipment,
    report_for_lab,
)
from printworks.actions.production.release import permissions_of
from printworks.actions.work import Work
from printworks.catalogue.labs import Lab
from printworks.catalogue.services import Carrier
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.shared.dates import write_days
from printworks.dashboard.shared.labels import (
    CARRIER_CHOICES,
    Label,
    Tone,
    name_carrier,
    operator_label,
)
from printworks.dashboard.shared.order_routing import name_lab
from printworks.dashboard.shared.order_timeline import describe_timeline
from printworks.dashboard.shared.paging import choose_page
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit, refuse_unknown
from printworks.errors import BadInput
from printworks.labs.documents import LabReport
from printworks.rules.events import (
    OrderHeld,
    OrderReleased,
    ShipmentsChanged,
    ShipmentsDelivered,
)
from printworks.rules.orders import OrderStatus
from printworks.rules.people import Duty, Realm
from printworks.rules.production import SENT, LabState, is_news, is_stuck
from printworks.store.accounts.audit import AuditEntry, list_audit
from printworks.store.accounts.merchants import get_merchant
from printworks.store.accounts.shops import get_shop
from printworks.store.images.images import Image, list_images
from printworks.store.orders.history import DatedEvent, list_latest_events, read_etag
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import Shipment, get_shipment, list_shipments
from printworks.store.views.console.orders import get_any_order
from printworks.wire.links import Links

# Images on one page: an order may have a thousand.
IMAGES: Final = 24
_HAPPENINGS: Final = 200
_ENTRIES: Final = 200
_MM_PER_INCH: Final = 25.4
_HASH_SHOWN: Final = 12
# What an operator did to a job or its order, by the name of the action.
_BY_HAND: Final[Mapping[str, Label]] = {
    "offer-again": Label("Offered again"),
    "cancel-shipment": Label("Cancelled"),
    "hold-order": Label("Order held", "warn"),
    "release-order": Label("Order released"),
}
_REPORT: Final = "report-for-lab"
LONGEST_REASON: Final = 500
_TRACKING_NUMBER: Final = re.compile(r"(?=.*[0-9])[A-Za-z0-9][A-Za-z0-9 ./_-]{2,63}")
_TRACKING_URL: Final = re.compile(r"https?://[!-~]{1,500}", re.IGNORECASE)


class LabPrintView(msgspec.Struct, frozen=True, kw_only=True):
    """What a page shows of an image that is to be printed."""

    image: Image
    name: str
    proof: str
    thumbnail: str
    # Of the print file; empty until it is rendered.
    size: str
    pixels: str
    sha256: str


class LabJobLine(msgspec.Struct, frozen=True):
    """A step of the job."""

    at: datetime
    what: str
    tone: Tone = ""
    who: str = ""


@page_at("/console/shipments/{id}")
def show_shipment(visit: ConsoleVisit) -> Response:
    """Show a job, and what can be reported now."""
    shipment = get_shipment(visit.db, visit.number("id"))
    if shipment.state is None:
        # Only planned: no lab knows it by this number.
        refuse_unknown()
    order = get_any_order(visit.db, shipment.order_id)
    etag = visit.etag(read_etag(visit.db, order.merchant_id, order.id))
    catalogue = visit.services.catalogue
    images = [image for image in list_images(visit.db, order.id) if image.id in shipment.image_ids]
    page = choose_page(visit, images, IMAGES)
    lab = catalogue.find_lab(shipment.lab)
    merchant = get_merchant(visit.db, order.merchant_id)
    return visit.render(
        "console/shipment.html",
        etag=etag,
        shipment=shipment,
        order=order,
        merchant=merchant,
        lab=lab,
        service=name_service(shipment, catalogue),
        lab_name=lambda code: name_lab(code, catalogue),
        dispatch_by=find_dispatch_day(lab, images, shipment),
        prints=[view_print(image, catalogue, visit.links) for image in page.shown],
        image_count=len(images),
        first=page.first,
        pages=page.links,
        has_sheet=(
            has_sheet := lab is not None and all(image.manifest is not None for image in images)
        ),
        has_slip=has_sheet and _has_shop_slip(visit, order, lab),
        lines=_list_lines(visit, order, shipment, merchant.clock_offset),
        others=_list_others(visit, shipment),
        carriers=CARRIER_CHOICES,
        arrives=write_days(
            date.fromisoformat(shipment.earliest_arrival),
            date.fromisoformat(shipment.latest_arrival),
        ),
        may_produce=visit.may(Duty.PRODUCE),
        **_find_possible(visit, order, shipment, shipment.state),
    )


def _has_shop_slip(visit: ConsoleVisit, order: Order, lab: Lab | None) -> bool:
    can_pack = lab is not None and lab.packing_slips
    has_own = order.packing_slip_url is not None
    return (
        can_pack
        and not has_own
        and bool(get_shop(visit.db, order.merchant_id).profile.packing_slip)
    )


def _find_possible(
    visit: ConsoleVisit, order: Order, shipment: Shipment, state: LabState
) -> dict[str, Any]:
    """Return which form actions are possible now."""
    waits = order.status is OrderStatus.SUBMITTED and is_stuck(state, shipment.held_because)
    shipments = list_shipments(visit.db, order.id)
    permissions = permissions_of(order, shipments, visit.services.catalogue)
    return {
        "can_accept": is_news(state, LabState.ACCEPTED),
        "can_begin": is_news(state, LabState.IN_PRODUCTION),
        "can_dispatch": is_news(state, LabState.DISPATCHED),
        "can_deliver": is_news(state, LabState.DELIVERED),
        "can_reject": is_news(state, LabState.REJECTED) and shipment.held_because is None,
        "can_fail": is_news(state, LabState.FAILED),
        "can_offer_again": waits,
        "can_cancel": waits and any(one.state in SENT for one in shipments),
        "can_hold": permissions.hold,
        "can_release": order.held_at is not None,
    }


def name_service(shipment: Shipment, catalogue: Catalogue) -> str:
    """Return what the service is called by which a shipment travels."""
    found = (one.name for one in catalogue.services if one.code == shipment.service)
    return next(found, name_carrier(shipment.carrier))


def find_dispatch_day(lab: Lab | None, images: Sequence[Image], shipment: Shipment) -> date | None:
    """Return by when the lab must send a job; None for a lab that is gone."""
    if lab is None:
        return None
    skus = {image.sku for image in images}
    return lab.find_dispatch(skus, ordered_at=shipment.created_at).latest


def view_print(image: Image, catalogue: Catalogue, links: Links) -> LabPrintView:
    """Return what is shown of an image and its print file."""
    product = catalogue.find_product(image.sku)
    proof, thumbnail = (
        links.proofs(image.id, image.edition) if image.picture_id is not None else ("", "")
    )
    size = pixels = sha256 = ""
    if image.manifest is not None:
        manifest = read_manifest(image)
        canvas, dpi = manifest.plan.canvas, manifest.plan.dpi
        width, height = (side / dpi * _MM_PER_INCH for side in (canvas.width, canvas.height))
        size = f"{width:.0f} × {height:.0f} mm"  # noqa: RUF001  (the sign of multiplication)
        pixels = f"{canvas.width} × {canvas.height} at {dpi} dpi"  # noqa: RUF001
        sha256 = manifest.output_sha256[:_HASH_SHOWN]
    return LabPrintView(
        image=image,
        name=product.description if product else image.sku,
        proof=proof,
        thumbnail=thumbnail,
        size=size,
        pixels=pixels,
        sha256=sha256,
    )


def _list_lines(
    visit: ConsoleVisit, order: Order, shipment: Shipment, ahead: timedelta
) -> list[LabJobLine]:
    """Return the history of the job, newest first, in the merchant's time."""
    entries = list_audit(visit.db, merchant_id=order.merchant_id, limit=_ENTRIES)
    subjects = {f"shipment {shipment.id}", f"order {order.id}"}
    by_hand = [
        _describe_entry(one, ahead)
        for one in entries
        if one.subject in subjects and one.at + ahead >= shipment.created_at
        if one.action in {*_BY_HAND, _REPORT} and one.realm is Realm.OPERATOR
    ]
    happened = list_latest_events(visit.db, order.merchant_id, order.id, limit=_HAPPENINGS)
    # What an operator reported is listed once, with the name.
    known = {line.at for line in by_hand}
    theirs = [one for one in happened if _is_about(one, shipment) and one.at not in known]
    told = [
        LabJobLine(timestamp.at, timestamp.what, timestamp.tone)
        for timestamp in describe_timeline(theirs)
    ]
    lab = name_lab(shipment.lab, visit.services.catalogue)
    steps = [LabJobLine(shipment.created_at, f"Offered to {lab}")]
    if shipment.sent_at is not None:
        steps.insert(0, LabJobLine(shipment.sent_at, "Sent to the lab"))
    return sorted([*told, *by_hand, *steps], key=lambda line: line.at, reverse=True)


def _is_about(one: DatedEvent, shipment: Shipment) -> bool:
    match one.event:
        case ShipmentsDelivered(shipments=delivered):
            return shipment.id in delivered
        case ShipmentsChanged(changed=changed):
            # That it came into being is a step of its own.
            return shipment.id in changed and one.at > shipment.created_at
        case OrderHeld(shipment=held):
            return held is None or held == shipment.id
        case OrderReleased():
            return True
        case _:
            return False


def _describe_entry(entry: AuditEntry, ahead: timedelta) -> LabJobLine:
    details = dict(entry.details)
    words = _BY_HAND.get(entry.action) or operator_label(LabState(str(details.pop("state"))))
    named = ", ".join(map(str, details.get("fields") or ()))
    more = f", with {named}" if named else ""
    return LabJobLine(entry.at + ahead, f"{words.text} by hand{more}", words.tone, entry.who)


def _list_others(visit: ConsoleVisit, shipment: Shipment) -> list[Shipment]:
    """Return the other jobs of the same order, those that replace this one among them."""
    others = list_shipments(visit.db, shipment.order_id)
    return [one for one in others if one.id != shipment.id and one.state is not None]


@show_shipment.action("lab-accept", "The job was accepted.", duty=Duty.PRODUCE)
def accept(visit: ConsoleVisit) -> None:
    _report(visit, LabState.ACCEPTED)


@show_shipment.action("lab-begin", "The job is in production.", duty=Duty.PRODUCE)
def begin(visit: ConsoleVisit) -> None:
    _report(visit, LabState.IN_PRODUCTION)


@show_shipment.action(
    "lab-dispatch", "The job was dispatched and the merchant notified.", duty=Duty.PRODUCE
)
def dispatch(visit: ConsoleVisit) -> None:
    """Report that the job was dispatched, with its tracking."""
    _report(
        visit,
        LabState.DISPATCHED,
        carrier=_read_carrier(visit.sent.text("carrier")),
        tracking_number=_read_number(visit.sent.text("tracking_number")),
        tracking_url=_read_url(visit.sent.text("tracking_url")),
    )


@show_shipment.action("lab-deliver", "The job was delivered.", duty=Duty.PRODUCE)
def deliver(visit: ConsoleVisit) -> None:
    """Report for the carrier that the shipment has arrived."""
    _report(visit, LabState.DELIVERED)


@show_shipment.action(
    "lab-reject", "The job was rejected and offered to other labs.", duty=Duty.PRODUCE
)
def reject(visit: ConsoleVisit) -> None:
    """Report that the lab rejects the job; it is offered to others."""
    _report(visit, LabState.REJECTED, reason=read_reason(visit.sent.text("reason")))


@show_shipment.action(
    "lab-fail",
    "The job was marked as failed. Offer it again once the cause is known.",
    duty=Duty.PRODUCE,
)
def fail(visit: ConsoleVisit) -> None:
    _report(visit, LabState.FAILED, reason=read_reason(visit.sent.text("reason")))


@show_shipment.action("lab-offer-again", "This job replaces the old one.", duty=Duty.PRODUCE)
def offer_again(visit: ConsoleVisit) -> str | None:
    """Offer a failed or held job to labs again, and open the one that replaces it."""
    offered = reoffer_shipment(visit.system_work, visit.number("id"))
    return f"/console/shipments/{offered[0].id}" if offered else None


@show_shipment.action(
    "lab-cancel", "The job was cancelled. Refund it in an issue.", duty=Duty.PRODUCE
)
def cancel(visit: ConsoleVisit) -> None:
    """Give up a failed or held job of an order of which others were dispatched."""
    reason = read_reason(visit.sent.text("reason"))
    cancel_shipment(visit.system_work, visit.number("id"), reason)


@show_shipment.action("lab-hold", "The order is on hold.", duty=Duty.PRODUCE)
def hold(visit: ConsoleVisit) -> None:
    work, order = _take_order(visit)
    hold_order(work, order, reason=read_reason(visit.sent.text("reason")))


@show_shipment.action("lab-release", "The order was released.", duty=Duty.PRODUCE)
def release(visit: ConsoleVisit) -> None:
    release_order(*_take_order(visit))


def _take_order(visit: ConsoleVisit) -> tuple[Work, Order]:
    shipment = get_shipment(visit.db, visit.number("id"))
    return visit.system_work.lock_order(shipment.order_id)


def read_reason(text: str) -> str:
    """Return a reason in one line; refuse an empty one."""
    reason = " ".join(text.split())[:LONGEST_REASON]
    if not reason:
        raise BadInput("Enter a reason, as a sentence for others to read.", field="reason")
    return reason


def _report(visit: ConsoleVisit, state: LabState, **details: Any) -> None:
    report = LabReport(job=visit.number("id"), state=state, **details)
    report_for_lab(visit.system_work, report)


def _read_carrier(text: str) -> str | None:
    if text and text not in set(Carrier):
        raise BadInput("Choose a carrier from the list.", field="carrier")
    return text or None


def _read_number(text: str) -> str | None:
    if text and not _TRACKING_NUMBER.fullmatch(text):
        message = (
            "A tracking number has 3 to 64 letters, digits, spaces or . / _ - "
            "and at least one digit."
        )
        raise BadInput(message, field="tracking_number")
    return text or None


def _read_url(text: str) -> str | None:
    if text and not _TRACKING_URL.fullmatch(text):
        message = "The tracking address must start with https:// or http://."
        raise BadInput(message, field="tracking_url")
    return text or None
