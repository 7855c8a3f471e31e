"""What can be done about an issue: merchants open, discuss and drop it, operators settle it."""

from datetime import datetime

from sqlalchemy import Connection

from printworks.actions.issues.reprints import make_reprint
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput, WrongState
from printworks.rules.events import IssueMoved, OrderCompensated
from printworks.rules.issues import (
    CHARGED,
    Author,
    IssueState,
    Remark,
    Resolution,
    check_comment,
    check_issue_move,
    check_opening,
    check_refund,
    check_settling,
    tell_outcome,
)
from printworks.rules.ledger import EntryKind, entry_key
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.images.images import list_images
from printworks.store.issues import issues as store
from printworks.store.issues.issues import Issue, NewIssue
from printworks.store.issues.reprints import Copies
from printworks.store.money.ledger import post_entry
from printworks.store.orders.events import record_event
from printworks.store.orders.orders import Order, get_any_order_to_change


def open_issue(
    db: Connection, merchant: Merchant, order: Order, new: NewIssue, *, now: datetime
) -> Issue:
    """Complain about an order, or about some of its images."""
    present = len(store.list_issues(db, merchant.id, order.id))
    check_opening(new.kind, order.status, present=present)
    _check_images(db, order, new)
    issue = store.insert_issue(db, merchant.id, order.id, new, now=now)
    opened = Remark(now, Author.MERCHANT, None, issue.state, None)
    store.add_remark(db, issue, opened)
    event = IssueMoved(issue=issue.id, was=None, state=issue.state)
    record_event(db, order.id, event, now=now)
    return issue


def _check_images(db: Connection, order: Order, new: NewIssue) -> None:
    if not new.image_ids:
        return
    theirs = {image.id for image in list_images(db, order.id)}
    for image_id in new.image_ids:
        if image_id not in theirs:
            raise BadInput(f"`affectedImages` names {image_id}, which is no image of this order.")


def find_issue(db: Connection, merchant: Merchant, order: Order, issue_id: int) -> Issue:
    """Return an issue of this order; raise `BadInput` if it is one of another order."""
    issue = store.get_issue(db, merchant.id, issue_id)
    if issue.order_id != order.id:
        raise BadInput(f"Issue {issue.id} is not about order {order.id}.")
    return issue


def update_issue(
    db: Connection,
    issue: Issue,
    *,
    wanted: IssueState | None = None,
    comment: str | None = None,
    now: datetime,
) -> Issue:
    """Let a merchant say something about an issue, or drop it; the caller holds the order."""
    if wanted is not None:
        if wanted is not issue.state and wanted is not IssueState.CANCELLED:
            raise BadInput(f"`newState` can only be {IssueState.CANCELLED}.")
        return _move(db, issue, wanted, Author.MERCHANT, comment, now=now)
    if comment is None:
        return issue
    check_comment(len(store.list_remarks(db, [issue])[issue.id]))
    store.add_remark(db, issue, Remark(now, Author.MERCHANT, None, None, comment))
    return store.update_issue(db, issue, {"updated_at": now}) or issue


def take_issue(db: Connection, issue_id: int, *, comment: str | None, now: datetime) -> Issue:
    """Begin to look into an issue. `now` is the real time; the merchant's may be ahead."""
    issue, _, merchant = _open_file(db, issue_id)
    now += merchant.clock_offset
    return _move(db, issue, IssueState.IN_PROGRESS, Author.SERVICE, comment, now=now)


def answer_issue(db: Connection, issue_id: int, comment: str, *, now: datetime) -> Issue:
    """Say something about an issue that the merchant reads. `now` is the real time."""
    issue, _, merchant = _open_file(db, issue_id)
    now += merchant.clock_offset
    if not comment.strip():
        raise BadInput("Write a sentence for the merchant.")
    check_comment(len(store.list_remarks(db, [issue])[issue.id]))
    store.add_remark(db, issue, Remark(now, Author.SERVICE, None, None, comment.strip()))
    return store.update_issue(db, issue, {"updated_at": now}) or issue


def dismiss_issue(db: Connection, issue_id: int, *, comment: str, now: datetime) -> Issue:
    """End an issue without doing anything. `now` is the real time."""
    issue, _, merchant = _open_file(db, issue_id)
    now += merchant.clock_offset
    return _resolve(db, issue, comment, tell_outcome(), now=now, resolution=Resolution.NO_ACTION)


def refund_issue(
    db: Connection, issue_id: int, amount: int, *, comment: str, now: datetime
) -> Issue:
    """End an issue by giving a part of what was charged, or all of it, back to the balance.

    To the balance also if a card or the recipient paid. `now` is the real time.
    """
    issue, order, merchant = _open_file(db, issue_id)
    now += merchant.clock_offset
    check_settling(issue.state)
    charged = order.price if order.status in CHARGED else 0
    currency = order.currency or merchant.currency
    check_refund(amount, left=charged - store.sum_refunds(db, order.id), currency=currency)
    outcome = tell_outcome(refund=amount, currency=currency)
    resolved = _resolve(
        db, issue, comment, outcome, now=now, resolution=Resolution.REFUND, refund=amount
    )
    _credit(db, order, resolved, amount, currency, now=now)
    _note_compensated(db, resolved, currency=currency, now=now)
    return resolved


def _credit(
    db: Connection, order: Order, issue: Issue, amount: int, currency: str, *, now: datetime
) -> None:
    entry = post_entry(
        db,
        order.merchant_id,
        key=entry_key(EntryKind.CREDIT, f"issue-{issue.id}"),
        kind=EntryKind.CREDIT,
        amount=amount,
        currency=currency,
        memo=f"issue {issue.id} of order {order.id}",
        now=now,
    )
    if entry is None:
        # Somebody has used the key by hand.
        raise WrongState(f"A credit with the key issue-{issue.id} was posted before.")


def reprint_issue(
    db: Connection,
    issue_id: int,
    copies: Copies,
    *,
    catalogue: Catalogue,
    comment: str,
    now: datetime,
) -> Issue:
    """End an issue by printing again what it is about, at no charge.

    The copies are those that `plan_reprint` planned, with their proofs in place. `now` is the
    real time.
    """
    issue, order, merchant = _open_file(db, issue_id)
    reprint = make_reprint(db, merchant, order, issue, copies, catalogue=catalogue, now=now)
    now += merchant.clock_offset
    resolved = _resolve(
        db,
        issue,
        comment,
        tell_outcome(reprint=reprint.id),
        now=now,
        resolution=Resolution.REPRINT,
        reprint_order_id=reprint.id,
    )
    _note_compensated(db, resolved, currency=None, now=now)
    return resolved


def _open_file(db: Connection, issue_id: int) -> tuple[Issue, Order, Merchant]:
    """Return an issue with its order and merchant, as they stay until the transaction ends."""
    order = get_any_order_to_change(db, store.get_any_issue(db, issue_id).order_id)
    # Read again: whoever held the order may have changed it.
    return store.get_any_issue(db, issue_id), order, get_merchant(db, order.merchant_id)


def _resolve(
    db: Connection, issue: Issue, comment: str, outcome: str, *, now: datetime, **values: object
) -> Issue:
    if not comment.strip():
        raise BadInput("Give a comment: a sentence for the merchant.")
    if issue.state is IssueState.OPEN:
        issue = _move(db, issue, IssueState.IN_PROGRESS, Author.SERVICE, None, now=now)
    said = f"{comment.strip()} {outcome}"
    return _move(db, issue, IssueState.CLOSED_RESOLVED, Author.SERVICE, said, now=now, **values)


def _move(
    db: Connection,
    issue: Issue,
    wanted: IssueState,
    author: Author,
    comment: str | None,
    *,
    now: datetime,
    **values: object,
) -> Issue:
    """Change the state and remember who did that and why: all or nothing."""
    check_issue_move(issue.state, wanted)
    moved = store.update_issue(db, issue, {"state": wanted, "updated_at": now, **values})
    if moved is None:
        raise WrongState("The issue has just changed. Read it again before you retry.")
    store.add_remark(db, issue, Remark(now, author, issue.state, wanted, comment))
    event = IssueMoved(issue=issue.id, was=issue.state, state=wanted)
    record_event(db, issue.order_id, event, now=now)
    return moved


def _note_compensated(db: Connection, issue: Issue, *, currency: str | None, now: datetime) -> None:
    event = OrderCompensated(
        issue=issue.id, refund=issue.refund, currency=currency, reprint=issue.reprint_order_id
    )
    record_event(db, issue.order_id, event, now=now)
