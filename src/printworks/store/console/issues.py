"""Issues of all merchants, for whoever settles them. Merchants never reach these."""

from typing import Any, Final

import msgspec
from sqlalchemy import Connection, select, text

from printworks.store.issues.issues import Issue
from printworks.store.tables import issues, merchants

# Spelled as in the index of what is not settled.
_IS_UNSETTLED: Final = text("issues.state IN ('Open', 'InProgress')")
_IS_SETTLED: Final = text("issues.state NOT IN ('Open', 'InProgress')")


class QueuedIssue(msgspec.Struct, frozen=True):
    """An issue, and whose it is."""

    issue: Issue
    merchant: str
    merchant_code: str


def list_issue_queue(
    db: Connection, *, is_settled: bool, after: int | None, limit: int
) -> list[QueuedIssue]:
    """Return what is not settled, oldest first; or what is, newest first.

    `after` is the last number of the page before this one.
    """
    columns: list[Any] = [issues.c[name] for name in Issue.__struct_fields__]
    query = (
        select(merchants.c.name, merchants.c.code, *columns)
        .join_from(issues, merchants, issues.c.merchant_id == merchants.c.id)
        .limit(limit)
    )
    if is_settled:
        query = query.where(_IS_SETTLED).order_by(issues.c.id.desc())
        query = query if after is None else query.where(issues.c.id < after)
    else:
        query = query.where(_IS_UNSETTLED).order_by(issues.c.id)
        query = query if after is None else query.where(issues.c.id > after)
    return [QueuedIssue(Issue(*columns), name, code) for name, code, *columns in db.execute(query)]
