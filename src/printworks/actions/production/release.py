"""Releasing an order to production: its labs, its charge, its print files and its lab jobs."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection

from printworks.actions.orders.moves import move_order, show_shipments
from printworks.actions.payments.charges import charge_order
from printworks.actions.production.routing import (
    ReadyRouting,
    RoutingTerms,
    is_routed_whole,
    lab_rules_of,
    make_shipments,
    route_order,
    use_ready,
)
from printworks.actions.work import Work
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import WrongState
from printworks.rules.events import PrintedElsewhere, ShipmentsChanged
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus, Permissions
from printworks.rules.production import OPEN, LabState, find_permissions, is_news
from printworks.rules.reasons import UNPAID, drop_reasons
from printworks.rules.routing.model import Routed, Routing
from printworks.store.images.images import Image, Images, awaits_files
from printworks.store.images.packing_slips import find_packing_slip
from printworks.store.orders.orders import Order, get_any_order_to_change
from printworks.store.orders.shipments import (
    Decision,
    Shipment,
    Shipments,
    count_backlog,
    drop_planned,
    get_shipment,
    list_shipments,
    offer_shipments,
    update_shipment,
)


def print_name(image_id: int) -> str:
    """Name the print file of an image as labs know it."""
    return f"{image_id}.jpg"


def permissions_of(order: Order, shipments: Shipments, catalogue: Catalogue) -> Permissions:
    """Return what the merchant may still do with an order."""
    at_labs = [
        (shipment.state, lab_rules_of(catalogue.find_lab(shipment.lab)))
        for shipment in shipments
        if shipment.state is not None
    ]
    permissions = find_permissions(order.status, at_labs, is_held=order.held_at is not None)
    if order.payment_request_id is None:
        return permissions
    # While it is being paid for, it must not change.
    return permissions._replace(hold=False, update_shipping=False, remove_images=False)


def find_routing(work: Work, order: Order, images: Images) -> Routing | None:
    """Choose the labs of an order as it would be submitted now."""
    return route_order(order, images, RoutingTerms.of(work, backlog=count_backlog(work.db)))


def release_to_production(
    work: Work, order: Order, images: Images, *, provider: str, ready: ReadyRouting | None = None
) -> Order:
    """Choose the labs of a valid order, charge the merchant and start production.

    The choice that is ready is taken if it was made for this version. Raise `WrongState`, before
    anything is written, if no lab can make it.
    """
    shipments = offer_to_labs(work, order, images, ready)
    charge_order(work, order, images, shipments, provider=provider)
    submitted = move_order(
        work,
        order,
        OrderStatus.SUBMITTED,
        shipments,
        lacks_images=any(image.status is ImageStatus.AWAITING_URL_OR_DATA for image in images),
        held_at=None,
        payment_request_id=None,
        pay_until=None,
        needs_plan=False,
        reasons=drop_reasons(order.reasons, UNPAID),
    )
    enqueue_prints(work, images)
    return submitted


def offer_to_labs(
    work: Work, order: Order, images: Images, ready: ReadyRouting | None = None
) -> list[Shipment]:
    """Choose the labs of an order and offer it to them."""
    routing = use_ready(ready, work, order, lambda: find_routing(work, order, images))
    if not isinstance(routing, Routed) or not is_routed_whole(routing, images):
        raise WrongState("No lab can make and send this order now; try again later.")
    drop_planned(work.db, order.id)
    return offer_plan(work, order, routing, without=())


def offer_plan(
    work: Work, order: Order, routing: Routed, *, without: Iterable[str]
) -> list[Shipment]:
    """Offer shipments to the labs of a plan; record what is printed elsewhere than asked for."""
    plan = routing.plan
    if plan.printed_elsewhere:
        labs = {plan.labs[image] for image in plan.printed_elsewhere}
        elsewhere = PrintedElsewhere(
            wanted=plan.print_country or "",
            images=list(plan.printed_elsewhere),
            countries=sorted({work.catalogue.get_lab(lab).country for lab in labs}),
        )
        work.record(order.id, elsewhere)
    offered = make_shipments(plan.shipments, work.catalogue, LabState.OFFERED)
    decision = Decision(routing, list(without), work.now)
    return offer_shipments(work.db, order.id, offered, decision)


def enqueue_prints(work: Work, images: Sequence[Image]) -> None:
    """Enqueue the print files of the images that have been received."""
    ready = [image for image in images if image.status is ImageStatus.OK]
    work.enqueue_each(JobKind.RENDER_IMAGE, [{"image": image.id} for image in ready])


def enqueue_sending(work: Work, order: Order, shipments: Shipments, images: Images) -> None:
    """Enqueue the sending of the offered shipments that have all their print files."""
    if order.held_at is not None or order.status is not OrderStatus.SUBMITTED:
        return
    if order.packing_slip_url and _is_slip_awaited(work.db, order):
        return
    printed = {image.id for image in images if image.manifest is not None}
    ready = [
        shipment
        for shipment in shipments
        if is_to_be_sent(shipment) and printed.issuperset(shipment.image_ids)
    ]
    work.enqueue_each(JobKind.SEND_TO_LAB, [{"shipment": shipment.id} for shipment in ready])


def is_to_be_sent(shipment: Shipment) -> bool:
    """Whether a shipment must still be sent to its lab.

    An operator may have reported that the lab accepts it before it has the files.
    """
    return shipment.sent_at is None and _is_wanted(shipment)


def _is_wanted(shipment: Shipment) -> bool:
    return shipment.state in OPEN and shipment.held_because is None


def _is_slip_awaited(db: Connection, order: Order) -> bool:
    """Whether the packing slip is still being downloaded; its result is checked here again."""
    slip = find_packing_slip(db, order.id)
    return slip is not None and slip.status is ImageStatus.NOT_YET_DOWNLOADED


def record_sent(work: Work, shipment: Shipment) -> Shipment | None:
    """Record that a shipment was sent to its lab; None if it is no longer wanted."""
    get_any_order_to_change(work.db, shipment.order_id)
    current = get_shipment(work.db, shipment.id)
    if not _is_wanted(current):
        return None
    return update_shipment(work.db, current, {"sent_at": work.now, "updated_at": work.now})


def record_shipments(
    work: Work,
    order: Order,
    shipments: Shipments,
    changed: Sequence[int],
    state: LabState | None = None,
) -> None:
    """Record that some shipments of an order changed; the event describes all of them.

    Those that changed have this state; None if labs have just been offered them.
    """
    event = ShipmentsChanged(
        status=order.status,
        merchant_order_id=order.merchant_order_id,
        changed=list(changed),
        shipments=show_shipments(shipments),
        state=state,
        lacks_images=order.status is OrderStatus.SUBMITTED and awaits_files(work.db, order.id),
    )
    work.record(order.id, event)


def stop_labs(work: Work, order: Order) -> None:
    """Cancel what labs have not begun, and enqueue the cancellation of jobs that they may have."""
    sent = []
    for shipment in list_shipments(work.db, order.id):
        if not is_news(shipment.state or LabState.CANCELLED, LabState.CANCELLED):
            continue
        # Failed ones too: no operator has to check them any more.
        ended = {"state": LabState.CANCELLED, "held_because": None, "updated_at": work.now}
        update_shipment(work.db, shipment, ended)
        # Before it was held, a worker may have sent it and died before recording that. If it was
        # not held, the job that sends it is tried again and notices.
        may_be_sent = shipment.sent_at is not None or order.held_at is not None
        if shipment.state in OPEN and may_be_sent:
            sent.append({"shipment": shipment.id})
    work.enqueue_each(JobKind.CANCEL_AT_LAB, sent)
