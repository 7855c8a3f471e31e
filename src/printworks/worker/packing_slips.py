"""Downloads and validates packing slips, which are packed with shipments."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from printworks.actions.images.packing_slips import record_packing_slip_status
from printworks.actions.images.redrawing import PendingFile, begin_file
from printworks.imaging.messages import Facts
from printworks.imaging.processor import Invalid
from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus
from printworks.rules.sizing import Layout, PrintArea, Sizing, Units
from printworks.store.images.packing_slips import PackingSlip, find_packing_slip
from printworks.store.orders.orders import get_order
from printworks.store.queue.jobs import Job
from printworks.worker.fetching import Failure, check_room, fetch
from printworks.worker.loop import Context
from printworks.worker.resources import Resources, infrastructure_errors

A4: Final = Layout(PrintArea.of(21, "29.7", Units.CM), Sizing.SHRINK_TO_FIT)


class _Received(NamedTuple):
    """What became of a packing slip, and the file that was stored of it."""

    facts: Mapping[str, Any]
    pending: PendingFile | None = None

    @classmethod
    def refuse(cls, failure: Failure) -> "_Received":
        """Say why it cannot be used."""
        return cls({"status": failure.status, "error_message": failure.message})


async def fetch_packing_slip(context: Context, job: Job) -> None:
    """Download the packing slip of an order and check that it can be printed.

    Idempotent: one that has been validated or replaced, or whose order has been cancelled, is left
    alone. Each attempt stores a file of its own, which is removed unless it is recorded.
    """
    with infrastructure_errors():
        slip = await context.in_thread(_find, context, job)
        if slip is None or slip.status is not ImageStatus.NOT_YET_DOWNLOADED:
            return
        check_room(context)
        with context.resources.folder() as folder:
            received = await _receive(context, job, slip, folder)
        await context.in_thread(_record_status, context, job, slip, received)


def _find(context: Context, job: Job) -> PackingSlip | None:
    with context.database.reading() as db:
        slip = find_packing_slip(db, job.args["order"])
        if slip is None or slip.url != job.args["url"]:
            return None
        order = get_order(db, context.job_work(db, job).merchant.id, slip.order_id)
    return None if order.status is OrderStatus.CANCELLED else slip


async def _receive(context: Context, job: Job, slip: PackingSlip, folder: Path) -> _Received:
    source = folder / "slip"
    fetched = await fetch(context, job, slip.url, source, headers={})
    if isinstance(fetched, Failure):
        return _Received.refuse(fetched)
    facts = await context.in_cpu_pool(_check, context.resources, source)
    if isinstance(facts, Failure):
        return _Received.refuse(facts)
    pending = await context.in_thread(_begin_file, context, job, slip, facts)
    await context.in_cpu_pool(context.resources.files.put, pending.file, source)
    values = {"file": pending.file, "sha256": fetched.sha256}
    size = {"width": facts.width, "height": facts.height}
    return _Received({"status": ImageStatus.OK, **values, **size}, pending)


def _check(resources: Resources, source: Path) -> Facts | Failure:
    result = resources.render(lambda: resources.processor.prepare(source, A4, source.parent))
    if isinstance(result, Invalid):
        return Failure(ImageStatus.INVALID, result.reason)
    return result.facts


def _begin_file(context: Context, job: Job, slip: PackingSlip, facts: Facts) -> PendingFile:
    with context.database.writing() as db:
        suffix = facts.format.lower()
        return begin_file(context.system_work(db, job), f"slips/{slip.order_id}", suffix=suffix)


def _record_status(context: Context, job: Job, slip: PackingSlip, received: _Received) -> None:
    with context.database.writing() as db:
        record_packing_slip_status(
            context.job_work(db, job), slip, received.facts, received.pending
        )
