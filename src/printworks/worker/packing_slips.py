"""Downloads and validates packing slips, which are packed with shipments."""

from pathlib import Path
from typing import Any, Final

from printworks.actions.images.packing_slips import record_packing_slip_status
from printworks.imaging.processor import Invalid
from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus
from printworks.rules.sizing import PrintArea, Sizing, Units
from printworks.store.images.packing_slips import PackingSlip, find_packing_slip
from printworks.store.orders.orders import get_order
from printworks.store.queue.jobs import Job
from printworks.worker.fetching import Failure, check_room, fetch
from printworks.worker.loop import Context
from printworks.worker.resources import Resources, infrastructure_errors

A4: Final = PrintArea.of(21, "29.7", Units.CM)


async def fetch_packing_slip(context: Context, job: Job) -> None:
    """Download the packing slip of an order and check that it can be printed.

    Idempotent: one that has been validated or replaced, or whose order has been cancelled, is left
    alone.
    """
    with infrastructure_errors():
        slip = await context.in_thread(_find, context, job)
        if slip is None or slip.status is not ImageStatus.NOT_YET_DOWNLOADED:
            return
        check_room(context)
        with context.resources.folder() as folder:
            fetched = await fetch(context, job, slip.url, folder / "slip", headers={})
            if isinstance(fetched, Failure):
                facts: dict[str, Any] = _refuse(fetched.status, fetched.message)
            else:
                facts = await context.in_cpu_pool(
                    _check, context.resources, slip, fetched.sha256, folder
                )
        await context.in_thread(_record_status, context, job, slip, facts)


def _find(context: Context, job: Job) -> PackingSlip | None:
    with context.database.reading() as db:
        slip = find_packing_slip(db, job.args["order"])
        if slip is None or slip.url != job.args["url"]:
            return None
        order = get_order(db, context.job_work(db, job).merchant.id, slip.order_id)
    return None if order.status is OrderStatus.CANCELLED else slip


def _refuse(status: ImageStatus, message: str) -> dict[str, Any]:
    return {"status": status, "error_message": message}


def _check(resources: Resources, slip: PackingSlip, sha256: str, folder: Path) -> dict[str, Any]:
    source = folder / "slip"
    result = resources.render(
        lambda: resources.processor.prepare(source, A4, Sizing.SHRINK_TO_FIT, folder)
    )
    if isinstance(result, Invalid):
        return _refuse(ImageStatus.INVALID, result.reason)
    key = f"slips/{slip.order_id}/{sha256}.{result.facts.format.lower()}"
    resources.files.put(key, source)
    return {
        "status": ImageStatus.OK,
        "file": key,
        "sha256": sha256,
        "width": result.facts.width,
        "height": result.facts.height,
    }


def _record_status(context: Context, job: Job, slip: PackingSlip, facts: dict[str, Any]) -> None:
    with context.database.writing() as db:
        record_packing_slip_status(context.job_work(db, job), slip, facts)
