"""Copies of images that were received once, for orders that are printed again."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from printworks.rules.images import ImageStatus
from printworks.store.images.images import Image
from printworks.store.tables import images, orders, pictures


class Copy(NamedTuple):
    """An image that is printed again, and the number that the copy will have."""

    original: Image
    number: int


Copies: TypeAlias = Sequence[Copy]

# What a copy of an image does not share with its original.
_OWN: Final = frozenset({"id", "order_id", "manifest", "created_at", "updated_at"})


def find_callback_format(db: Connection, order_id: int) -> str:
    """Return in which words the callbacks of an order are written."""
    query = select(orders.c.callback_format).where(orders.c.id == order_id)
    return str(db.execute(query).scalar_one())


def take_numbers(db: Connection, originals: Sequence[Image], *, now: datetime) -> list[Copy]:
    """Take numbers for copies of images: no other image will ever have them.

    Files are named after images, so the number is needed before there is an image.
    """
    rows = [
        {**_shared(original), "order_id": original.order_id, "created_at": now, "updated_at": now}
        for original in originals
    ]
    statement = insert(images).returning(images.c.id, sort_by_parameter_order=True)
    taken = list(db.execute(statement, rows).scalars())
    # Neither database gives a number twice, also not that of a row which is gone.
    db.execute(delete(images).where(images.c.id.in_(taken)))
    return [Copy(*pair) for pair in zip(originals, taken, strict=True)]


def insert_copies(db: Connection, order_id: int, copies: Copies, *, now: datetime) -> list[Image]:
    """Add copies of images, received as they were, to another order."""
    added = [
        msgspec.structs.replace(
            copy.original,
            id=copy.number,
            order_id=order_id,
            status=ImageStatus.OK,
            price_to_user=None,
            manifest=None,
            error_message=None,
            created_at=now,
            updated_at=now,
        )
        for copy in copies
    ]
    db.execute(insert(images), [msgspec.structs.asdict(image) for image in added])
    return added


def _shared(image: Image) -> dict[str, Any]:
    values: dict[str, Any] = msgspec.structs.asdict(image)
    return {name: value for name, value in values.items() if name not in _OWN}


def keep_pictures(db: Connection, picture_ids: Iterable[int], *, now: datetime) -> bool:
    """Note that pictures are needed; False if one of them has been forgotten."""
    wanted = set(picture_ids)
    used = db.execute(update(pictures).where(pictures.c.id.in_(wanted)).values(used_at=now))
    return used.rowcount == len(wanted)
