"""Issues of orders. Queries for merchants take the merchant."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, func, insert, or_, select, update

from printworks.rules.issues import (
    UNSETTLED,
    IssueAction,
    IssueKind,
    IssueState,
    Remark,
    Resolution,
)
from printworks.store.engine.rows import columns_of, get_struct, list_structs, possible_id
from printworks.store.tables import issue_remarks, issues


class Issue(msgspec.Struct, frozen=True):
    """A complaint about an order."""

    id: int
    merchant_id: int
    order_id: int
    kind: IssueKind
    detail: str | None
    action: IssueAction
    action_detail: str | None
    # Empty means the whole order.
    image_ids: list[int]
    state: IssueState
    resolution: Resolution | None
    refund: int | None
    reprint_order_id: int | None
    created_at: datetime
    updated_at: datetime


class NewIssue(msgspec.Struct, frozen=True, kw_only=True):
    """An issue as a merchant opens it."""

    kind: IssueKind
    action: IssueAction
    detail: str | None = None
    action_detail: str | None = None
    image_ids: Sequence[int] = ()


COLUMNS: Final = columns_of(issues, Issue)


def insert_issue(
    db: Connection, merchant_id: int, order_id: int, new: NewIssue, *, now: datetime
) -> Issue:
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
        .returning(*COLUMNS)
    ).one()
    return Issue(*row)


def get_issue(db: Connection, merchant_id: int, issue_id: int) -> Issue:
    """Return an issue of this merchant, whichever order it is about."""
    mine = (issues.c.id == possible_id(issue_id), issues.c.merchant_id == merchant_id)
    missing = "The issue with the specified id was not found"
    return get_struct(db, Issue, select(*COLUMNS).where(*mine), missing=missing)


def get_any_issue(db: Connection, issue_id: int) -> Issue:
    """Return an issue by id alone, for operators."""
    query = select(*COLUMNS).where(issues.c.id == possible_id(issue_id))
    return get_struct(db, Issue, query, missing=f"There is no issue {issue_id}.")


def list_issues(db: Connection, merchant_id: int, order_id: int) -> list[Issue]:
    """Return the issues of an order of this merchant, oldest first."""
    query = (
        select(*COLUMNS)
        .where(issues.c.order_id == order_id, issues.c.merchant_id == merchant_id)
        .order_by(issues.c.id)
    )
    return list_structs(db, Issue, query)


def list_any_issues(
    db: Connection, *, unsettled: bool = False, merchant_id: int | None = None, limit: int
) -> list[Issue]:
    """Return issues for operators: the newest first, or the oldest unsettled ones first."""
    query = select(*COLUMNS).limit(limit)
    if merchant_id is not None:
        query = query.where(issues.c.merchant_id == merchant_id)
    if unsettled:
        query = query.where(issues.c.state.in_(UNSETTLED)).order_by(issues.c.id)
    else:
        query = query.order_by(issues.c.id.desc())
    return list_structs(db, Issue, query)


def update_issue(db: Connection, issue: Issue, values: Mapping[str, object]) -> Issue | None:
    """Change an issue if its state is still the one that was read; else return None."""
    changed = db.execute(
        update(issues)
        .where(issues.c.id == issue.id, issues.c.state == issue.state)
        .values(**values)
    )
    return msgspec.structs.replace(issue, **values) if changed.rowcount else None


def add_remark(db: Connection, issue: Issue, remark: Remark) -> None:
    """Add a comment or a change of state to an issue; the caller has locked its order."""
    last = select(func.max(issue_remarks.c.number)).where(issue_remarks.c.issue_id == issue.id)
    number = (db.execute(last).scalar() or 0) + 1
    values: dict[str, Any] = msgspec.structs.asdict(remark)
    db.execute(insert(issue_remarks).values(issue_id=issue.id, number=number, **values))


def list_remarks(db: Connection, found: Iterable[Issue]) -> dict[int, list[Remark]]:
    """Return the remarks on issues, by issue, oldest first."""
    query = (
        select(issue_remarks.c.issue_id, *columns_of(issue_remarks, Remark))
        .where(issue_remarks.c.issue_id.in_([issue.id for issue in found]))
        .order_by(issue_remarks.c.issue_id, issue_remarks.c.number)
    )
    remarks: dict[int, list[Remark]] = defaultdict(list)
    for issue_id, *remark in db.execute(query):
        remarks[issue_id].append(Remark(*remark))
    return remarks


def sum_refunds(db: Connection, order_id: int) -> int:
    """Return how much was refunded for an order because of issues."""
    query = select(func.coalesce(func.sum(issues.c.refund), 0)).where(issues.c.order_id == order_id)
    return int(db.execute(query).scalar_one())


def is_compensated(db: Connection, order_id: int) -> bool:
    """Say whether an order was refunded or reprinted because of an issue."""
    query = select(issues.c.id).where(
        issues.c.order_id == order_id,
        or_(issues.c.refund.is_not(None), issues.c.reprint_order_id.is_not(None)),
    )
    return db.execute(query.limit(1)).first() is not None
