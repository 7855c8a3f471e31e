"""Removes what tables know of the recipient of one order; the caller has locked the order."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import Connection, Text, cast, delete, func, null, or_, select, text, update

from printworks.conversion import reader_of
from printworks.rules.events import OrderEvent
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import JobState
from printworks.rules.lots import LineState
from printworks.rules.payments import Payer, PaymentState
from printworks.rules.privacy import blank_event, blank_told
from printworks.store.engine.rows import ROWS_AT_ONCE, read_all
from printworks.store.images.pictures import delete_unused_pictures, print_key, shown_keys
from printworks.store.tables import (
    api_requests,
    callback_attempts,
    callbacks,
    idempotency_keys,
    images,
    issue_photos,
    issue_remarks,
    issues,
    jobs,
    lot_lines,
    lots,
    mails,
    notices,
    order_events,
    orders,
    payment_requests,
    shipments,
)

# Takes the media type and the body of an answer, and returns the body without personal data.
BlankAnswer = Callable[[str, bytes], bytes]

# The simulated lab sends at most this many reports of a job.
_REPORTS: Final = 20
_FINISHED: Final = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)
# Whatever the provider says later, it needs nothing of these any more.
_SETTLED: Final = (
    PaymentState.PAID,
    PaymentState.DECLINED,
    PaymentState.REFUNDED,
    PaymentState.REPAID,
)
UNSETTLED_PAYMENTS: Final = (
    PaymentState.ASKED,
    PaymentState.WAITING,
    PaymentState.REFUNDING,
    # The operator has to reach the payer.
    PaymentState.REFUND_REJECTED,
)

_read_event: Final = reader_of(OrderEvent)


class Erased(NamedTuple):
    """How much was removed, and the files that are to be deleted after the transaction."""

    amount: int
    files: Sequence[str] = ()


def mark_erased(db: Connection, order_id: int, *, now: datetime) -> None:
    """Note that the sweep of old recipients need not look at an order again."""
    db.execute(update(orders).where(orders.c.id == order_id).values(erased_at=now))


def is_being_paid(db: Connection, order_id: int) -> bool:
    """Say whether a payment of an order, or its refund, has no outcome yet."""
    query = select(payment_requests.c.id).where(
        payment_requests.c.order_id == order_id, payment_requests.c.state.in_(UNSETTLED_PAYMENTS)
    )
    return db.execute(query.limit(1)).first() is not None


def erase_shipments(db: Connection, order_id: int) -> int:
    """Remove what leads to a shipment, and what people wrote about it."""
    told = ("tracking_number", "tracking_url", "reason", "held_because")
    changed = db.execute(
        update(shipments)
        .where(
            shipments.c.order_id == order_id,
            or_(*(shipments.c[name].is_not(None) for name in told)),
        )
        .values(dict.fromkeys(told, None))
    )
    return changed.rowcount


def erase_events(db: Connection, order_id: int) -> int:
    """Rewrite the events of an order without what leads to a person."""
    changed = 0
    query = select(order_events.c.id, order_events.c.facts)
    query = query.where(order_events.c.order_id == order_id)
    for event_id, facts in list(read_all(db, query, order_events.c.id)):
        event = _read_event(facts)
        blank = blank_event(event)
        if blank != event:
            values = {"facts": msgspec.to_builtins(blank)}
            db.execute(update(order_events).where(order_events.c.id == event_id).values(values))
            changed += 1
    return changed


def erase_pictures(db: Connection, order_id: int) -> Erased:
    """Detach the pictures of an order's images; delete those that no other image uses."""
    rows = db.execute(
        select(images.c.id, images.c.picture_id, images.c.manifest)
        .where(images.c.order_id == order_id)
        .order_by(images.c.id)
    ).all()
    gone: dict[str, Any] = dict.fromkeys(
        ("url", "name", "expected_md5", "md5", "picture_id", "manifest", "error_message")
    )
    db.execute(update(images).where(images.c.order_id == order_id).values(gone))
    # Also the print file of which nothing is known yet: it may be being rendered now.
    files = [print_key(row.id) for row in rows if row.picture_id is not None or row.manifest]
    used = {row.picture_id for row in rows if row.picture_id is not None}
    for some in _in_pieces(sorted(used)):
        files += delete_unused_pictures(db, some)
    return Erased(len(rows), files)


def erase_proofs(db: Connection, order_id: int) -> Erased:
    """Note that the proofs and mockups of an order's images are gone; return their files."""
    mine = images.c.order_id == order_id
    # Those that failed, or have awaited another file since, may have proofs of an earlier one.
    failed = select(images.c.id).where(mine, images.c.status != ImageStatus.OK)
    left = set(db.execute(failed).scalars())
    shown = (mine, images.c.width.is_not(None))
    drawn = db.execute(select(func.count(images.c.mockup)).where(*shown)).scalar_one()
    changed = db.execute(
        update(images)
        .where(*shown)
        .values(width=None, height=None, mockup=None)
        .returning(images.c.id)
    )
    ids = set(changed.scalars())
    # Also the mockup of which nothing is known yet: it may be being drawn now.
    files = [key for image_id in sorted(ids | left) for key in shown_keys(image_id)]
    return Erased(2 * len(ids) + drawn, files)


def erase_issues(db: Connection, order_id: int) -> int:
    """Remove what was written in the issues of an order; their course stays."""
    mine = select(issues.c.id).where(issues.c.order_id == order_id)
    texts = db.execute(
        update(issues)
        .where(
            issues.c.order_id == order_id,
            or_(issues.c.detail.is_not(None), issues.c.action_detail.is_not(None)),
        )
        .values(detail=None, action_detail=None)
    )
    comments = db.execute(
        update(issue_remarks)
        .where(issue_remarks.c.issue_id.in_(mine), issue_remarks.c.comment.is_not(None))
        .values(comment=None)
    )
    return texts.rowcount + comments.rowcount


def erase_photos(db: Connection, order_id: int) -> Erased:
    """Delete the photos of an order's issues; return their files."""
    mine = select(issues.c.id).where(issues.c.order_id == order_id)
    gone = delete(issue_photos).where(issue_photos.c.issue_id.in_(mine))
    files = list(db.execute(gone.returning(issue_photos.c.file)).scalars())
    return Erased(len(files), files)


def erase_callback_answers(db: Connection, order_id: int) -> int:
    """Remove what receivers answered: it may repeat anything."""
    mine = select(callbacks.c.id).where(callbacks.c.order_id == order_id)
    changed = db.execute(
        update(callback_attempts)
        .where(callback_attempts.c.callback_id.in_(mine), callback_attempts.c.answer != "")
        .values(answer="")
    )
    return changed.rowcount


def erase_answers(db: Connection, merchant_id: int, order_id: int, blank: BlankAnswer) -> int:
    """Blank the answers that wait for repetitions of requests.

    The keys stay: a request that comes again must not create another order.
    """
    rows = db.execute(
        select(
            idempotency_keys.c.key,
            idempotency_keys.c.answer_media_type,
            idempotency_keys.c.answer_body,
        ).where(
            idempotency_keys.c.order_id == order_id,
            idempotency_keys.c.order_id.is_not(None),
            idempotency_keys.c.merchant_id == merchant_id,
        )
    ).all()
    for key, media_type, body in rows:
        db.execute(
            update(idempotency_keys)
            .where(idempotency_keys.c.merchant_id == merchant_id, idempotency_keys.c.key == key)
            .values(answer_body=blank(media_type or "", body or b""))
        )
    return len(rows)


def erase_jobs(db: Connection, order_id: int) -> int:
    """Delete finished jobs whose arguments have addresses of files or tracking numbers."""
    ids = db.execute(select(shipments.c.id).where(shipments.c.order_id == order_id)).scalars()
    keys = [f"report:{shipment}:{number}" for shipment in ids for number in range(_REPORTS)]
    is_finished = jobs.c.state.in_(_FINISHED)
    downloaded = db.execute(delete(jobs).where(jobs.c.order_id == order_id, is_finished))
    count = downloaded.rowcount
    for some in _in_pieces(keys):
        reported = delete(jobs).where(jobs.c.dedupe_key.in_(some), is_finished)
        count += db.execute(reported).rowcount
    return count


def erase_payments(db: Connection, order_id: int) -> int:
    """Remove the pages and reasons of payments and, of a recipient, the customer; keep amounts."""
    mine = payment_requests.c.order_id == order_id
    told = update(payment_requests).where(
        mine, or_(payment_requests.c.url.is_not(None), payment_requests.c.reason.is_not(None))
    )
    pages = db.execute(told.values(url=None, reason=None)).rowcount
    is_named = or_(payment_requests.c.customer != "", payment_requests.c.payment_method != "")
    payers = db.execute(
        update(payment_requests)
        .where(
            mine,
            payment_requests.c.payer == Payer.RECIPIENT,
            payment_requests.c.state.in_(_SETTLED),
            is_named,
        )
        .values(customer="", payment_method="")
    )
    return pages + payers.rowcount


def _in_pieces(values: Iterable[Any]) -> Iterable[Sequence[Any]]:
    listed = list(values)
    for first in range(0, len(listed), ROWS_AT_ONCE):
        yield listed[first : first + ROWS_AT_ONCE]


def erase_mails(db: Connection, order_id: int) -> int:
    """Delete the mails to the recipient; those that wait are not sent."""
    return db.execute(delete(mails).where(mails.c.order_id == order_id)).rowcount


def erase_told(db: Connection, merchant_id: int, order_id: int) -> int:
    """Blank what mails to the merchant's people and to operators tell of an order, and will tell."""
    changed = 0
    for table in (mails, notices):
        written = cast(table.c.facts, Text)
        query = select(table.c.id, table.c.facts).where(
            or_(table.c.merchant_id == merchant_id, table.c.merchant_id.is_(None)),
            # One of the databases writes a space there.
            or_(
                *(
                    written.contains(f'"order":{space}{order_id}{end}', autoescape=True)
                    for space in ("", " ")
                    for end in (",", "}")
                )
            ),
        )
        for number, facts in list(read_all(db, query, table.c.id)):
            items = facts.get("items", [facts])
            blank = [blank_told(item) if item.get("order") == order_id else item for item in items]
            if blank != items:
                told = {**facts, "items": blank} if "items" in facts else blank[0]
                db.execute(update(table).where(table.c.id == number).values(facts=told))
                changed += 1
    return changed


def erase_lot_lines(db: Connection, merchant_id: int, reference: str | None) -> int:
    """Remove the rows of files with this reference from which nothing was made."""
    if not reference:
        # Rows without one are of anybody.
        return 0
    theirs = select(lots.c.id).where(lots.c.merchant_id == merchant_id)
    changed = db.execute(
        update(lot_lines)
        .where(
            lot_lines.c.reference == reference,
            # Spelled as in the index.
            text("cells IS NOT NULL"),
            lot_lines.c.state.in_((LineState.BAD, LineState.REFUSED)),
            lot_lines.c.lot_id.in_(theirs),
        )
        .values(content=null(), cells=null())
    )
    return changed.rowcount


def erase_requests(db: Connection, order_id: int) -> int:
    """Blank what was refused about an order in the request log."""
    told = (api_requests.c.refusal, api_requests.c.body, api_requests.c.answer)
    changed = db.execute(
        update(api_requests)
        .where(api_requests.c.order_id == order_id, or_(*(column.is_not(None) for column in told)))
        .values({column.name: None for column in told})
    )
    return changed.rowcount
