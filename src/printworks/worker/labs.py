"""Sends shipments to labs, and applies their reports."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import structlog

from printworks.actions.brand import read_paper_brand
from printworks.actions.production import lab_reports, release
from printworks.actions.production.lab_documents import slip_name, thumbnail_name, write_document
from printworks.actions.production.shop_slips import enclose_slip, find_shop_slip, render_slip
from printworks.actions.work import SystemWork
from printworks.catalogue.labs import Lab
from printworks.conversion import reader_of
from printworks.errors import NotFound
from printworks.labs.connector import LabConnector, LabUnavailable
from printworks.labs.documents import JobDocument, LabReport, Later
from printworks.labs.sheet import LOGO_NAME
from printworks.labs.slip import SLIP_NAME, SlipText
from printworks.rules.jobs import JobKind, PermanentFailure, RetryLater
from printworks.rules.orders import OrderStatus
from printworks.rules.production import LabState
from printworks.settings import BadSetting
from printworks.store.accounts.brand import StoredBrand, read_brand
from printworks.store.accounts.merchants import Merchant
from printworks.store.images.images import list_images
from printworks.store.images.packing_slips import find_packing_slip
from printworks.store.images.pictures import print_key, proof_key
from printworks.store.orders.orders import get_order
from printworks.store.orders.shipments import Shipment, get_shipment
from printworks.store.queue.jobs import Job, forget_job
from printworks.worker.loop import Context
from printworks.worker.resources import OUTAGE_WAIT, Resources, infrastructure_errors

# How often labs that do not report by themselves are polled.
POLL_EVERY: Final = timedelta(seconds=10)

log = structlog.get_logger()


_read_report: Final = reader_of(LabReport)


class _LabJob(NamedTuple):
    """A shipment that is ready to be sent, and the keys of its files by name."""

    merchant: Merchant
    shipment: Shipment
    document: JobDocument
    files: dict[str, str]
    # That of the shop, if the order has none of its own.
    shop_slip: SlipText | None = None
    # What the operator calls the service, for the sheet.
    brand: StoredBrand = StoredBrand()


async def send_to_lab(context: Context, job: Job) -> None:
    """Send a shipment to its lab.

    Idempotent: one that was sent is left alone, and labs accept the same job once.
    """
    with infrastructure_errors():
        lab_job = await context.in_thread(_prepare, context, job)
        if lab_job is None:
            await context.in_thread(_handle_unsendable, context, job)
            return
        laters = await context.in_lab_pool(_place, context.resources, lab_job)
        await context.in_thread(_record_sent, context, lab_job, laters)


def _prepare(context: Context, job: Job) -> _LabJob | None:
    with context.database.reading() as db:
        work = context.job_work(db, job)
        shipment = get_shipment(db, job.args["shipment"])
        order = get_order(db, work.merchant.id, shipment.order_id)
        is_wanted = release.is_to_be_sent(shipment) and order.held_at is None
        if not is_wanted or order.status is not OrderStatus.SUBMITTED:
            return None
        if work.catalogue.find_lab(shipment.lab) is None:
            return None
        images = list_images(db, order.id)
        slip = find_packing_slip(db, order.id)
        document = write_document(work, order, shipment, images, slip)
        can_pack = work.catalogue.get_lab(shipment.lab).packing_slips
        shop_slip = find_shop_slip(db, order, document, can_pack=can_pack)
        brand = read_brand(db)
    files = {item.print.name: print_key(item.image) for item in document.items}
    files |= {
        thumbnail_name(item.image): proof_key(item.image, "thumbnail") for item in document.items
    }
    if document.packing_slip is not None and slip is not None and slip.file is not None:
        files[slip_name(slip)] = slip.file
    return _LabJob(work.merchant, shipment, document, files, shop_slip, brand)


def _handle_unsendable(context: Context, job: Job) -> None:
    """Handle a shipment that must not or cannot be sent."""
    with context.database.writing() as db:
        shipment = get_shipment(db, job.args["shipment"])
        is_to_be_sent = release.is_to_be_sent(shipment)
        lab = context.resources.catalogue.find_lab(shipment.lab)
        if is_to_be_sent and lab is None:
            _offer_elsewhere(context.system_work(db, job), shipment)
        elif not is_to_be_sent and lab is not None and shipment.sent_at is None:
            # A worker may have sent it and died before recording that.
            _enqueue_cancelling(context.system_work(db, job), shipment)


def _enqueue_cancelling(system: SystemWork, shipment: Shipment) -> None:
    work, _ = system.lock_order(shipment.order_id)
    work.enqueue(JobKind.CANCEL_AT_LAB, {"shipment": shipment.id})


def _offer_elsewhere(system: SystemWork, shipment: Shipment) -> None:
    """Treat a shipment of a lab that was removed as rejected."""
    reason = f"The lab {shipment.lab} is no longer in the catalogue."
    report = LabReport(job=shipment.id, state=LabState.REJECTED, reason=reason)
    lab_reports.apply_lab_report(system, report)


def _place(resources: Resources, lab_job: _LabJob) -> Sequence[Later]:
    with ExitStack() as stack:
        files: dict[str, Path] = {
            name: stack.enter_context(resources.files.local(key))
            for name, key in lab_job.files.items()
        }
        document = lab_job.document
        if logo := read_paper_brand(lab_job.brand, resources.files).logo:
            files[LOGO_NAME] = stack.enter_context(resources.folder()) / LOGO_NAME
            files[LOGO_NAME].write_bytes(logo)
        if lab_job.shop_slip is not None:
            slip = stack.enter_context(resources.folder()) / SLIP_NAME
            slip.write_bytes(content := render_slip(resources.files, lab_job.shop_slip))
            document, files[SLIP_NAME] = enclose_slip(document, content), slip
        with _lab_outages(lab_job.shipment.lab):
            return _connect(resources, lab_job.shipment.lab).place(document, files)


@contextmanager
def _lab_outages(lab_code: str) -> Iterator[None]:
    """Turn an outage of a lab into a retry; say so, as its orders stand still until it ends."""
    try:
        yield
    except (LabUnavailable, BadSetting) as error:
        log.warning("lab cannot be reached", lab=lab_code, why=str(error))
        raise RetryLater(str(error), wait=OUTAGE_WAIT) from error


def _connect(resources: Resources, lab_code: str) -> LabConnector:
    try:
        return resources.connect(resources.catalogue.get_lab(lab_code))
    except NotFound as error:
        raise PermanentFailure(f"The lab {lab_code} is no longer in the catalogue.") from error


def _record_sent(context: Context, sent: _LabJob, laters: Sequence[Later]) -> None:
    shipment = sent.shipment
    with context.database.writing() as db:
        work = context.work(db, sent.merchant)
        if release.record_sent(work, shipment) is None:
            # Cancelled while it was being sent.
            _enqueue_cancelling(work, shipment)
            return
        for number, later in enumerate(laters):
            work.enqueue(
                JobKind.APPLY_LAB_REPORT,
                {"report": msgspec.to_builtins(later.report)},
                wait=later.wait,
                dedupe_key=f"report:{shipment.id}:{number}",
            )


async def apply_lab_report(context: Context, job: Job) -> None:
    """Apply a lab report. Idempotent: what is not news changes nothing."""
    report = _read_report(job.args["report"])
    with infrastructure_errors():
        await context.in_thread(_apply, context, report)


def _apply(context: Context, report: LabReport) -> bool:
    with context.database.reading() as db:
        ready = lab_reports.prepare_lab_report(context.system_work(db), report)
    with context.database.writing() as db:
        return lab_reports.apply_lab_report(context.system_work(db), report, ready)


async def cancel_at_lab(context: Context, job: Job) -> None:
    """Cancel a job at its lab. Idempotent, as labs are."""
    with infrastructure_errors():
        await context.in_lab_pool(_cancel, context, job.args["shipment"])


def _cancel(context: Context, shipment_id: int) -> None:
    with context.database.reading() as db:
        shipment = get_shipment(db, shipment_id)
    with _lab_outages(shipment.lab):
        _connect(context.resources, shipment.lab).cancel(shipment.job_name)


async def poll_labs(context: Context, job: Job) -> None:
    """Poll the labs for reports, and enqueue the next poll.

    Idempotent: what is not news changes nothing, and one poll at a time is enqueued.
    """
    with infrastructure_errors():
        if await context.in_lab_pool(_poll_all, context):
            await context.in_thread(_enqueue_poll, context, job)


def _poll_all(context: Context) -> bool:
    """Poll every lab that does not report by itself; return False if there is none."""
    resources = context.resources
    has_polled = False
    for lab in resources.catalogue.labs:
        # One that is unavailable must not block the others.
        try:
            connector = resources.connect(lab)
            has_polled |= connector.must_be_polled
            _poll(context, lab, connector)
        except (LabUnavailable, BadSetting) as error:
            log.warning("lab cannot be polled", lab=lab.code, why=str(error))
    return has_polled


def _poll(context: Context, lab: Lab, connector: LabConnector) -> None:
    for report in connector.poll():
        if not _was_sent_to(context, lab.code, report):
            continue
        if _apply(context, report):
            log.info("lab reported", lab=lab.code, shipment=report.job, state=report.state)
        connector.acknowledge(report)


def _was_sent_to(context: Context, lab_code: str, report: LabReport) -> bool:
    """Whether a report is about a shipment that is recorded as sent to this lab.

    The number alone does not say so: it may have been given to another one before a restore.
    """
    try:
        with context.database.reading() as db:
            shipment = get_shipment(db, report.job)
    except NotFound:
        return False
    is_named = report.name == shipment.job_name
    return is_named and shipment.lab == lab_code and shipment.sent_at is not None


def _enqueue_poll(context: Context, job: Job) -> None:
    """Enqueue the next poll, and forget the one before this, unless it failed.

    Otherwise thousands of rows a day would say that nothing was done.
    """
    turn = int(context.clock().timestamp() // POLL_EVERY.total_seconds()) + 1
    with context.database.writing() as db:
        before = job.args.get("before")
        if before is not None:
            forget_job(db, before)
        context.system_work(db).enqueue_unowned(
            JobKind.POLL_LABS,
            {"before": job.id},
            wait=POLL_EVERY,
            dedupe_key=f"{JobKind.POLL_LABS}:{turn}",
        )
