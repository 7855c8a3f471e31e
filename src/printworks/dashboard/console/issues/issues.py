"""The issues of all merchants: the queue, and one issue."""

from enum import StrEnum
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection
from starlette.responses import Response

from printworks.actions.issues.issues import (
    answer_issue,
    dismiss_issue,
    refund_issue,
    reprint_issue,
    take_issue,
)
from printworks.actions.issues.reprints import copy_proofs, plan_reprint
from printworks.dashboard.console.production.shipments import view_print
from printworks.dashboard.shared.bulk import BulkReport, do_each, is_choosing, read_chosen
from printworks.dashboard.shared.issue_photos import send_photo
from printworks.dashboard.shared.money import read_money
from printworks.dashboard.shared.paging import cut
from printworks.dashboard.site.forms import at_field, read_choice, read_number
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput
from printworks.rules.issues import (
    ACTION_DESCRIPTIONS,
    CHARGED,
    DESCRIPTIONS,
    UNSETTLED,
    IssueState,
)
from printworks.rules.people import Duty
from printworks.store.accounts.merchants import get_merchant
from printworks.store.images.images import Image, list_images
from printworks.store.issues.issues import Issue, get_any_issue, list_remarks, sum_refunds
from printworks.store.issues.lists import list_issue_queue
from printworks.store.issues.photos import list_photos
from printworks.store.orders.orders import Order
from printworks.store.views.console.orders import get_any_order

ROWS: Final = 50
# Images that can be chosen from on one page; of more, those that the issue is about come first.
IMAGES: Final = 48
LONGEST_COMMENT: Final = 5000


class IssueBulkAction(StrEnum):
    """What can be done with many issues at once."""

    TAKE = "take"
    DISMISS = "dismiss"


_BULK_ACTIONS: Final = (
    (IssueBulkAction.TAKE.value, "Start work"),
    (IssueBulkAction.DISMISS.value, "Close without action"),
)


@page_at("/console/issues")
def show_queue(visit: ConsoleVisit, report: BulkReport | None = None) -> Response:
    """Show open issues, oldest first, or closed ones, newest first."""
    is_settled = visit.query.get("show") == "settled"
    after = visit.cursor("after")
    found = list_issue_queue(visit.db, is_settled=is_settled, after=after, limit=ROWS + 1)
    shown, last = cut(found, ROWS)
    etag = visit.etag(found)
    return visit.render(
        "console/issues.html",
        etag=etag,
        is_choosing=not is_settled and visit.may(Duty.SUPPORT) and is_choosing(visit),
        bulk_actions=_BULK_ACTIONS if visit.may(Duty.SUPPORT) and not is_settled else (),
        report=report,
        is_settled=is_settled,
        queued=shown,
        pages=visit.pages(last.issue.id if last else None, by="after"),
    )


@show_queue.action("change-issues", duty=Duty.SUPPORT, alone=True)
def change_many(visit: ConsoleVisit) -> Response:
    """Start or close the chosen issues, each in a transaction of its own."""
    bulk_action = read_choice(
        IssueBulkAction,
        visit.sent.text("bulk_action"),
        "Choose what to do with the issues.",
        field="bulk_action",
    )
    chosen, comment = read_chosen(visit.sent), _read_comment(visit)

    def change_one(issue_id: int) -> str:
        with visit.services.database.writing() as db:
            system = visit.system_work_in(db)
            if bulk_action is IssueBulkAction.TAKE:
                take_issue(system, issue_id, comment=comment or None)
                return f"Issue {issue_id} is in progress."
            dismiss_issue(system, issue_id, comment=comment)
            return f"Issue {issue_id} was closed."

    report = do_each(chosen, change_one, named="Issue")
    with visit.services.database.reading() as db:
        return show_queue(visit.within(db), report)


@page_at("/console/issues/{id}")
def show_issue(visit: ConsoleVisit) -> Response:
    """Show one issue with its remarks, and the ways to resolve it."""
    issue = get_any_issue(visit.db, visit.number("id"))
    photos = list_photos(visit.db, issue)
    etag = visit.etag(issue.updated_at, len(photos))
    order = get_any_order(visit.db, issue.order_id)
    merchant = get_merchant(visit.db, order.merchant_id)
    return visit.render(
        "console/issue.html",
        etag=etag,
        issue=issue,
        order=order,
        merchant=merchant,
        described=issue.detail or DESCRIPTIONS[issue.kind],
        wanted_more=issue.action_detail or ACTION_DESCRIPTIONS[issue.action],
        **_list_prints(visit, issue),
        photos=photos,
        remarks=list_remarks(visit.db, [issue])[issue.id],
        currency=order.currency or merchant.currency,
        **_find_possible(visit, order, issue),
    )


def _find_possible(visit: ConsoleVisit, order: Order, issue: Issue) -> dict[str, Any]:
    is_unsettled = issue.state in UNSETTLED
    left = order.total - sum_refunds(visit.db, order.id) if order.status in CHARGED else 0
    return {
        "may_support": visit.may(Duty.SUPPORT),
        "can_take": issue.state is IssueState.OPEN,
        "is_unsettled": is_unsettled,
        "can_reprint": is_unsettled and order.status in CHARGED,
        "left": left,
        "can_refund": is_unsettled and left > 0,
    }


class _Choice(NamedTuple):
    """The images of an order that can be chosen one by one, and those that only come together."""

    shown: list[Image]
    # Of those that the issue is about.
    others: list[Image]


def _choose_from(db: Connection, issue: Issue) -> _Choice:
    images = list_images(db, issue.order_id)
    concerned = set(issue.image_ids) or {image.id for image in images}
    images.sort(key=lambda image: (image.id not in concerned, image.id))
    others = [image for image in images[IMAGES:] if image.id in concerned]
    return _Choice(images[:IMAGES], others)


def _list_prints(visit: ConsoleVisit, issue: Issue) -> dict[str, Any]:
    """Return what the form shows: images with whether each is ticked, and how many others."""
    shown, others = _choose_from(visit.db, issue)
    is_sent = visit.sent.text("do") == "issue-reprint"
    chosen, concerned = visit.sent.texts("image"), issue.image_ids
    catalogue, links = visit.services.catalogue, visit.links
    return {
        "prints": [
            (
                view_print(image, catalogue, links),
                str(image.id) in chosen if is_sent else not concerned or image.id in concerned,
            )
            for image in shown
        ],
        "other_prints": len(others),
        "wants_others": bool(visit.sent.text("others")) or not is_sent,
    }


@page_at("/console/issues/{id}/photos/{photo}")
def show_photo(visit: ConsoleVisit) -> Response:
    return send_photo(visit, get_any_issue(visit.db, visit.number("id")))


@show_issue.action("issue-take", "The issue is in progress.", duty=Duty.SUPPORT)
def take(visit: ConsoleVisit) -> None:
    comment = _read_comment(visit) or None
    take_issue(visit.system_work, visit.number("id"), comment=comment)


@show_issue.action("issue-answer", "Your reply was sent to the merchant.", duty=Duty.SUPPORT)
def answer(visit: ConsoleVisit) -> None:
    answer_issue(visit.system_work, visit.number("id"), _read_comment(visit))


@show_issue.action("issue-dismiss", "The issue was closed.", duty=Duty.SUPPORT)
def dismiss(visit: ConsoleVisit) -> None:
    """Close an issue without action, with a reason."""
    dismiss_issue(visit.system_work, visit.number("id"), comment=_read_comment(visit))


@show_issue.action(
    "issue-refund", "The refund was credited to the merchant's balance.", duty=Duty.SUPPORT
)
def refund(visit: ConsoleVisit) -> None:
    """Refund an amount to the merchant's balance."""
    number = visit.number("id")
    order = get_any_order(visit.db, get_any_issue(visit.db, number).order_id)
    currency = order.currency or get_merchant(visit.db, order.merchant_id).currency
    with at_field("amount"):
        amount = read_money(visit.sent.text("amount"), currency)
    refund_issue(visit.system_work, number, amount, comment=_read_comment(visit))


@show_issue.action("issue-reprint", "A free reprint was ordered.", duty=Duty.SUPPORT, alone=True)
def reprint(visit: ConsoleVisit) -> None:
    """Reprint images at no charge; the proofs are copied between two transactions."""
    database, number = visit.services.database, visit.number("id")
    chosen = _read_images(visit)
    comment = _read_comment(visit)
    if not comment:
        raise BadInput("Give a comment: a sentence for the merchant.", field="comment")
    with database.writing() as db:
        plan = plan_reprint(visit.system_work_in(db), number, only=chosen)
    copy_proofs(visit.services.files, plan)
    with database.writing() as db:
        reprint_issue(visit.system_work_in(db), number, plan, comment=comment)
        visit.remember(db)


def _read_images(visit: ConsoleVisit) -> list[int]:
    with visit.services.database.reading() as db:
        issue = get_any_issue(db, visit.number("id"))
        theirs = {image.id for image in list_images(db, issue.order_id)}
        _, others = _choose_from(db, issue)
    chosen = visit.sent.texts("image")
    numbers = [number for text in chosen if (number := read_number(text)) is not None]
    if visit.sent.text("others"):
        numbers += [image.id for image in others]
    if not numbers:
        raise BadInput("Choose at least one image to reprint.", field="image")
    if not theirs.issuperset(numbers):
        raise BadInput("Choose images of this order only.", field="image")
    return numbers


def _read_comment(visit: ConsoleVisit) -> str:
    comment = visit.sent.text("comment")
    if len(comment) > LONGEST_COMMENT:
        message = f"A comment can have at most {LONGEST_COMMENT} characters."
        raise BadInput(message, field="comment")
    return comment
