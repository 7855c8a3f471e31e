"""The table of erasers: for each subject, what removes it from the database.

Whatever else comes to store something about recipients adds a subject and a line here. An eraser
changes rows in the caller's transaction, may run again, and names the files that are to go.
"""

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from printworks.actions.work import Work
from printworks.rules.privacy import ORDER_FIELDS, Subject
from printworks.rules.reasons import blank_reasons
from printworks.store.accounts.privacy import erasers as store
from printworks.store.accounts.privacy.erasers import Erased
from printworks.store.images.packing_slips import drop_packing_slip, find_packing_slip
from printworks.store.orders.orders import Order, update_order
from printworks.wire.erasing import blank_answer

Eraser: TypeAlias = Callable[[Work, Order], Erased]


def _erase_recipient(work: Work, order: Order) -> Erased:
    known = [name for name in ORDER_FIELDS if getattr(order, name) is not None]
    # Also if nothing is known: the new version tells readers that images or shipments changed.
    values: dict[str, object] = dict.fromkeys(ORDER_FIELDS)
    update_order(work.db, order, {**values, "reasons": blank_reasons(order.reasons)})
    store.mark_erased(work.db, order.id, now=work.real_now)
    return Erased(len(known))


def _erase_packing_slip(work: Work, order: Order) -> Erased:
    if find_packing_slip(work.db, order.id) is None:
        return Erased(0)
    file = drop_packing_slip(work.db, order.id)
    return Erased(1, [] if file is None else [file])


def _erase_tracking(work: Work, order: Order) -> Erased:
    shipments = store.erase_shipments(work.db, order.id)
    return Erased(shipments + store.erase_events(work.db, order.id))


def _erase_answers(work: Work, order: Order) -> Erased:
    return Erased(store.erase_answers(work.db, order.merchant_id, order.id, blank_answer))


def _erase_mails(work: Work, order: Order) -> Erased:
    told = store.erase_told(work.db, order.merchant_id, order.id)
    return Erased(told + store.erase_mails(work.db, order.id))


ERASERS: Final[Mapping[Subject, Eraser]] = {
    Subject.RECIPIENT: _erase_recipient,
    Subject.TRACKING: _erase_tracking,
    Subject.PACKING_SLIP: _erase_packing_slip,
    Subject.PICTURES: lambda work, order: store.erase_pictures(work.db, order.id),
    Subject.PROOFS: lambda work, order: store.erase_proofs(work.db, order.id),
    Subject.ISSUES: lambda work, order: Erased(store.erase_issues(work.db, order.id)),
    Subject.PHOTOS: lambda work, order: store.erase_photos(work.db, order.id),
    Subject.CALLBACKS: lambda work, order: Erased(store.erase_callback_answers(work.db, order.id)),
    Subject.ANSWERS: _erase_answers,
    Subject.JOBS: lambda work, order: Erased(store.erase_jobs(work.db, order.id)),
    Subject.PAYMENTS: lambda work, order: Erased(store.erase_payments(work.db, order.id)),
    Subject.MAILS: _erase_mails,
    Subject.FILE_ROWS: lambda work, order: Erased(
        store.erase_lot_lines(work.db, order.merchant_id, order.merchant_order_id)
    ),
    Subject.REQUESTS: lambda work, order: Erased(store.erase_requests(work.db, order.id)),
}
