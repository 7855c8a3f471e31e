"""Reports of labs about their jobs, and of operators on behalf of labs."""

from collections.abc import Set
from typing import Final, NamedTuple

import msgspec
from sqlalchemy import Connection

from printworks.actions.mail.notices import tell_shipped
from printworks.actions.orders.moves import move_order
from printworks.actions.payments.lab_costs import book_cost
from printworks.actions.production.release import (
    enqueue_sending,
    offer_plan,
    print_name,
    record_shipments,
)
from printworks.actions.production.routing import (
    ReadyRouting,
    RoutingTerms,
    is_routed_whole,
    route_order,
    use_ready,
)
from printworks.actions.work import SystemWork, Work
from printworks.catalogue.services import Carrier
from printworks.errors import BadInput, WrongState
from printworks.labs.documents import LabReport
from printworks.rules.events import OrderHeld, ShipmentsDelivered
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.rules.production import OPEN, SENT, LabState, is_news, is_stuck, judge_report
from printworks.rules.reasons import AT_LABS, Reason, ReasonCode, add_reason, drop_reasons
from printworks.rules.routing.model import Routed, Routing
from printworks.store.accounts.merchants import get_merchant
from printworks.store.images.images import list_images
from printworks.store.orders.orders import Order, update_order
from printworks.store.orders.shipments import (
    Shipment,
    Shipments,
    count_backlog,
    get_shipment,
    list_decisions,
    list_shipments,
    update_shipment,
)
from printworks.store.views.console.orders import get_any_order

# After these the job must not stay in the lab's inbox: it would be made twice.
_ENDS_AT_LAB: Final = frozenset({*SENT, LabState.REJECTED, LabState.FAILED})


class _LockedShipment(NamedTuple):
    """A shipment whose order is locked: a worker may be sending it to its lab."""

    work: Work
    order: Order
    shipment: Shipment


class _Chosen(NamedTuple):
    """The choice of labs for a shipment, and the labs that must not be chosen."""

    routing: Routing | None
    without: Set[str]


def prepare_lab_report(system: SystemWork, report: LabReport) -> ReadyRouting | None:
    """Choose other labs for a shipment that one rejects, before the transaction that applies it.

    If the order changes in between, they are chosen again in that transaction.
    """
    if report.state is not LabState.REJECTED:
        return None
    shipment = get_shipment(system.db, report.job)
    order = get_any_order(system.db, shipment.order_id)
    work = system.for_merchant(get_merchant(system.db, order.merchant_id))
    without = _list_refusing(work.db, order, shipment)
    routing = _choose_labs(work, order, shipment, without)
    return ReadyRouting(order.version, routing, work.catalogue)


def apply_lab_report(
    system: SystemWork, report: LabReport, ready: ReadyRouting | None = None
) -> bool:
    """Apply a lab report; return False, and change nothing, if it is not news.

    Nor is one that repeats the name of another job: that job had the same number before a restore.
    """
    known = _lock_shipment(system, report.job)
    if report.name and report.name != known.shipment.job_name:
        return False
    meant = judge_report(known.shipment.state, report.state)
    return _apply(system, known, msgspec.structs.replace(report, state=meant), ready)


def _apply(
    system: SystemWork, known: _LockedShipment, report: LabReport, ready: ReadyRouting | None = None
) -> bool:
    """Apply a report about a shipment; return False, and change nothing, if it is not news."""
    work, order, shipment = known
    if report.state is LabState.DELIVERED:
        return _deliver(system, report, known)
    if shipment.state is None or not is_news(shipment.state, report.state):
        return False
    if report.state is LabState.DISPATCHED and _is_misprint(work.db, order, shipment, report):
        reason = "The lab printed another file than the one that it was sent."
        return _hold_shipment(work, order, shipment, reason)
    if report.state is LabState.REJECTED:
        return _route_again(work, order, shipment, report, ready)
    update_shipment(work.db, shipment, _reported_values(work, report))
    if order.status is OrderStatus.SUBMITTED:
        reasons = _change_reasons(order, shipment, report.state)
        order = update_order(work.db, order, {"updated_at": work.now, **reasons})
    shipments = list_shipments(work.db, order.id)
    record_shipments(work, order, shipments, [shipment.id], report.state)
    if report.state is LabState.DISPATCHED:
        book_cost(work, order, shipment)
        tell_shipped(work, order, get_shipment(work.db, shipment.id))
    _complete_if_all_sent(work, order, shipments)
    return True


def _deliver(system: SystemWork, report: LabReport, known: _LockedShipment) -> bool:
    """Note that a shipment was delivered; one that nobody saw leave its lab has left it, too.

    One that is held stays so: an operator decides what becomes of it.
    """
    has_left = False
    if known.shipment.state in OPEN and known.shipment.held_because is None:
        left = msgspec.structs.replace(report, state=LabState.DISPATCHED)
        has_left = _apply(system, known, left)
    work, order, shipment = _lock_shipment(system, report.job)
    if shipment.state is None or not is_news(shipment.state, LabState.DELIVERED):
        # It may be held by now, for a misprint.
        return has_left
    values = {"state": LabState.DELIVERED, "delivered_at": work.now, "updated_at": work.now}
    update_shipment(work.db, shipment, values)
    work.record(order.id, ShipmentsDelivered([shipment.id]))
    everything = list_shipments(work.db, order.id)
    if all(one.state is LabState.DELIVERED for one in everything):
        update_order(work.db, order, {"delivered_at": work.now, "updated_at": work.now})
    return True


def _change_reasons(order: Order, shipment: Shipment, state: LabState) -> dict[str, object]:
    """Return what a report changes in the reasons why the order does not go ahead."""
    if state is LabState.FAILED:
        failed = Reason(ReasonCode.SHIPMENT_FAILED, shipment.id)
        return {"reasons": add_reason(order.reasons, failed)}
    if state is LabState.DISPATCHED:
        return {"reasons": drop_reasons(order.reasons, AT_LABS, subject=shipment.id)}
    return {}


def _reported_values(work: Work, report: LabReport) -> dict[str, object]:
    now = work.now
    values: dict[str, object] = {"state": report.state, "reason": report.reason, "updated_at": now}
    if report.carrier is not None:
        known = {carrier.value.lower(): carrier for carrier in Carrier}
        values["carrier"] = known.get(report.carrier.lower(), Carrier.NOT_KNOWN)
    if report.state is LabState.DISPATCHED:
        values |= {
            "tracking_number": report.tracking_number,
            "tracking_url": _read_tracking_url(work, report.tracking_url),
            "shipped_at": now,
            "held_because": None,
        }
    return values


def _read_tracking_url(work: Work, url: str | None) -> str | None:
    """Return a tracking address if it is one that could be anybody's: merchants are shown it."""
    if url is None:
        return None
    try:
        work.check_address(url)
    except BadInput:
        return None
    return url


def _is_misprint(db: Connection, order: Order, shipment: Shipment, report: LabReport) -> bool:
    """Whether the lab reports the hash of a file that it was not sent."""
    if not report.printed:
        return False
    sent = {
        print_name(image.id): (image.manifest or {}).get("output_sha256")
        for image in list_images(db, order.id)
        if image.id in shipment.image_ids
    }
    return any(sent.get(name) != sha256 for name, sha256 in report.printed.items())


def _hold_shipment(work: Work, order: Order, shipment: Shipment, reason: str) -> bool:
    if shipment.held_because is not None:
        # The lab has only repeated its report.
        return False
    update_shipment(work.db, shipment, {"held_because": reason, "updated_at": work.now})
    reasons = add_reason(order.reasons, Reason(ReasonCode.SHIPMENT_HELD, shipment.id))
    update_order(work.db, order, {"reasons": reasons, "updated_at": work.now})
    work.record(order.id, OrderHeld(shipment=shipment.id, reason=reason))
    return True


def _route_again(
    work: Work, order: Order, shipment: Shipment, report: LabReport, ready: ReadyRouting | None
) -> bool:
    """Find other labs for a shipment that one rejected; hold it if there are none."""
    if shipment.held_because is not None:
        return False
    without = _list_refusing(work.db, order, shipment)
    routing = use_ready(ready, work, order, lambda: _choose_labs(work, order, shipment, without))
    try:
        _reroute(work, order, shipment, report, _Chosen(routing, without))
    except WrongState:
        why = report.reason or "without a reason"
        reason = f"The lab rejected it ({why}), and no other can make it."
        return _hold_shipment(work, order, shipment, reason)
    return True


def _list_refusing(db: Connection, order: Order, shipment: Shipment) -> set[str]:
    """Return the labs that have rejected a part of the order, with that of the shipment."""
    decisions = list_decisions(db, order.id)
    return {lab for decision in decisions for lab in decision.without} | {shipment.lab}


def _choose_labs(work: Work, order: Order, shipment: Shipment, without: Set[str]) -> Routing | None:
    """Choose labs for all images of a shipment; None if there are none."""
    images = list_images(work.db, order.id)
    theirs = [image for image in images if image.id in shipment.image_ids]
    terms = RoutingTerms.of(work, backlog=count_backlog(work.db), without=without)
    routing = route_order(order, theirs, terms)
    # All of them, or none: what is left out would never be printed.
    return routing if isinstance(routing, Routed) and is_routed_whole(routing, theirs) else None


def _reroute(
    work: Work, order: Order, shipment: Shipment, report: LabReport, chosen: _Chosen
) -> list[Shipment]:
    """Offer the images of a shipment to the chosen labs; raise `WrongState` if there are none."""
    if not isinstance(chosen.routing, Routed):
        raise WrongState("No other lab can make it.")
    values = {**_reported_values(work, report), "held_because": None}
    update_shipment(work.db, shipment, values)
    added = offer_plan(work, order, chosen.routing, without=chosen.without)
    shipments = list_shipments(work.db, order.id)
    record_shipments(work, order, shipments, [one.id for one in added])
    enqueue_sending(work, order, added, list_images(work.db, order.id))
    return added


def reoffer_shipment(system: SystemWork, shipment_id: int) -> list[Shipment]:
    """Offer what failed or is held to labs again, and withdraw the old job from its lab."""
    work, order, shipment = _lock_shipment(system, shipment_id)
    order = _drop_stuck(work, order, shipment)
    report = LabReport(job=shipment_id, state=LabState.CANCELLED, reason="Offered again.")
    routing = _choose_labs(work, order, shipment, frozenset())
    offered = _reroute(work, order, shipment, report, _Chosen(routing, frozenset()))
    _withdraw_from_lab(work, shipment)
    work.audit("offer-again", f"shipment {shipment_id}")
    return offered


def cancel_shipment(system: SystemWork, shipment_id: int, reason: str) -> Shipment:
    """Give up a shipment that failed or is held; the order goes on with those that have left.

    Nothing is refunded: what the merchant gets for it is agreed in an issue.
    """
    work, order, shipment = _lock_shipment(system, shipment_id)
    order = _drop_stuck(work, order, shipment)
    if not any(one.state in SENT for one in list_shipments(work.db, order.id)):
        raise WrongState("No other shipment of this order has been dispatched: cancel the order.")
    report = LabReport(job=shipment_id, state=LabState.CANCELLED, reason=reason)
    values = {**_reported_values(work, report), "held_because": None}
    cancelled = update_shipment(work.db, shipment, values)
    left = list_shipments(work.db, order.id)
    record_shipments(work, order, left, [shipment_id], LabState.CANCELLED)
    _withdraw_from_lab(work, shipment)
    work.audit("cancel-shipment", f"shipment {shipment_id}")
    _complete_if_all_sent(work, order, left)
    return cancelled


def _drop_stuck(work: Work, order: Order, shipment: Shipment) -> Order:
    """Take what a stuck shipment stands in the way for off its order; refuse any other."""
    if order.status is not OrderStatus.SUBMITTED:
        raise WrongState(f"The order of shipment {shipment.id} is {order.status}.")
    if not is_stuck(shipment.state, shipment.held_because):
        raise WrongState(f"Shipment {shipment.id} is {shipment.state}, and not held.")
    left = drop_reasons(order.reasons, AT_LABS, subject=shipment.id)
    return update_order(work.db, order, {"reasons": left, "updated_at": work.now})


def _complete_if_all_sent(work: Work, order: Order, shipments: Shipments) -> None:
    is_sent = all(shipment.state in SENT for shipment in shipments)
    if order.status is OrderStatus.SUBMITTED and shipments and is_sent:
        # A lab may have had it before it was held.
        move_order(work, order, OrderStatus.COMPLETE, shipments, held_at=None)


def report_for_lab(system: SystemWork, report: LabReport) -> Shipment:
    """Apply an operator's report on behalf of a lab, and withdraw the job from the lab.

    Raise `WrongState` if it is not news. A person is told what is wrong with an address; one that
    a lab sends is left out.
    """
    if report.tracking_url is not None:
        system.check_address(report.tracking_url, "tracking address")
    known = _lock_shipment(system, report.job)
    work, _, before = known
    if not _apply(system, known, report):
        state = get_shipment(work.db, report.job).state
        message = f"Shipment {report.job} is {state}, so it cannot become {report.state}."
        raise WrongState(message)
    if report.state in _ENDS_AT_LAB:
        _withdraw_from_lab(work, before)
    given = {"carrier": report.carrier, "tracking": report.tracking_number, "reason": report.reason}
    # Their names only: what they say leads to the recipient, and is at the shipment.
    fields = [name for name, value in given.items() if value]
    work.audit("report-for-lab", f"shipment {report.job}", state=report.state, fields=fields)
    return get_shipment(work.db, report.job)


def _lock_shipment(system: SystemWork, shipment_id: int) -> _LockedShipment:
    work, order = system.lock_order(get_shipment(system.db, shipment_id).order_id)
    return _LockedShipment(work, order, get_shipment(work.db, shipment_id))


def _withdraw_from_lab(work: Work, shipment: Shipment) -> None:
    """Cancel a job at its lab, if it was sent; a worker that is still sending it cancels it."""
    if shipment.sent_at is not None:
        work.enqueue(JobKind.CANCEL_AT_LAB, {"shipment": shipment.id})
