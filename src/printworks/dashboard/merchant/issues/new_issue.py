"""The form with which a merchant opens an issue."""

import re
from typing import Final

from starlette.responses import Response

from printworks.actions.issues.issues import open_issue
from printworks.actions.issues.photos import MOST_PHOTOS
from printworks.dashboard.shared.issue_photos import receive_photos
from printworks.dashboard.shared.labels import ISSUE_ACTIONS, ISSUE_KINDS
from printworks.dashboard.shared.order_images import describe_image
from printworks.dashboard.site.forms import Sent, read_choice, read_number
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import BadInput, NotFound
from printworks.rules.issues import MOST_IMAGES, IssueAction, IssueKind
from printworks.rules.people import Duty
from printworks.store.images.images import list_images_to_show
from printworks.store.issues.issues import NewIssue
from printworks.store.orders.orders import get_order, get_order_to_change
from printworks.store.orders.search import OrderSearch, search_orders

# So many images have a box to tick; the others are named by their numbers. A form may not have
# many more fields.
_MOST_BOXES: Final = 36
_NEWEST_ORDERS: Final = 10
LONGEST: Final = 2000


@page_at("/issues/new", duty=Duty.ORDER)
def show_new_issue(visit: MerchantVisit) -> Response:
    """Show the form of a new issue, or first ask for the order."""
    if not visit.query.get("order", "").strip():
        return _ask_for_order(visit)
    try:
        order = get_order(visit.db, visit.merchant.id, _read_order(visit))
    except NotFound:
        return _ask_for_order(visit, "You have no order with this number.")
    images = list_images_to_show(visit.db, order.id)
    sent = visit.sent
    return visit.render(
        "merchant/new_issue.html",
        order=order,
        images=[
            describe_image(
                image, order, visit.services.catalogue, visit.links, visit.services.sharpness
            )
            for image in images[:_MOST_BOXES]
        ],
        chosen_images={
            read_number(text) for text in sent.texts("images") or [visit.query.get("image", "")]
        },
        image_count=len(images),
        kinds=list(ISSUE_KINDS.items()),
        actions=list(ISSUE_ACTIONS.items()),
        chosen_action=sent.text("action") or IssueAction.REPRINT,
        longest=LONGEST,
        most_photos=MOST_PHOTOS,
    )


def _ask_for_order(visit: MerchantVisit, wrong: str = "") -> Response:
    newest = search_orders(
        visit.db, visit.merchant.id, OrderSearch(), before=None, limit=_NEWEST_ORDERS
    )
    return visit.render(
        "merchant/new_issue_order.html",
        status=404 if wrong else 200,
        wrong=wrong,
        typed=visit.query.get("order", ""),
        orders=newest.orders,
    )


def _read_order(visit: MerchantVisit) -> int:
    number = read_number(visit.query.get("order", "").strip().removeprefix("#"))
    if number is None:
        raise NotFound("There is no such order.")
    return number


@show_new_issue.action("open-issue", "The issue was opened. We will reply here.", alone=True)
def open_one(visit: MerchantVisit) -> str:
    """Open an issue with its photos: all of it or nothing."""
    database, merchant = visit.services.database, visit.merchant
    with database.reading() as db:
        order = get_order(db, merchant.id, _read_order(visit))
    new = _read_issue(visit.sent)
    photos = receive_photos(visit, present=0)
    with database.writing() as db:
        order = get_order_to_change(db, merchant.id, order.id)
        issue = open_issue(visit.work_in(db), order, new)
        photos.join(db, visit, issue)
        visit.remember(db, f"/issues/{issue.id}")
    return f"/issues/{issue.id}"


def _read_issue(sent: Sent) -> NewIssue:
    kind = read_choice(IssueKind, sent.text("kind"), "Choose what is wrong.", field="kind")
    wanted = "Choose what should be done about it."
    action = read_choice(IssueAction, sent.text("action"), wanted, field="action")
    detail = read_text(sent, "detail", "Details")
    if kind is IssueKind.UNSPECIFIED and not detail:
        raise BadInput("Describe what happened.", field="detail")
    action_detail = read_text(sent, "action_detail", "More about your request")
    if action is IssueAction.OTHER and not action_detail:
        raise BadInput("Describe what should be done about it.", field="action_detail")
    return NewIssue(
        kind=kind,
        action=action,
        detail=detail or None,
        action_detail=action_detail or None,
        image_ids=_read_images(sent),
    )


def read_text(sent: Sent, name: str, label: str) -> str:
    """Return the text of a field; raise `BadInput` if it is too long."""
    text = sent.text(name)
    if len(text) > LONGEST:
        raise BadInput(f"“{label}” can have at most {LONGEST} characters.", field=name)
    return text


def _read_images(sent: Sent) -> list[int]:
    others = re.split(r"[\s,;]+", sent.text("more_images"))
    named = [*sent.texts("images"), *(text for text in others if text)]
    numbers = [number for text in named if (number := read_number(text)) is not None]
    if len(named) > MOST_IMAGES or len(numbers) < len(named):
        raise BadInput("Enter the numbers of images, separated by commas.", field="images")
    # Named twice is meant once.
    return list(dict.fromkeys(numbers))
