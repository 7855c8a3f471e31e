"""Issues as they are remembered. What merchants reach takes the merchant."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, func, insert, or_, select, update

from printworks.errors import NotFound
from printworks.rules.issues import (
    UNSETTLED,
    IssueAction,
    IssueKind,
    IssueState,
    Remark,
    Resolution,
)
from printworks.store.orders.orders import LARGEST_ID
from printworks.store.tables import issue_remarks, issues


class Issue(msgspec.Struct, frozen=True):
    """A complaint about an order, in the words of the core."""

    id: int
    merchant_id: int
    order_id: int
    kind: IssueKind
    detail: str | None
    action: IssueAction
    action_detail: str | None
    # None of them means the whole order.
    image_ids: list[int]
    state: IssueState
    resolution: Resolution | None
    refund: int | None
    reprint_order_id: int | None
    created_at: datetime
    updated_at: datetime


class NewIssue(msgspec.Struct, frozen=True, kw_only=True):
    """What a merchant says when it complains."""

    kind: IssueKind
    action: IssueAction
    detail: str | None = None
    action_detail: str | None = None
    image_ids: Sequence[int] = ()


_COLUMNS: Final = [issues.c[name] for name in Issue.__struct_fields__]
_REMARKS: Final = [issue_remarks.c[name] for name in Remark.__struct_fields__]


def insert_issue(
    db: Connection, merchant_id: int, order_id: int, new: NewIssue, *, now: datetime
) -> Issue:
    """Add an issue to an order."""
    row = db.execute(
        insert(issues)
        .values(
            **{**msgspec.structs.asdict(new), "image_ids": list(new.image_ids)},
            merchant_id=merchant_id,
            order_id=order_id,
            state=IssueState.OPEN,
            created_at=now,
            updated_at=now,
        )
        .returning(*_COLUMNS)
    ).one()
    return Issue(*row)


def get_issue(db: Connection, merchant_id: int, issue_id: int) -> Issue:
    """Return an issue of this merchant, whichever order it is about."""
    found = None
    if 0 < issue_id <= LARGEST_ID:
        query = select(*_COLUMNS).where(
            issues.c.id == issue_id, issues.c.merchant_id == merchant_id
        )
        found = db.execute(query).one_or_none()
    if found is None:
        raise NotFound("The issue with the specified id was not found")
    return Issue(*found)


def get_any_issue(db: Connection, issue_id: int) -> Issue:
    """Return an issue by its number alone, for operators."""
    found = None
    if 0 < issue_id <= LARGEST_ID:
        found = db.execute(select(*_COLUMNS).where(issues.c.id == issue_id)).one_or_none()
    if found is None:
        raise NotFound(f"There is no issue {issue_id}.")
    return Issue(*found)


def list_issues(db: Connection, merchant_id: int, order_id: int) -> list[Issue]:
    """Return the issues of an order of this merchant, oldest first."""
    query = (
        select(*_COLUMNS)
        .where(issues.c.order_id == order_id, issues.c.merchant_id == merchant_id)
        .order_by(issues.c.id)
    )
    return [Issue(*row) for row in db.execute(query)]


def list_any_issues(
    db: Connection, *, unsettled: bool = False, merchant_id: int | None = None, limit: int
) -> list[Issue]:
    """Return issues for operators: the newest, or of the unsettled ones the oldest, first."""
    query = select(*_COLUMNS).limit(limit)
    if merchant_id is not None:
        query = query.where(issues.c.merchant_id == merchant_id)
    if unsettled:
        query = query.where(issues.c.state.in_(UNSETTLED)).order_by(issues.c.id)
    else:
        query = query.order_by(issues.c.id.desc())
    return [Issue(*row) for row in db.execute(query)]


def update_issue(db: Connection, issue: Issue, values: Mapping[str, object]) -> Issue | None:
    """Change an issue if it is still in the state in which it was read; else return None."""
    changed = db.execute(
        update(issues)
        .where(issues.c.id == issue.id, issues.c.state == issue.state)
        .values(**values)
    )
    return msgspec.structs.replace(issue, **values) if changed.rowcount else None


def add_remark(db: Connection, issue: Issue, remark: Remark) -> None:
    """Remember what was said or done about an issue; the caller holds its order."""
    last = select(func.max(issue_remarks.c.number)).where(issue_remarks.c.issue_id == issue.id)
    number = (db.execute(last).scalar() or 0) + 1
    values: dict[str, Any] = msgspec.structs.asdict(remark)
    db.execute(insert(issue_remarks).values(issue_id=issue.id, number=number, **values))


def list_remarks(db: Connection, found: Iterable[Issue]) -> dict[int, list[Remark]]:
    """Return what was said and done about issues, by issue, oldest first."""
    remarks: dict[int, list[Remark]] = defaultdict(list)
    query = (
        select(issue_remarks.c.issue_id, *_REMARKS)
        .where(issue_remarks.c.issue_id.in_([issue.id for issue in found]))
        .order_by(issue_remarks.c.issue_id, issue_remarks.c.number)
    )
    for issue_id, *remark in db.execute(query):
        remarks[issue_id].append(Remark(*remark))
    return remarks


def sum_refunds(db: Connection, order_id: int) -> int:
    """Return how much was given back for an order because of issues."""
    query = select(func.coalesce(func.sum(issues.c.refund), 0)).where(issues.c.order_id == order_id)
    return int(db.execute(query).scalar_one())


def is_compensated(db: Connection, order_id: int) -> bool:
    """Say whether money was given back for an order, or it is printed again."""
    query = select(issues.c.id).where(
        issues.c.order_id == order_id,
        or_(issues.c.refund.is_not(None), issues.c.reprint_order_id.is_not(None)),
    )
    return db.execute(query.limit(1)).first() is not None
