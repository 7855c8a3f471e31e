"""Issues: merchants open, discuss and cancel them, operators resolve them."""

from sqlalchemy import Connection

from printworks.actions.invoices.causes import note_credit
from printworks.actions.issues.reprints import ReprintPlan, make_reprint
from printworks.actions.mail.notices import notify
from printworks.actions.work import SystemWork, Work
from printworks.errors import BadInput, WrongState
from printworks.rules.events import IssueMoved, OrderCompensated
from printworks.rules.issues import (
    Author,
    IssueState,
    Remark,
    Resolution,
    check_account_currency,
    check_charged,
    check_comment,
    check_issue_move,
    check_opening,
    check_refund,
    check_settling,
    describe_outcome,
)
from printworks.rules.ledger import EntryKind, entry_key
from printworks.rules.mail import MailKind, NoticeFact
from printworks.rules.tax_terms import find_credited_tax
from printworks.rules.taxes import TaxedAmount
from printworks.store.accounts.merchants import Merchant
from printworks.store.images.images import list_images
from printworks.store.issues import issues as store
from printworks.store.issues.issues import Issue, NewIssue
from printworks.store.money.ledger import NewLedgerEntry, post_entry
from printworks.store.orders.orders import Order


def open_issue(work: Work, order: Order, new: NewIssue) -> Issue:
    """Open an issue about an order, or about some of its images."""
    present = len(store.list_issues(work.db, work.merchant.id, order.id))
    check_opening(present)
    _check_images(work.db, order, new)
    issue = store.insert_issue(work.db, work.merchant.id, order.id, new, now=work.now)
    opened = Remark(work.now, Author.MERCHANT, None, issue.state, None)
    store.add_remark(work.db, issue, opened)
    work.record(order.id, IssueMoved(issue=issue.id, was=None, state=issue.state))
    work.audit("open-issue", f"issue {issue.id}", order=order.id)
    _tell(work, issue, Author.MERCHANT, new.detail)
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
    work: Work, issue: Issue, *, wanted: IssueState | None = None, comment: str | None = None
) -> Issue:
    """Let a merchant comment on an issue or cancel it; the caller has locked the order."""
    if wanted is not None:
        if wanted is not issue.state and wanted is not IssueState.CANCELLED:
            raise BadInput(f"`newState` can only be {IssueState.CANCELLED}.")
        moved = _move(work, issue, Author.MERCHANT, wanted, comment)
        work.audit("cancel-issue", f"issue {issue.id}")
        return moved
    return issue if comment is None else _comment(work, issue, Author.MERCHANT, comment)


def take_issue(system: SystemWork, issue_id: int, *, comment: str | None) -> Issue:
    """Start working on an issue."""
    work, issue, _ = _lock_issue(system, issue_id)
    work.audit("take-issue", f"issue {issue.id}")
    return _move(work, issue, Author.SERVICE, IssueState.IN_PROGRESS, comment)


def answer_issue(system: SystemWork, issue_id: int, comment: str) -> Issue:
    """Comment on an issue, for the merchant to read."""
    work, issue, _ = _lock_issue(system, issue_id)
    if not comment.strip():
        raise BadInput("Write a sentence for the merchant.", field="comment")
    return _comment(work, issue, Author.SERVICE, comment.strip())


def _comment(work: Work, issue: Issue, author: Author, comment: str) -> Issue:
    check_comment(len(store.list_remarks(work.db, [issue])[issue.id]))
    store.add_remark(work.db, issue, Remark(work.now, author, None, None, comment))
    work.audit("answer-issue", f"issue {issue.id}")
    _tell(work, issue, author, comment)
    return store.update_issue(work.db, issue, {"updated_at": work.now}) or issue


def dismiss_issue(system: SystemWork, issue_id: int, *, comment: str) -> Issue:
    """Close an issue without action."""
    work, issue, _ = _lock_issue(system, issue_id)
    work.audit("dismiss-issue", f"issue {issue.id}")
    return _resolve(work, issue, comment, describe_outcome(), resolution=Resolution.NO_ACTION)


def refund_issue(system: SystemWork, issue_id: int, amount: int, *, comment: str) -> Issue:
    """Resolve an issue by crediting part of the charge, or all of it, to the merchant's balance.

    The credit goes to the balance even if a card or the recipient paid.
    """
    work, issue, order = _lock_issue(system, issue_id)
    check_settling(issue.state)
    check_charged(order.status)
    currency = order.currency or work.merchant.currency
    check_account_currency(currency, work.merchant.currency)
    before = store.sum_refunds(work.db, order.id)
    check_refund(amount, left=order.total - before, currency=currency)
    outcome = describe_outcome(refund=amount, currency=currency)
    refund = {"resolution": Resolution.REFUND, "refund": amount}
    resolved = _resolve(work, issue, comment, outcome, **refund)
    tax = find_credited_tax(amount, before=before, tax=order.tax or 0, total=order.total)
    _credit(work, order, resolved, TaxedAmount(amount - tax, tax), currency)
    _record_compensated(work, resolved, currency=currency)
    work.audit("refund-issue", f"issue {issue.id}", amount=amount, currency=currency)
    return resolved


def _credit(work: Work, order: Order, issue: Issue, amount: TaxedAmount, currency: str) -> None:
    entry = post_entry(
        work.db,
        order.merchant_id,
        NewLedgerEntry(
            key=entry_key(EntryKind.CREDIT, f"issue-{issue.id}"),
            kind=EntryKind.CREDIT,
            amount=amount.gross,
            tax=amount.tax,
            currency=currency,
            memo=f"issue {issue.id} of order {order.id}",
        ),
        now=work.now,
    )
    if entry is None:
        # An operator has posted an entry with this key.
        raise WrongState(f"A credit with the key issue-{issue.id} was posted before.")
    note_credit(work, order, entry)


def reprint_issue(system: SystemWork, issue_id: int, plan: ReprintPlan, *, comment: str) -> Issue:
    """Resolve an issue by reprinting its images at no charge.

    The plan comes from `plan_reprint`; its proofs have been copied.
    """
    work, issue, order = _lock_issue(system, issue_id)
    reprint = make_reprint(work, order, issue, plan)
    outcome = describe_outcome(reprint=reprint.id)
    values = {"resolution": Resolution.REPRINT, "reprint_order_id": reprint.id}
    resolved = _resolve(work, issue, comment, outcome, **values)
    _record_compensated(work, resolved, currency=None)
    work.audit("reprint-issue", f"issue {issue.id}", reprint=reprint.id)
    return resolved


def _lock_issue(system: SystemWork, issue_id: int) -> tuple[Work, Issue, Order]:
    """Lock the order of an issue until the transaction ends, and continue for its merchant."""
    work, order = system.lock_order(store.get_any_issue(system.db, issue_id).order_id)
    # Read again: another transaction may have changed the issue before the lock.
    return work, store.get_any_issue(work.db, issue_id), order


def _resolve(work: Work, issue: Issue, comment: str, outcome: str, **values: object) -> Issue:
    if not comment.strip():
        raise BadInput("Write a comment: a sentence for the merchant.", field="comment")
    if issue.state is IssueState.OPEN:
        issue = _move(work, issue, Author.SERVICE, IssueState.IN_PROGRESS, None)
    said = f"{comment.strip()} {outcome}"
    return _move(work, issue, Author.SERVICE, IssueState.CLOSED_RESOLVED, said, **values)


def _move(
    work: Work,
    issue: Issue,
    author: Author,
    wanted: IssueState,
    comment: str | None,
    **values: object,
) -> Issue:
    """Change the state of an issue, and record who did so and why."""
    check_issue_move(issue.state, wanted)
    moved = store.update_issue(work.db, issue, {"state": wanted, "updated_at": work.now, **values})
    if moved is None:
        raise WrongState("The issue has just changed. Read it again before you retry.")
    store.add_remark(work.db, issue, Remark(work.now, author, issue.state, wanted, comment))
    work.record(issue.order_id, IssueMoved(issue=issue.id, was=issue.state, state=wanted))
    if comment is not None:
        _tell(work, issue, author, comment)
    return moved


def _tell(work: Work, issue: Issue, author: Author, said: str | None) -> None:
    """Tell the other side what was said about an issue."""
    fact = NoticeFact(
        order=issue.order_id,
        subject=issue.id,
        text=said or "",
        merchant=work.merchant.name if author is Author.MERCHANT else "",
    )
    if author is Author.MERCHANT:
        notify(work, None, MailKind.ISSUES_RAISED, [fact])
    else:
        notify(work, work.merchant.id, MailKind.ISSUES_ANSWERED, [fact])


def _record_compensated(work: Work, issue: Issue, *, currency: str | None) -> None:
    event = OrderCompensated(
        issue=issue.id, refund=issue.refund, currency=currency, reprint=issue.reprint_order_id
    )
    work.record(issue.order_id, event)
