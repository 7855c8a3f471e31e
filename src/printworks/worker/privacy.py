"""Deletes what is left of an erased recipient outside the database."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from printworks.actions.privacy.erasing import finish_erasure
from printworks.labs.connector import LabUnavailable
from printworks.rules.jobs import RetryLater
from printworks.rules.privacy import Subject
from printworks.settings import BadSetting
from printworks.store.queue.jobs import Job
from printworks.worker.context import Context
from printworks.worker.resources import OUTAGE_WAIT, Resources, infrastructure_errors
from printworks.worker.sweeps import wait_for_backup

log = structlog.get_logger()


async def erase_files(context: Context, job: Job) -> None:
    """Delete the files of an erased recipient and the copies at labs, then finish the receipt.

    Idempotent: what is missing is ignored, and the receipt is finished once.
    """
    files, labs = job.args["files"], job.args["labs"]
    with infrastructure_errors():
        await wait_for_backup(context)
        for key in files:
            await context.in_cpu_pool(context.resources.files.delete, key)
        copies, left = await context.in_lab_pool(_erase_at_labs, context.resources, labs)
        removed = {Subject.FILES.value: len(files), Subject.LAB_COPIES.value: copies}
        await context.in_thread(_finish, context, job.args["erasure"], removed, left)
    log.info("recipient erased", receipt=job.args["erasure"], files=len(files), copies=copies)


def _erase_at_labs(
    resources: Resources, labs: Sequence[Mapping[str, Any]]
) -> tuple[int, list[str]]:
    """Delete the jobs at their labs; return how many copies, and what must be deleted by hand."""
    copies, unknown = 0, defaultdict[str, list[int]](list)
    for place in labs:
        lab = resources.catalogue.find_lab(place["lab"])
        if lab is None:
            unknown[place["lab"]].append(place["job"])
            continue
        try:
            copies += resources.connect(lab).erase(place["job"])
        except (LabUnavailable, BadSetting) as error:
            raise RetryLater(str(error), wait=OUTAGE_WAIT) from error
    return copies, [
        f"Lab {code} is no longer in the catalogue: delete its jobs {', '.join(map(str, jobs))} "
        "by hand."
        for code, jobs in unknown.items()
    ]


def _finish(
    context: Context, erasure_id: int, removed: Mapping[str, int], left: Sequence[str]
) -> None:
    with context.database.writing() as db:
        finish_erasure(context.system_work(db), erasure_id, removed, left)
