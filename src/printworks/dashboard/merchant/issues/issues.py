"""The issues of a merchant: the list, one issue, and its form actions."""

from collections.abc import Mapping, Sequence
from typing import Final

from starlette.responses import Response

from printworks.actions.issues.issues import update_issue
from printworks.actions.issues.photos import MOST_PHOTOS
from printworks.dashboard.merchant.account.months import Month
from printworks.dashboard.merchant.issues import new_issue
from printworks.dashboard.merchant.issues.new_issue import read_text
from printworks.dashboard.shared.ages import describe_age
from printworks.dashboard.shared.issue_photos import receive_photos, send_photo
from printworks.dashboard.shared.order_images import describe_image
from printworks.dashboard.shared.paging import cut
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import BadInput
from printworks.rules.issues import DESCRIPTIONS, UNSETTLED, IssueState
from printworks.store.images.images import Image, list_images_to_show
from printworks.store.issues.issues import Issue, get_issue, list_remarks
from printworks.store.issues.lists import IssueLine, list_issue_lines
from printworks.store.issues.photos import count_photos, list_photos
from printworks.store.orders.orders import get_order, get_order_to_change

_LINES: Final = 25
# So many of its images are shown with an issue, and so many of the remarks at first.
_MOST_TILES: Final = 24
_LATEST: Final = 25


@page_at("/issues")
def show_issues(visit: MerchantVisit) -> Response:
    """Show open issues, and closed ones."""
    waiting, older = _list_lines(visit, "before", is_settled=False)
    settled, older_settled = _list_lines(visit, "settled", is_settled=True)
    return visit.render(
        "merchant/issues.html",
        waiting=waiting,
        settled=settled,
        pages=visit.pages(older),
        settled_pages=visit.pages(older_settled, by="settled"),
        ages={line.issue.id: describe_age(visit.now - line.issue.created_at) for line in waiting},
        thumbnails=_find_thumbnails(visit, [*waiting, *settled]),
    )


def _list_lines(
    visit: MerchantVisit, cursor: str, *, is_settled: bool
) -> tuple[Sequence[IssueLine], int | None]:
    found = list_issue_lines(
        visit.db,
        visit.merchant.id,
        is_settled=is_settled,
        before=visit.cursor(cursor),
        limit=_LINES + 1,
    )
    shown, last = cut(found, _LINES)
    return shown, last.issue.id if last else None


def _find_thumbnails(visit: MerchantVisit, lines: Sequence[IssueLine]) -> Mapping[int, str]:
    """Return a picture of each issue: the first that it is about."""
    links = visit.links
    firsts = {line.issue.id: [*line.issue.image_ids, line.first_image][0] for line in lines}
    return {issue: links.proofs(image)[1] for issue, image in firsts.items() if image}


@page_at("/issues/{id}")
def show_issue(visit: MerchantVisit) -> Response:
    """Show an issue with its images, remarks and outcome."""
    issue = get_issue(visit.db, visit.merchant.id, visit.number("id"))
    order = get_order(visit.db, visit.merchant.id, issue.order_id)
    remarks = list_remarks(visit.db, [issue])[issue.id]
    photos = list_photos(visit.db, issue)
    etag = visit.etag(issue.state, len(remarks), len(photos))
    images = _choose_images(issue, list_images_to_show(visit.db, order.id))
    first = 0 if visit.query.get("all") else max(len(remarks) - _LATEST, 0)
    return visit.render(
        "merchant/issue.html",
        issue=issue,
        order=order,
        etag=etag,
        description=DESCRIPTIONS[issue.kind],
        is_unsettled=issue.state in UNSETTLED,
        remarks=remarks[first:],
        left_out=first,
        photos=photos,
        room=MOST_PHOTOS - len(photos),
        images=[
            describe_image(
                image, order, visit.services.catalogue, visit.links, visit.services.sharpness
            )
            for image in images[:_MOST_TILES]
        ],
        more_images=max(len(images) - _MOST_TILES, 0),
        statement=f"/account?month={Month.of(issue.updated_at)}",
        currency=order.currency or visit.merchant.currency,
        longest=new_issue.LONGEST,
    )


def _choose_images(issue: Issue, images: Sequence[Image]) -> Sequence[Image]:
    if not issue.image_ids:
        return images
    named = set(issue.image_ids)
    return [image for image in images if image.id in named]


@page_at("/issues/{id}/photos/{photo}")
def show_photo(visit: MerchantVisit) -> Response:
    return send_photo(visit, get_issue(visit.db, visit.merchant.id, visit.number("id")))


@show_issue.action("answer-issue", "Your reply was added.", alone=True)
def answer_issue(visit: MerchantVisit) -> None:
    """Reply to an issue, perhaps with photos."""
    database, merchant = visit.services.database, visit.merchant
    with database.reading() as db:
        issue = get_issue(db, merchant.id, visit.number("id"))
        present = count_photos(db, issue)
    comment = read_text(visit.sent, "comment", "Message")
    photos = receive_photos(visit, present=present)
    if not comment and not photos.drawn:
        raise BadInput("Write something, or choose a photo.", field="comment")
    if not comment:
        count = len(photos.drawn)
        comment = "Here is a photo." if count == 1 else f"Here are {count} photos."
    with database.writing() as db:
        get_order_to_change(db, merchant.id, issue.order_id)
        # Read again: another transaction may have held the order and changed it.
        issue = get_issue(db, merchant.id, issue.id)
        update_issue(visit.work_in(db), issue, comment=comment)
        photos.join(db, visit, issue)
        visit.remember(db)


@show_issue.action("cancel-issue", "The issue was cancelled.")
def cancel_issue(visit: MerchantVisit) -> None:
    issue = get_issue(visit.db, visit.merchant.id, visit.number("id"))
    get_order_to_change(visit.db, visit.merchant.id, issue.order_id)
    # Read again: another transaction may have held the order and changed it.
    issue = get_issue(visit.db, visit.merchant.id, issue.id)
    reason = read_text(visit.sent, "reason", "Why")
    update_issue(visit.work, issue, wanted=IssueState.CANCELLED, comment=reason or None)
