"""Whose claims still stand, for whoever writes down more than the end of a job."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from printworks.store.queue.jobs import Claim
from printworks.store.tables import jobs


def find_held(db: Connection, claims: Sequence[Claim]) -> frozenset[Claim]:
    """Return the claims that nobody else has taken over, as it stays until the transaction ends."""
    if not claims:
        return frozenset()
    # In the order of all reports: two late ones on the same jobs must not wait for each other.
    rows = db.execute(
        select(jobs.c.id, jobs.c.fence, jobs.c.worker)
        .where(jobs.c.id.in_([claim.id for claim in claims]))
        .order_by(jobs.c.id)
        .with_for_update()
    )
    return frozenset(claims) & {Claim(*row) for row in rows}
