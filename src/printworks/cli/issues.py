"""`printworks issue`: what merchants complain about, and settling it."""

from typing import Annotated, Any

import typer

from printworks.actions.issues.issues import dismiss_issue, refund_issue, reprint_issue, take_issue
from printworks.actions.issues.reprints import copy_proofs, plan_reprint
from printworks.cli.options import Limit, OnlyMerchant
from printworks.cli.output import Columns, pick
from printworks.cli.session import CommandSession, command
from printworks.rules.issues import DESCRIPTIONS, write_commentary
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.issues.issues import Issue, get_any_issue, list_any_issues, list_remarks

app = typer.Typer(no_args_is_help=True)

IssueId = Annotated[int, typer.Argument(metavar="ISSUE", help="The number of the issue.")]


@command(app, "list")
def list_issues(
    session: CommandSession,
    *,
    unsettled: Annotated[
        bool, typer.Option("--open", help="Only those that wait for the operator.")
    ] = False,
    merchant: OnlyMerchant = None,
    limit: Limit = 50,
) -> None:
    """List issues, the newest first; with --open, the oldest first."""
    with session.reading() as db:
        owner = None if merchant is None else get_merchant_by_code(db, merchant).id
        found = list_any_issues(db, unsettled=unsettled, merchant_id=owner, limit=limit + 1)
    columns: Columns = {
        "issue": "id",
        "order": "orderId",
        "opened": "created",
        "what": "issue",
        "wants": "action",
        "state": "issueState",
        "outcome": "resolution",
    }
    issues = [_describe(issue) for issue in found]
    session.show_list(issues, columns, "There is no such issue.", limit=limit)


@command(app, "show")
def show(session: CommandSession, issue_id: IssueId) -> None:
    """Show an issue, and all that was said and done about it."""
    with session.reading() as db:
        issue = get_any_issue(db, issue_id)
        commentary = write_commentary(list_remarks(db, [issue])[issue.id])
    about = ", ".join(map(str, issue.image_ids)) or "all images"
    session.show(
        {**_describe(issue), "commentary": commentary},
        f"Issue {issue.id} of order {issue.order_id} ({about}) is {issue.state}.",
        f"{issue.kind}: {issue.detail or DESCRIPTIONS[issue.kind]}",
        f"Wanted: {issue.action}. {issue.action_detail or ''}".rstrip(),
        commentary,
    )


@command(app, "take")
def take(
    session: CommandSession,
    issue_id: IssueId,
    *,
    comment: Annotated[
        str | None, typer.Option(help="A sentence that the merchant can read.")
    ] = None,
) -> None:
    """Begin to work on an issue."""
    with session.system_work() as system:
        issue = take_issue(system, issue_id, comment=comment)
    session.show(_describe(issue), f"Issue {issue_id} is {issue.state}.")


@command(app, "resolve")
def resolve(
    session: CommandSession,
    issue_id: IssueId,
    *,
    reprint: Annotated[
        bool, typer.Option("--reprint", help="Print again what it is about, at no charge.")
    ] = False,
    refund: Annotated[
        int | None,
        typer.Option(
            metavar="AMOUNT",
            min=1,
            max=10**12,
            help="Credit the merchant with this many pence or cents.",
        ),
    ] = None,
    no_action: Annotated[bool, typer.Option("--no-action", help="Do nothing.")] = False,
    comment: Annotated[str, typer.Option(help="A sentence that the merchant can read.")],
) -> None:
    """Settle an issue, in one of three ways."""
    if [reprint, refund is not None, no_action].count(True) != 1:
        raise typer.BadParameter("Give one of --reprint, --refund and --no-action.")
    if reprint:
        issue = _reprint(session, issue_id, comment)
    else:
        with session.system_work() as system:
            if refund is None:
                issue = dismiss_issue(system, issue_id, comment=comment)
            else:
                issue = refund_issue(system, issue_id, refund, comment=comment)
    outcome = "" if issue.reprint_order_id is None else f" Order {issue.reprint_order_id} was made."
    session.show(_describe(issue), f"Issue {issue_id} is {issue.state}.{outcome}")


def _reprint(session: CommandSession, issue_id: int, comment: str) -> Issue:
    with session.system_work() as system:
        plan = plan_reprint(system, issue_id)
    copy_proofs(session.services.files, plan)
    with session.system_work() as system:
        return reprint_issue(system, issue_id, plan, comment=comment)


def _describe(issue: Issue) -> dict[str, Any]:
    return {
        "id": issue.id,
        "orderId": issue.order_id,
        "issue": issue.kind,
        "issueDetail": issue.detail,
        **pick(issue, "action", "action_detail"),
        "affectedImages": issue.image_ids,
        "issueState": issue.state,
        **pick(issue, "resolution", "refund", "reprint_order_id"),
        "created": issue.created_at,
        "lastUpdated": issue.updated_at,
    }
