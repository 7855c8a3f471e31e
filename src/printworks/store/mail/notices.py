"""What happened and is to be told, until the mails about it are written."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, delete, func, insert, select

from printworks.conversion import reader_of
from printworks.rules.mail import MOST_LISTED, MailKind, NoticeFact
from printworks.store.tables import notices

_read_fact: Final = reader_of(NoticeFact)


def add_notices(
    db: Connection, merchant_id: int | None, kind: MailKind, facts: Sequence[NoticeFact]
) -> None:
    """Add what is to be told to the people of a merchant, or to operators."""
    rows = [
        {"merchant_id": merchant_id, "kind": kind, "facts": msgspec.to_builtins(fact)}
        for fact in facts
    ]
    db.execute(insert(notices), rows)


def take_notices(
    db: Connection, merchant_id: int | None, kind: MailKind
) -> tuple[int, list[NoticeFact]]:
    """Delete what is to be told; return how many there were, and the first of them."""
    theirs = (notices.c.merchant_id.is_not_distinct_from(merchant_id), notices.c.kind == kind)
    last = db.execute(select(func.max(notices.c.id)).where(*theirs)).scalar()
    # Locked: of two jobs that take the same, one waits and finds them gone.
    query: Any = select(notices.c.facts).where(*theirs).order_by(notices.c.id).limit(MOST_LISTED)
    first = [_read_fact(row.facts) for row in db.execute(query.with_for_update())]
    gone = db.execute(delete(notices).where(*theirs, notices.c.id <= (last or 0)))
    return gone.rowcount, first
