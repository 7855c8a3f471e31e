"""Handing shipments to labs, and hearing from them."""

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import structlog
from sqlalchemy import Connection

from printworks.actions.production import production as actions
from printworks.actions.production.lab_documents import slip_name, thumbnail_name, write_document
from printworks.catalogue.labs import Lab
from printworks.catalogue.snapshot import Catalogue
from printworks.conversion import reader_of
from printworks.errors import NotFound
from printworks.labs.connector import Connector, LabUnavailable
from printworks.labs.documents import JobDocument, LabReport, Later
from printworks.rules.jobs import JobKind, PermanentFailure, RetryLater
from printworks.rules.orders import OrderStatus
from printworks.rules.production import LabState
from printworks.settings import BadSetting
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.images.images import list_images
from printworks.store.images.packing_slips import find_packing_slip
from printworks.store.images.pictures import print_key, proof_key
from printworks.store.labs.shipments import Shipment, get_shipment, list_decisions
from printworks.store.orders.orders import get_any_order_to_change, get_order
from printworks.store.queue.jobs import Job, enqueue
from printworks.worker.loop import Context
from printworks.worker.tools import TROUBLE, Tools, infrastructure_errors

# How often labs that say nothing by themselves are looked at.
LOOK_EVERY: Final = timedelta(seconds=10)

log = structlog.get_logger()


_read_report: Final = reader_of(LabReport)


class _Parcel(NamedTuple):
    """A shipment that is ready to be handed over, and the keys of its files by name."""

    merchant: Merchant
    shipment: Shipment
    document: JobDocument
    files: dict[str, str]


async def send_to_lab(context: Context, job: Job) -> None:
    """Hand a shipment to its lab.

    Harmless twice: one that was sent is left alone, and labs take the same job once.
    """
    with infrastructure_errors():
        parcel = await context.in_thread(_prepare, context, job)
        if parcel is None:
            await context.in_thread(_settle, context, job)
            return
        laters = await context.in_cpu_pool(_place, context.outside, parcel)
        await context.in_thread(_note, context, parcel, laters)


def _prepare(context: Context, job: Job) -> _Parcel | None:
    if job.merchant_id is None:
        raise PermanentFailure("The job has no merchant.")
    with context.database.reading() as db:
        merchant = get_merchant(db, job.merchant_id)
        shipment = get_shipment(db, job.args["shipment"])
        order = get_order(db, merchant.id, shipment.order_id)
        is_wanted = actions.is_to_be_sent(shipment) and order.held_at is None
        if not is_wanted or order.status is not OrderStatus.SUBMITTED:
            return None
        if context.outside.catalogue.find_lab(shipment.lab) is None:
            return None
        images = list_images(db, order.id)
        slip = find_packing_slip(db, order.id)
        decisions = list_decisions(db, order.id)
    document = write_document(
        merchant,
        order,
        shipment,
        images,
        slip,
        context.outside.catalogue,
        environment=context.settings.environment,
        rejections=max((len(decision.without) for decision in decisions), default=0),
    )
    files = {item.print.name: print_key(item.image) for item in document.items}
    files |= {
        thumbnail_name(item.image): proof_key(item.image, "thumbnail") for item in document.items
    }
    if document.packing_slip is not None and slip is not None and slip.file is not None:
        files[slip_name(slip)] = slip.file
    return _Parcel(merchant, shipment, document, files)


def _settle(context: Context, job: Job) -> None:
    """See to a shipment that is not to be handed over, or cannot be."""
    now = context.clock()
    with context.database.writing() as db:
        shipment = get_shipment(db, job.args["shipment"])
        is_to_be_sent = actions.is_to_be_sent(shipment)
        lab = context.outside.catalogue.find_lab(shipment.lab)
        if is_to_be_sent and lab is None:
            _offer_elsewhere(db, context.outside.catalogue, shipment, now=now)
        elif not is_to_be_sent and lab is not None and shipment.sent_at is None:
            # Whoever handed it over before may have died before saying so.
            _enqueue_cancelling(db, shipment, now=now)


def _enqueue_cancelling(db: Connection, shipment: Shipment, *, now: datetime) -> None:
    merchant = get_merchant(db, get_any_order_to_change(db, shipment.order_id).merchant_id)
    now += merchant.clock_offset
    enqueue(db, JobKind.CANCEL_AT_LAB, {"shipment": shipment.id}, merchant=merchant, now=now)


def _offer_elsewhere(
    db: Connection, catalogue: Catalogue, shipment: Shipment, *, now: datetime
) -> None:
    """Do as if a lab that is gone had rejected what it never got."""
    reason = f"The lab {shipment.lab} is no longer in the catalogue."
    report = LabReport(job=shipment.id, state=LabState.REJECTED, reason=reason)
    actions.apply_lab_report(db, report, catalogue=catalogue, now=now)


def _place(tools: Tools, parcel: _Parcel) -> Sequence[Later]:
    with ExitStack() as stack:
        files: dict[str, Path] = {
            name: stack.enter_context(tools.files.local(key)) for name, key in parcel.files.items()
        }
        try:
            return _connect(tools, parcel.shipment.lab).place(parcel.document, files)
        except LabUnavailable as error:
            raise RetryLater(str(error), wait=TROUBLE) from error


def _connect(tools: Tools, lab_code: str) -> Connector:
    try:
        return tools.connect(tools.catalogue.get_lab(lab_code))
    except NotFound as error:
        raise PermanentFailure(f"The lab {lab_code} is no longer in the catalogue.") from error
    except BadSetting as error:
        raise RetryLater(str(error), wait=TROUBLE) from error


def _note(context: Context, parcel: _Parcel, laters: Sequence[Later]) -> None:
    shipment, merchant = parcel.shipment, parcel.merchant
    now = context.clock() + merchant.clock_offset
    with context.database.writing() as db:
        if actions.note_sent(db, shipment, now=now) is None:
            # Called off while it was being handed over.
            _enqueue_cancelling(db, shipment, now=context.clock())
            return
        for number, later in enumerate(laters):
            enqueue(
                db,
                JobKind.APPLY_LAB_REPORT,
                {"report": msgspec.to_builtins(later.report)},
                merchant=merchant,
                now=now,
                wait=later.wait,
                dedupe_key=f"hear:{shipment.id}:{number}",
            )


async def apply_lab_report(context: Context, job: Job) -> None:
    """Believe what a lab says. Harmless twice: what is no news changes nothing."""
    report = _read_report(job.args["report"])
    with infrastructure_errors():
        await context.in_thread(_apply, context, report)


def _apply(context: Context, report: LabReport) -> bool:
    with context.database.writing() as db:
        return actions.apply_lab_report(
            db, report, catalogue=context.outside.catalogue, now=context.clock()
        )


async def cancel_at_lab(context: Context, job: Job) -> None:
    """Tell a lab that a shipment is called off. Harmless twice: so are labs."""
    with infrastructure_errors():
        await context.in_cpu_pool(_cancel, context, job.args["shipment"])


def _cancel(context: Context, shipment_id: int) -> None:
    with context.database.reading() as db:
        shipment = get_shipment(db, shipment_id)
    try:
        _connect(context.outside, shipment.lab).cancel(shipment_id)
    except LabUnavailable as error:
        raise RetryLater(str(error), wait=TROUBLE) from error


async def look_at_labs(context: Context, _job: Job) -> None:
    """See what labs have done, and promise the next look.

    Harmless twice: what is no news changes nothing, and one look at a time is promised.
    """
    with infrastructure_errors():
        if await context.in_cpu_pool(_look, context):
            await context.in_thread(_enqueue_look, context)


def _look(context: Context) -> bool:
    """Look at every lab that says nothing by itself; False if there is none."""
    tools = context.outside
    has_silent = False
    for lab in tools.catalogue.labs:
        # One that cannot be reached must not hide the others.
        try:
            connector = tools.connect(lab)
            has_silent |= connector.must_be_looked_at
            _look_at(context, lab, connector)
        except (LabUnavailable, BadSetting) as error:
            log.warning("lab cannot be looked at", lab=lab.code, why=str(error))
    return has_silent


def _look_at(context: Context, lab: Lab, connector: Connector) -> None:
    for report in connector.look():
        if not _is_theirs(context, lab.code, report):
            continue
        if _apply(context, report):
            log.info("lab reported", lab=lab.code, shipment=report.job, state=report.state)
        connector.taken(report)


def _is_theirs(context: Context, lab_code: str, report: LabReport) -> bool:
    """Whether a lab speaks of what was given to it; it may be quicker than our note of that."""
    try:
        with context.database.reading() as db:
            shipment = get_shipment(db, report.job)
    except NotFound:
        return False
    return shipment.lab == lab_code and shipment.sent_at is not None


def _enqueue_look(context: Context) -> None:
    now = context.clock()
    turn = int(now.timestamp() // LOOK_EVERY.total_seconds()) + 1
    with context.database.writing() as db:
        enqueue(
            db,
            JobKind.LOOK_AT_LABS,
            {},
            merchant=None,
            now=now,
            wait=LOOK_EVERY,
            dedupe_key=f"{JobKind.LOOK_AT_LABS}:{turn}",
        )
