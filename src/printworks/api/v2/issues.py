"""Issues of orders, through the 2.x family."""

from printworks.actions.issues import issues as actions
from printworks.api.endpoints import Call
from printworks.store.issues import issues as store
from printworks.store.issues.issues import Issue
from printworks.store.orders.orders import get_order, get_order_to_change
from printworks.wire.reading import read
from printworks.wire.v2.issues import CreateIssue, IssueListOut, IssueOut, UpdateIssue


def get_issue(call: Call) -> IssueOut:
    """Get one issue."""
    order = get_order(call.db, call.merchant.id, call.number("orderId"))
    return _show(call, actions.find_issue(call.db, call.merchant, order, call.number("issueId")))


def list_issues(call: Call) -> IssueListOut:
    """List the issues of an order."""
    order = get_order(call.db, call.merchant.id, call.number("orderId"))
    issues = store.list_issues(call.db, call.merchant.id, order.id)
    return IssueListOut.of(issues, store.list_remarks(call.db, issues))


def create_issue(call: Call) -> IssueOut:
    """Open an issue about an order."""
    order = get_order_to_change(call.db, call.merchant.id, call.number("orderId"))
    new = read(CreateIssue, call.body).to_new_issue()
    return _show(call, actions.open_issue(call.work, order, new))


def update_issue(call: Call) -> IssueOut:
    """Comment on an issue, or cancel it."""
    order = get_order_to_change(call.db, call.merchant.id, call.number("orderId"))
    issue = actions.find_issue(call.db, call.merchant, order, call.number("issueId"))
    update = read(UpdateIssue, call.body)
    updated = actions.update_issue(call.work, issue, wanted=update.newState, comment=update.comment)
    return _show(call, updated)


def _show(call: Call, issue: Issue) -> IssueOut:
    return IssueOut.of(issue, store.list_remarks(call.db, [issue])[issue.id])
