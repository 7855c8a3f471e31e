"""The form actions of an issue: take it, reply, and resolve it in one of three ways."""

from typing import Final

from printworks.actions.issues.issues import (
    answer_issue,
    dismiss_issue,
    refund_issue,
    reprint_issue,
    take_issue,
)
from printworks.actions.issues.reprints import copy_proofs, delete_proofs, plan_reprint
from printworks.dashboard.shared.money import read_money
from printworks.dashboard.site.forms import read_number
from printworks.dashboard.site.router import FormAction
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput, ServiceError, ServiceUnavailable
from printworks.files.errors import FileMissing, FilesUnavailable
from printworks.rules.people import Duty
from printworks.store.accounts.merchants import get_merchant
from printworks.store.console.orders import get_any_order
from printworks.store.images.images import list_images
from printworks.store.issues.issues import get_any_issue
from printworks.store.issues.reprints import Copies

LONGEST_COMMENT: Final = 5000


def take(visit: ConsoleVisit) -> str:
    """Start working on an issue."""
    comment = _read_comment(visit) or None
    take_issue(visit.system_work, visit.number("id"), comment=comment)
    return visit.path


def answer(visit: ConsoleVisit) -> str:
    """Reply to the merchant."""
    answer_issue(visit.system_work, visit.number("id"), _read_comment(visit))
    return visit.path


def dismiss(visit: ConsoleVisit) -> str:
    """Close an issue without action, with a reason."""
    dismiss_issue(visit.system_work, visit.number("id"), comment=_read_comment(visit))
    return visit.path


def refund(visit: ConsoleVisit) -> str:
    """Refund an amount to the merchant's balance."""
    number = visit.number("id")
    order = get_any_order(visit.db, get_any_issue(visit.db, number).order_id)
    currency = order.currency or get_merchant(visit.db, order.merchant_id).currency
    amount = read_money(visit.sent.text("amount"), currency)
    refund_issue(visit.system_work, number, amount, comment=_read_comment(visit))
    return visit.path


def reprint(visit: ConsoleVisit) -> str:
    """Reprint images at no charge.

    The proofs are copied between two transactions; those of a reprint that does not come about
    are removed again.
    """
    database, number = visit.services.database, visit.number("id")
    chosen = _read_images(visit)
    comment = _read_comment(visit)
    if not comment:
        raise BadInput("Give a comment: a sentence for the merchant.")
    with database.writing() as db:
        copies = plan_reprint(visit.system_work_in(db), number, only=chosen)
    try:
        copy_proofs(visit.services.files, copies)
        with database.writing() as db:
            reprint_issue(visit.system_work_in(db), number, copies, comment=comment)
    except ServiceError:
        _drop(visit, copies)
        raise
    except (FileMissing, FilesUnavailable) as error:
        _drop(visit, copies)
        message = "The pictures are temporarily unavailable. Try again, or refund instead."
        raise ServiceUnavailable(message) from error
    return visit.path


def _drop(visit: ConsoleVisit, copies: Copies) -> None:
    try:
        delete_proofs(visit.services.files, copies)
    except FilesUnavailable:
        # Files that nothing names are swept later.
        return


def _read_images(visit: ConsoleVisit) -> list[int]:
    chosen = visit.sent.texts("image")
    numbers = [number for text in chosen if (number := read_number(text)) is not None]
    if not numbers:
        raise BadInput("Choose at least one image to reprint.")
    with visit.services.database.reading() as db:
        issue = get_any_issue(db, visit.number("id"))
        theirs = {image.id for image in list_images(db, issue.order_id)}
    if not theirs.issuperset(numbers):
        raise BadInput("Choose images of this order only.")
    return numbers


def _read_comment(visit: ConsoleVisit) -> str:
    comment = visit.sent.text("comment")
    if len(comment) > LONGEST_COMMENT:
        raise BadInput(f"A comment can have at most {LONGEST_COMMENT} characters.")
    return comment


FORM_ACTIONS: Final[tuple[FormAction[ConsoleVisit], ...]] = (
    FormAction("issue-take", take, "The issue is in progress.", duty=Duty.SUPPORT),
    FormAction("issue-answer", answer, "Your reply was sent to the merchant.", duty=Duty.SUPPORT),
    FormAction(
        "issue-reprint", reprint, "A free reprint was ordered.", duty=Duty.SUPPORT, alone=True
    ),
    FormAction(
        "issue-refund",
        refund,
        "The refund was credited to the merchant's balance.",
        duty=Duty.SUPPORT,
    ),
    FormAction("issue-dismiss", dismiss, "The issue was closed.", duty=Duty.SUPPORT),
)
