"""What happens to an order once it is submitted: labs, shipments, holds, and its end."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Connection

from printworks.actions.orders.moves import move_order, show_shipments
from printworks.actions.production.routing import make_shipments, route_order, rules_of
from printworks.catalogue.services import Carrier
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import WrongState
from printworks.labs.documents import LabReport
from printworks.rules.events import OrderHeld, OrderReleased, ShipmentsChanged
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus, Permissions
from printworks.rules.production import OPEN, LabState, find_permissions, is_news
from printworks.rules.routing.plans import Routed
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.images.images import Image, Images, list_images
from printworks.store.images.packing_slips import find_packing_slip
from printworks.store.labs.shipments import (
    Shipment,
    Shipments,
    count_backlog,
    drop_planned,
    get_shipment,
    insert_shipments,
    keep_decision,
    list_decisions,
    list_shipments,
    update_shipment,
)
from printworks.store.orders.events import record_event
from printworks.store.orders.orders import Order, get_any_order_to_change, update_order
from printworks.store.queue.jobs import enqueue_each


def print_name(image_id: int) -> str:
    """Name the print file of an image as labs know it."""
    return f"{image_id}.jpg"


def permissions_of(order: Order, shipments: Shipments, catalogue: Catalogue) -> Permissions:
    """Say what the merchant may still do with an order."""
    at_labs = [
        (shipment.state, rules_of(catalogue.find_lab(shipment.lab)))
        for shipment in shipments
        if shipment.state is not None
    ]
    permissions = find_permissions(order.status, at_labs, is_held=order.held_at is not None)
    if order.payment_request_id is None:
        return permissions
    # While somebody pays for it, it stays as it is.
    return permissions._replace(hold=False, update_shipping=False, remove_images=False)


def offer_to_labs(
    db: Connection,
    merchant: Merchant,
    order: Order,
    images: Images,
    catalogue: Catalogue,
    *,
    now: datetime,
) -> list[Shipment]:
    """Choose the labs of an order for good, as things are now, and offer it to them."""
    routing = route_order(
        order,
        images,
        catalogue,
        currency=merchant.currency,
        now=now,
        backlog=count_backlog(db),
    )
    if not isinstance(routing, Routed):
        message = "No lab can make and send this order at the moment; try again later."
        raise WrongState(message)
    keep_decision(db, order.id, routing, without=(), now=now)
    drop_planned(db, order.id)
    offered = make_shipments(routing.plan.packages, catalogue, LabState.OFFERED)
    return insert_shipments(db, order.id, offered, now=now)


def enqueue_sending(
    db: Connection,
    merchant: Merchant,
    order: Order,
    shipments: Shipments,
    images: Images,
    *,
    now: datetime,
    request_id: str | None = None,
) -> None:
    """Promise to hand over what is offered and has all of its print files."""
    if order.held_at is not None or order.status is not OrderStatus.SUBMITTED:
        return
    if order.packing_slip_url and _is_slip_awaited(db, order):
        return
    printed = {image.id for image in images if image.manifest is not None}
    ready = [
        shipment
        for shipment in shipments
        if is_to_be_sent(shipment) and printed.issuperset(shipment.image_ids)
    ]
    enqueue_each(
        db,
        JobKind.SEND_TO_LAB,
        [{"shipment": shipment.id} for shipment in ready],
        merchant=merchant,
        now=now,
        request_id=request_id,
    )


def is_to_be_sent(shipment: Shipment) -> bool:
    """Whether a lab has not got a shipment yet that it is to make.

    An operator may have said that it accepts before it has the files.
    """
    return shipment.sent_at is None and _is_wanted(shipment)


def _is_wanted(shipment: Shipment) -> bool:
    return shipment.state in OPEN and shipment.held_because is None


def _is_slip_awaited(db: Connection, order: Order) -> bool:
    """Whether the packing slip is still being fetched; its verdict brings us here again."""
    slip = find_packing_slip(db, order.id)
    return slip is not None and slip.status is ImageStatus.NOT_YET_DOWNLOADED


def note_sent(db: Connection, shipment: Shipment, *, now: datetime) -> Shipment | None:
    """Remember that a lab has got a shipment; None if it is not wanted any more."""
    get_any_order_to_change(db, shipment.order_id)
    current = get_shipment(db, shipment.id)
    if not _is_wanted(current):
        return None
    # An operator may have said already that the lab has begun.
    return update_shipment(db, current, {"sent_at": now, "updated_at": now})


def apply_lab_report(
    db: Connection, report: LabReport, *, catalogue: Catalogue, now: datetime
) -> bool:
    """Believe what a lab says if it is news; False, and nothing happened, if it is not.

    `now` is the real time; the merchant's may be ahead.
    """
    order = get_any_order_to_change(db, get_shipment(db, report.job).order_id)
    merchant = get_merchant(db, order.merchant_id)
    now += merchant.clock_offset
    shipment = get_shipment(db, report.job)
    if shipment.state is None or not is_news(shipment.state, report.state):
        return False
    if report.state is LabState.DISPATCHED and _is_other_print(db, order, shipment, report):
        reason = "The lab printed another file than the one that it was sent."
        return _hold_shipment(db, order, shipment, reason, now=now)
    if report.state is LabState.REJECTED:
        return _route_again(db, merchant, order, shipment, report, catalogue, now=now)
    moved = update_shipment(
        db, shipment, {**_news(report), "updated_at": now, **_sent(report, now)}
    )
    if moved is None:
        return False
    values: dict[str, object] = {"updated_at": now}
    if report.state is LabState.FAILED:
        message = f"A lab could not make shipment {shipment.id}; we are looking into it."
        values["error_message"] = message
    elif report.state is LabState.DISPATCHED and shipment.held_because is not None:
        values["error_message"] = None
    if order.status is OrderStatus.SUBMITTED:
        order = update_order(db, order, values) or order
    shipments = list_shipments(db, order.id)
    record_shipments(db, order, shipments, [shipment.id], now=now)
    _complete_if_all_sent(db, order, shipments, now=now)
    return True


def _news(report: LabReport) -> dict[str, object]:
    values: dict[str, object] = {"state": report.state, "reason": report.reason}
    if report.carrier is not None:
        known = {carrier.value.lower(): carrier for carrier in Carrier}
        values["carrier"] = known.get(report.carrier.lower(), Carrier.NOT_KNOWN)
    return values


def _sent(report: LabReport, now: datetime) -> dict[str, object]:
    if report.state is not LabState.DISPATCHED:
        return {}
    return {
        "tracking_number": report.tracking_number,
        "tracking_url": _read_tracking_url(report.tracking_url),
        "shipped_at": now,
        "held_because": None,
    }


def _read_tracking_url(url: str | None) -> str | None:
    """Return an address that may be shown to anybody; another is left out."""
    if url is None or not url.lower().startswith(("https://", "http://")):
        return None
    return url if url.isprintable() else None


def _is_other_print(db: Connection, order: Order, shipment: Shipment, report: LabReport) -> bool:
    """Whether the lab names the hash of a file that is not the one it was sent."""
    if not report.printed:
        return False
    sent = {
        print_name(image.id): (image.manifest or {}).get("output_sha256")
        for image in list_images(db, order.id)
        if image.id in shipment.image_ids
    }
    return any(sent.get(name) != sha256 for name, sha256 in report.printed.items())


def _hold_shipment(
    db: Connection, order: Order, shipment: Shipment, reason: str, *, now: datetime
) -> bool:
    if shipment.held_because is not None:
        # Somebody looks into it already: the lab has only said so again.
        return False
    held = update_shipment(db, shipment, {"held_because": reason, "updated_at": now})
    if held is None:
        return False
    message = f"Shipment {shipment.id} is held; we are looking into it."
    update_order(db, order, {"error_message": message, "updated_at": now})
    record_event(db, order.id, OrderHeld(shipment=shipment.id, reason=reason), now=now)
    return True


def _route_again(
    db: Connection,
    merchant: Merchant,
    order: Order,
    shipment: Shipment,
    report: LabReport,
    catalogue: Catalogue,
    *,
    now: datetime,
) -> bool:
    """Find other labs for what one lab does not want; hold it if there is none."""
    if shipment.held_because is not None:
        return False
    refused = [lab for decision in list_decisions(db, order.id) for lab in decision.without]
    without = {*refused, shipment.lab}
    try:
        _replace(db, merchant, order, shipment, report, catalogue, without=without, now=now)
    except WrongState:
        why = report.reason or "without a reason"
        reason = f"The lab rejected it ({why}), and no other can make it."
        return _hold_shipment(db, order, shipment, reason, now=now)
    return True


def _replace(
    db: Connection,
    merchant: Merchant,
    order: Order,
    shipment: Shipment,
    report: LabReport,
    catalogue: Catalogue,
    *,
    without: set[str],
    now: datetime,
) -> list[Shipment]:
    """Offer what is in one shipment to other labs; raise `WrongState` if none can make it."""
    images = list_images(db, order.id)
    theirs = [image for image in images if image.id in shipment.image_ids]
    routing = route_order(
        order,
        theirs,
        catalogue,
        currency=merchant.currency,
        now=now,
        backlog=count_backlog(db),
        without=without,
    )
    if not isinstance(routing, Routed):
        raise WrongState("No other lab can make it.")
    update_shipment(db, shipment, {**_news(report), "held_because": None, "updated_at": now})
    keep_decision(db, order.id, routing, without=without, now=now)
    packages = make_shipments(routing.plan.packages, catalogue, LabState.OFFERED)
    added = insert_shipments(db, order.id, packages, now=now)
    shipments = list_shipments(db, order.id)
    record_shipments(db, order, shipments, [one.id for one in added], now=now)
    enqueue_sending(db, merchant, order, added, images, now=now)
    return added


def offer_again(
    db: Connection, shipment_id: int, *, catalogue: Catalogue, now: datetime
) -> list[Shipment]:
    """Offer to labs again what one of them failed to make, or made wrongly.

    `now` is the real time; the merchant's may be ahead.
    """
    order = get_any_order_to_change(db, get_shipment(db, shipment_id).order_id)
    merchant = get_merchant(db, order.merchant_id)
    now += merchant.clock_offset
    shipment = get_shipment(db, shipment_id)
    if order.status is not OrderStatus.SUBMITTED:
        raise WrongState(f"The order of shipment {shipment_id} is {order.status}.")
    if shipment.state is not LabState.FAILED and shipment.held_because is None:
        raise WrongState(f"Shipment {shipment_id} is {shipment.state}, and not held.")
    update_order(db, order, {"error_message": None, "updated_at": now})
    report = LabReport(job=shipment_id, state=LabState.CANCELLED, reason="Offered again.")
    return _replace(db, merchant, order, shipment, report, catalogue, without=set(), now=now)


def record_shipments(
    db: Connection, order: Order, shipments: Shipments, changed: Sequence[int], *, now: datetime
) -> None:
    event = ShipmentsChanged(
        status=order.status,
        merchant_order_id=order.merchant_order_id,
        changed=list(changed),
        shipments=show_shipments(shipments),
    )
    record_event(db, order.id, event, now=now)


def _complete_if_all_sent(
    db: Connection, order: Order, shipments: Shipments, *, now: datetime
) -> None:
    is_sent = all(shipment.state is LabState.DISPATCHED for shipment in shipments)
    if order.status is OrderStatus.SUBMITTED and shipments and is_sent:
        # A lab may have had it before it was held.
        move_order(db, order, OrderStatus.COMPLETE, shipments, now=now, held_at=None)


def stop_labs(db: Connection, merchant: Merchant, order: Order, *, now: datetime) -> None:
    """Call off what labs have not begun, and promise to tell those that know of it."""
    told = []
    for shipment in list_shipments(db, order.id):
        if not is_news(shipment.state or LabState.CANCELLED, LabState.CANCELLED):
            continue
        # What failed as well: nobody has to look into it any more.
        update_shipment(db, shipment, {"state": LabState.CANCELLED, "updated_at": now})
        if shipment.state in OPEN and shipment.sent_at is not None:
            told.append({"shipment": shipment.id})
    enqueue_each(db, JobKind.CANCEL_AT_LAB, told, merchant=merchant, now=now)


def hold_order(
    db: Connection,
    order: Order,
    *,
    catalogue: Catalogue,
    now: datetime,
    reason: str = "The merchant asked for it.",
) -> Order:
    """Keep an order from being sent to a lab, where every lab of it allows that."""
    permissions = permissions_of(order, list_shipments(db, order.id), catalogue)
    if not permissions.hold:
        raise WrongState(f"An order that is {order.status} cannot be held now.")
    held = update_order(db, order, {"held_at": now, "updated_at": now})
    if held is None:
        raise WrongState("The order has just changed. Read it again before you retry.")
    record_event(db, order.id, OrderHeld(shipment=None, reason=reason), now=now)
    return held


def release_order(db: Connection, merchant: Merchant, order: Order, *, now: datetime) -> Order:
    """Let a held order go on."""
    if order.held_at is None:
        raise WrongState("The order is not held.")
    released = update_order(db, order, {"held_at": None, "updated_at": now}) or order
    record_event(db, order.id, OrderReleased(), now=now)
    images: list[Image] = list_images(db, order.id)
    shipments = list_shipments(db, order.id)
    enqueue_sending(db, merchant, released, shipments, images, now=now)
    return released
