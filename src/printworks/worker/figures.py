"""Stores the figures of days that are over, so that charts need not count them again."""

from printworks.store.queue.jobs import Job
from printworks.store.views.console.figures import sum_days_over
from printworks.worker.context import Context


async def sum_days(context: Context, _job: Job) -> None:
    """Store the figures of days that are over. Idempotent: each day is stored once."""
    await context.in_thread(_sum_days, context)


def _sum_days(context: Context) -> None:
    transit_days = context.services.catalogue.transit_days
    with context.database.writing() as db:
        sum_days_over(db, transit_days=transit_days, now=context.clock())
