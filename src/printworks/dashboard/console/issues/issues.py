"""The issues of all merchants: the queue, and one issue."""

from typing import Any, Final

import msgspec
from starlette.responses import Response

from printworks.dashboard.console.issues.issue_actions import FORM_ACTIONS
from printworks.dashboard.console.labels import OUTCOMES, name_state, write_age
from printworks.dashboard.console.production.shipments import LabPrintView, view_print
from printworks.dashboard.shared.issue_labels import ACTIONS, KINDS
from printworks.dashboard.shared.issue_photos import send_photo
from printworks.dashboard.shared.labels import Label
from printworks.dashboard.shared.paging import cut
from printworks.dashboard.site.etag import make_etag
from printworks.dashboard.site.router import Page
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.issues import (
    ACTION_DESCRIPTIONS,
    CHARGED,
    DESCRIPTIONS,
    UNSETTLED,
    IssueState,
)
from printworks.rules.people import Duty
from printworks.store.accounts.merchants import get_merchant
from printworks.store.console.orders import get_any_order
from printworks.store.images.images import list_images
from printworks.store.issues.issues import Issue, get_any_issue, list_remarks, sum_refunds
from printworks.store.issues.lists import QueuedIssue, list_issue_queue
from printworks.store.issues.photos import list_photos
from printworks.store.orders.orders import Order

ROWS: Final = 50
# Images that can be chosen from on one page; of more, those that the issue is about come first.
IMAGES: Final = 48


class IssueListLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the queue."""

    id: int
    order_id: int
    merchant: str
    merchant_code: str
    kind: str
    wanted: str
    state: Label
    outcome: str
    age: str


def show_queue(visit: ConsoleVisit) -> Response:
    """Show open issues, oldest first, or closed ones, newest first."""
    is_settled = visit.query.get("show") == "settled"
    after = visit.cursor("after")
    found = list_issue_queue(visit.db, is_settled=is_settled, after=after, limit=ROWS + 1)
    shown, last = cut(found, ROWS)
    etag = make_etag(found)
    if visit.is_unchanged(etag):
        return Response(status_code=204)
    return visit.render(
        "console/issues.html",
        etag=etag,
        is_settled=is_settled,
        lines=[_view_line(visit, one) for one in shown],
        pages=visit.pages(last.issue.id if last else None, by="after"),
    )


def _view_line(visit: ConsoleVisit, one: QueuedIssue) -> IssueListLine:
    issue = one.issue
    return IssueListLine(
        id=issue.id,
        order_id=issue.order_id,
        merchant=one.merchant,
        merchant_code=one.merchant_code,
        kind=KINDS[issue.kind],
        wanted=ACTIONS[issue.action],
        state=name_state(issue.state),
        outcome=OUTCOMES[issue.resolution] if issue.resolution else "",
        age=write_age(issue.created_at, now=visit.real_now),
    )


def show_issue(visit: ConsoleVisit) -> Response:
    """Show one issue with its remarks, and the ways to resolve it."""
    issue = get_any_issue(visit.db, visit.number("id"))
    photos = list_photos(visit.db, issue)
    etag = make_etag(issue.updated_at, len(photos))
    if visit.is_unchanged(etag):
        return Response(status_code=204)
    order = get_any_order(visit.db, issue.order_id)
    merchant = get_merchant(visit.db, order.merchant_id)
    return visit.render(
        "console/issue.html",
        etag=etag,
        issue=issue,
        state=name_state(issue.state),
        order=order,
        order_state=name_state(order.status),
        merchant=merchant,
        kind=KINDS[issue.kind],
        described=issue.detail or DESCRIPTIONS[issue.kind],
        wanted=ACTIONS[issue.action],
        wanted_more=issue.action_detail or ACTION_DESCRIPTIONS[issue.action],
        outcome=OUTCOMES[issue.resolution] if issue.resolution else "",
        images=_list_images(visit, order, issue),
        photos=photos,
        remarks=list_remarks(visit.db, [issue])[issue.id],
        currency=order.currency or merchant.currency,
        **_find_possible(visit, order, issue),
    )


def _find_possible(visit: ConsoleVisit, order: Order, issue: Issue) -> dict[str, Any]:
    is_unsettled = issue.state in UNSETTLED
    left = order.price - sum_refunds(visit.db, order.id) if order.status in CHARGED else 0
    return {
        "may_support": visit.may(Duty.SUPPORT),
        "can_take": issue.state is IssueState.OPEN,
        "is_unsettled": is_unsettled,
        "can_reprint": is_unsettled and order.status in CHARGED,
        "left": left,
        "can_refund": is_unsettled and left > 0,
    }


def _list_images(
    visit: ConsoleVisit, order: Order, issue: Issue
) -> list[tuple[LabPrintView, bool]]:
    """Return images of the order, each with whether it is ticked; those of the issue first."""
    images = list_images(visit.db, order.id)
    concerned = set(issue.image_ids) or {image.id for image in images}
    ticked = concerned
    if visit.sent.text("do") == "issue-reprint":
        ticked = {image.id for image in images if str(image.id) in visit.sent.texts("image")}
    images.sort(key=lambda image: (image.id not in concerned, image.id))
    catalogue, links = visit.services.catalogue, visit.links
    return [(view_print(image, catalogue, links), image.id in ticked) for image in images[:IMAGES]]


def show_photo(visit: ConsoleVisit) -> Response:
    """Show a photograph of an issue."""
    return send_photo(visit, get_any_issue(visit.db, visit.number("id")))


PAGES: Final[tuple[Page[ConsoleVisit], ...]] = (
    Page("/console/issues", show_queue),
    Page("/console/issues/{id}", show_issue, FORM_ACTIONS),
    Page("/console/issues/{id}/photos/{photo}", show_photo),
)
