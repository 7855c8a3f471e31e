"""Copies of received images, for orders that are printed again."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple, TypeAlias

import msgspec
from sqlalchemy import Connection, insert, select, update

from printworks.rules.images import ImageStatus
from printworks.store.engine.columns import beside_index
from printworks.store.images.images import Image, reserve_image_ids
from printworks.store.tables import images, issues, orders, pictures


class ReprintedImage(NamedTuple):
    """An image that is printed again, and the id that the copy will have."""

    original: Image
    number: int


Copies: TypeAlias = Sequence[ReprintedImage]


def find_callback_format(db: Connection, order_id: int) -> str:
    query = select(orders.c.callback_format).where(orders.c.id == order_id)
    return str(db.execute(query).scalar_one())


def list_reprints(db: Connection, merchant_id: int, order_id: int) -> list[int]:
    """Return the orders that print a merchant's order again, oldest first."""
    query = (
        select(issues.c.reprint_order_id)
        .where(
            issues.c.order_id == order_id,
            beside_index(issues.c.merchant_id) == merchant_id,
            beside_index(issues.c.reprint_order_id).is_not(None),
        )
        .order_by(issues.c.id)
    )
    return list(db.execute(query).scalars())


def take_numbers(
    db: Connection, originals: Sequence[Image], *, now: datetime
) -> list[ReprintedImage]:
    """Reserve ids for copies of images of one order."""
    ids = reserve_image_ids(db, originals[0].order_id, len(originals), now=now)
    return [ReprintedImage(*pair) for pair in zip(originals, ids, strict=True)]


def insert_copies(db: Connection, order_id: int, copies: Copies, *, now: datetime) -> list[Image]:
    """Add copies of images, already received, to another order."""
    added = [
        msgspec.structs.replace(
            copy.original,
            id=copy.number,
            order_id=order_id,
            status=ImageStatus.OK,
            price_to_user=None,
            mockup=None,
            edition=0,
            proof_edition=0,
            manifest=None,
            error_message=None,
            created_at=now,
            updated_at=now,
        )
        for copy in copies
    ]
    db.execute(insert(images), [msgspec.structs.asdict(image) for image in added])
    return added


def use_pictures(db: Connection, picture_ids: Iterable[int], *, now: datetime) -> bool:
    """Mark pictures as used; False if one of them has been deleted."""
    wanted = set(picture_ids)
    used = db.execute(update(pictures).where(pictures.c.id.in_(wanted)).values(used_at=now))
    return used.rowcount == len(wanted)
