"""How many bytes the files of each merchant take: each content counts once."""

from collections.abc import Sequence

from sqlalchemy import Connection, delete, func, select, update

from printworks.store.engine.upsert import insert_unless_there
from printworks.store.tables import merchant_files, merchants


def count_file(db: Connection, merchant_id: int, picture_id: int, *, size: int) -> None:
    """Count a file that is stored for a merchant, unless it has been counted."""
    key = {"merchant_id": merchant_id, "picture_id": picture_id}
    if insert_unless_there(db, merchant_files, **key, size=size):
        _add_bytes(db, merchant_id, size)


def uncount_files(db: Connection, picture_ids: Sequence[int]) -> None:
    """Forget files that are about to be deleted, whoever has them."""
    of_pictures = merchant_files.c.picture_id.in_(picture_ids)
    sums = db.execute(
        select(merchant_files.c.merchant_id, func.sum(merchant_files.c.size))
        .where(of_pictures)
        .group_by(merchant_files.c.merchant_id)
        # Always in the same order: two sweeps must not wait for each other.
        .order_by(merchant_files.c.merchant_id)
    ).all()
    db.execute(delete(merchant_files).where(of_pictures))
    for merchant_id, size in sums:
        _add_bytes(db, merchant_id, -int(size))


def _add_bytes(db: Connection, merchant_id: int, size: int) -> None:
    # Added, not set: other files may be stored at the same time.
    more = {"file_bytes": merchants.c.file_bytes + size}
    db.execute(update(merchants).where(merchants.c.id == merchant_id).values(more))
