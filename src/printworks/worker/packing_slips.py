"""Fetching and checking the packing slips that travel with parcels."""

from pathlib import Path
from typing import Any, Final

from printworks.actions.images.packing_slips import judge_packing_slip
from printworks.imaging.processor import Invalid
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import PermanentFailure
from printworks.rules.sizing import PrintArea, Sizing, Units
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.images.packing_slips import PackingSlip, find_packing_slip
from printworks.store.queue.jobs import Job
from printworks.worker.fetching import Failure, fetch
from printworks.worker.loop import Context
from printworks.worker.tools import Tools, infrastructure_errors

A4: Final = PrintArea.of(21, "29.7", Units.CM)


async def fetch_packing_slip(context: Context, job: Job) -> None:
    """Download the packing slip of an order and check that it can be printed.

    Harmless twice: one that has been judged, or is no longer wanted, is left alone.
    """
    with infrastructure_errors():
        merchant, slip = await context.in_thread(_find, context, job)
        if slip is None or slip.url != job.args["url"]:
            return
        if slip.status is not ImageStatus.NOT_YET_DOWNLOADED:
            return
        with context.outside.folder() as folder:
            fetched = await fetch(context, job, slip.url, folder / "slip", headers={})
            if isinstance(fetched, Failure):
                facts: dict[str, Any] = _refuse(fetched.status, fetched.message)
            else:
                facts = await context.in_cpu_pool(
                    _check, context.outside, slip, fetched.sha256, folder
                )
        await context.in_thread(_settle, context, merchant, slip, facts)


def _find(context: Context, job: Job) -> tuple[Merchant, PackingSlip | None]:
    if job.merchant_id is None:
        raise PermanentFailure("The job has no merchant.")
    with context.database.reading() as db:
        return get_merchant(db, job.merchant_id), find_packing_slip(db, job.args["order"])


def _refuse(status: ImageStatus, message: str) -> dict[str, Any]:
    return {"status": status, "error_message": message}


def _check(tools: Tools, slip: PackingSlip, sha256: str, folder: Path) -> dict[str, Any]:
    source = folder / "slip"
    result = tools.insist(lambda: tools.processor.prepare(source, A4, Sizing.SHRINK_TO_FIT, folder))
    if isinstance(result, Invalid):
        return _refuse(ImageStatus.INVALID, result.reason)
    key = f"slips/{slip.order_id}/{sha256}.{result.facts.format.lower()}"
    tools.files.put(key, source)
    return {
        "status": ImageStatus.OK,
        "file": key,
        "sha256": sha256,
        "width": result.facts.width,
        "height": result.facts.height,
    }


def _settle(context: Context, merchant: Merchant, slip: PackingSlip, facts: dict[str, Any]) -> None:
    now = context.clock() + merchant.clock_offset
    with context.database.writing() as db:
        judge_packing_slip(db, merchant, slip, facts, now=now)
