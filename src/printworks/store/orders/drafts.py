"""Orders that were created and never submitted."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, select, text

from printworks.store.engine.prepared import PreparedStatement
from printworks.store.tables import orders

_OLD: Final = PreparedStatement(
    select(orders.c.id)
    .where(
        # Spelled as in the index.
        text("status = 'NotYetSubmitted'"),
        orders.c.created_at < bindparam("before"),
        orders.c.updated_at < bindparam("before"),
        # One that is being paid for is about to be submitted.
        orders.c.payment_request_id.is_(None),
    )
    .order_by(orders.c.created_at)
    .limit(bindparam("limit"))
    # What somebody else is changing now is no longer old.
    .with_for_update(skip_locked=True, key_share=True)
)


def list_old_drafts(db: Connection, *, before: datetime, limit: int) -> list[int]:
    """Lock the oldest orders that nobody has submitted or changed since then; return their ids."""
    return [order_id for (order_id,) in _OLD.all(db, {"before": before, "limit": limit})]
