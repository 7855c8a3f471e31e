"""Issues of all merchants, for whoever settles them. Merchants never reach these."""

from typing import Any, Final

import msgspec
from sqlalchemy import Boolean, ColumnElement, Connection, literal_column, select

from printworks.store.issues import Issue
from printworks.store.tables import issues, merchants

# Spelled as where the first of them are looked for.
_IS_UNSETTLED: Final[ColumnElement[bool]] = literal_column(
    "issues.state IN ('Open', 'InProgress')", Boolean()
)


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
        query = query.where(~_IS_UNSETTLED).order_by(issues.c.id.desc())
        query = query if after is None else query.where(issues.c.id < after)
    else:
        query = query.where(_IS_UNSETTLED).order_by(issues.c.id)
        query = query if after is None else query.where(issues.c.id > after)
    return [QueuedIssue(Issue(*columns), name, code) for name, code, *columns in db.execute(query)]
