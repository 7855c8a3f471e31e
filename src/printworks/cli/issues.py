"""`printworks issue`: what merchants complain about, and settling it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from printworks.cli.options import (
    Data,
    Json,
    load_settings,
    make_console,
    open_database,
    print_json,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from printworks.rules.issues import Remark
    from printworks.settings import Settings
    from printworks.store.engine.database import Database
    from printworks.store.issues.issues import Issue

app = typer.Typer(help="Issues: what merchants complain about.", no_args_is_help=True)

Id = Annotated[int, typer.Argument(metavar="ISSUE", help="The number of the issue.")]


@app.command("list")
def list_issues(
    context: typer.Context,
    *,
    unsettled: Annotated[
        bool, typer.Option("--open", help="Only those that somebody has to look into.")
    ] = False,
    merchant: Annotated[str | None, typer.Option(help="Only those of this merchant.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many at most.")] = 50,
    data: Data = None,
    json: Json = False,
) -> None:
    """List issues, the newest first; with --open, the oldest first."""
    from rich.table import Table

    from printworks.store.accounts.merchants import get_merchant_by_code
    from printworks.store.issues.issues import list_any_issues

    with open_database(load_settings(context, data)) as database, database.reading() as db:
        whose = None if merchant is None else get_merchant_by_code(db, merchant).id
        found = list_any_issues(db, unsettled=unsettled, merchant_id=whose, limit=limit)
    if json:
        print_json([_describe(issue) for issue in found])
        return
    table = Table("issue", "order", "opened", "what", "wants", "state", "outcome", box=None)
    for issue in found:
        table.add_row(
            str(issue.id),
            str(issue.order_id),
            f"{issue.created_at:%Y-%m-%d %H:%M}",
            issue.kind,
            issue.action,
            issue.state,
            issue.resolution or "",
        )
    make_console().print(table if found else "There are none.")


@app.command()
def show(context: typer.Context, issue_id: Id, *, data: Data = None, json: Json = False) -> None:
    """Show an issue, and all that was said and done about it."""
    from printworks.rules.issues import DESCRIPTIONS, write_commentary

    issue, remarks = _read(context, issue_id, data)
    if json:
        print_json({**_describe(issue), "commentary": write_commentary(remarks)})
        return
    console = make_console()
    about = ", ".join(map(str, issue.image_ids)) or "all images"
    console.print(f"Issue {issue.id} of order {issue.order_id} ({about}) is {issue.state}.")
    console.print(f"{issue.kind}: {issue.detail or DESCRIPTIONS[issue.kind]}")
    console.print(f"Wanted: {issue.action}. {issue.action_detail or ''}".rstrip())
    console.print(write_commentary(remarks))


def _read(context: typer.Context, issue_id: int, data: Data) -> "tuple[Issue, Sequence[Remark]]":
    from printworks.store.issues.issues import get_any_issue, list_remarks

    with open_database(load_settings(context, data)) as database, database.reading() as db:
        issue = get_any_issue(db, issue_id)
        return issue, list_remarks(db, [issue])[issue.id]


@app.command()
def take(
    context: typer.Context,
    issue_id: Id,
    *,
    comment: Annotated[
        str | None, typer.Option(help="A sentence that the merchant can read.")
    ] = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """Begin to look into an issue."""
    from printworks.actions.issues.issues import take_issue
    from printworks.clock import system_clock

    with open_database(load_settings(context, data)) as database, database.writing() as db:
        issue = take_issue(db, issue_id, comment=comment, now=system_clock())
    if json:
        print_json(_describe(issue))
        return
    make_console().print(f"Issue {issue_id} is {issue.state}.")


@app.command()
def resolve(
    context: typer.Context,
    issue_id: Id,
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
            help="Credit the merchant with so many pence or cents.",
        ),
    ] = None,
    no_action: Annotated[bool, typer.Option("--no-action", help="Do nothing.")] = False,
    comment: Annotated[str, typer.Option(help="A sentence that the merchant can read.")],
    data: Data = None,
    json: Json = False,
) -> None:
    """Settle an issue, in one of three ways."""
    if [reprint, refund is not None, no_action].count(True) != 1:
        message = "Give one of --reprint, --refund and --no-action."
        raise typer.BadParameter(message)
    settings = load_settings(context, data)
    with open_database(settings) as database:
        if reprint:
            issue = _reprint(settings, database, issue_id, comment)
        else:
            issue = _settle(database, issue_id, refund, comment)
    if json:
        print_json(_describe(issue))
        return
    outcome = "" if issue.reprint_order_id is None else f" Order {issue.reprint_order_id} was made."
    make_console().print(f"Issue {issue_id} is {issue.state}.{outcome}")


def _settle(database: "Database", issue_id: int, refund: int | None, comment: str) -> "Issue":
    from printworks.actions.issues.issues import dismiss_issue, refund_issue
    from printworks.clock import system_clock

    with database.writing() as db:
        if refund is None:
            return dismiss_issue(db, issue_id, comment=comment, now=system_clock())
        return refund_issue(db, issue_id, refund, comment=comment, now=system_clock())


def _reprint(settings: "Settings", database: "Database", issue_id: int, comment: str) -> "Issue":
    from printworks.actions.issues.issues import reprint_issue
    from printworks.actions.issues.reprints import copy_proofs, drop_proofs, plan_reprint
    from printworks.catalogue.opening import open_catalogue
    from printworks.clock import system_clock
    from printworks.errors import ServiceError
    from printworks.files import open_files

    catalogue, files = open_catalogue(settings.catalogue), open_files(settings)
    with database.writing() as db:
        copies = plan_reprint(db, issue_id, now=system_clock())
    copy_proofs(files, copies)
    try:
        with database.writing() as db:
            return reprint_issue(
                db, issue_id, copies, catalogue=catalogue, comment=comment, now=system_clock()
            )
    except ServiceError:
        drop_proofs(files, copies)
        raise


def _describe(issue: "Issue") -> "Mapping[str, Any]":
    return {
        "id": issue.id,
        "orderId": issue.order_id,
        "issue": issue.kind,
        "issueDetail": issue.detail,
        "action": issue.action,
        "actionDetail": issue.action_detail,
        "affectedImages": issue.image_ids,
        "issueState": issue.state,
        "resolution": issue.resolution,
        "refund": issue.refund,
        "reprintOrderId": issue.reprint_order_id,
        "created": issue.created_at,
        "lastUpdated": issue.updated_at,
    }
