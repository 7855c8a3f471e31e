"""The pictures of a list of orders."""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, func, select

from printworks.rules.images import ImageStatus
from printworks.store.tables import images


def find_first_images(db: Connection, order_ids: Iterable[int]) -> Mapping[int, int]:
    """Return the first image with a proof of each of these orders that has one."""
    wanted = list(order_ids)
    found = (
        select(images.c.order_id, func.min(images.c.id))
        .where(
            images.c.order_id.in_(wanted),
            images.c.status == ImageStatus.OK,
            # Once old proofs have been removed, there is nothing to show.
            images.c.width.is_not(None),
        )
        .group_by(images.c.order_id)
    )
    return {row[0]: row[1] for row in db.execute(found)} if wanted else {}
