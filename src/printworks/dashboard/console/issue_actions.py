"""What an operator does about an issue: takes it, answers, and settles it in one of three ways."""

from typing import Final

from printworks.actions.issues.issues import (
    answer_issue,
    dismiss_issue,
    refund_issue,
    reprint_issue,
    take_issue,
)
from printworks.actions.issues.reprints import copy_proofs, drop_proofs, plan_reprint
from printworks.dashboard.shared.money import format_money, read_money
from printworks.dashboard.site.forms import read_number
from printworks.dashboard.site.router import FormAction
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput, ServiceError, ServiceUnavailable
from printworks.files.errors import FileMissing, FilesUnavailable
from printworks.rules.people import Duty
from printworks.store.accounts.merchants import get_merchant
from printworks.store.console.orders import get_any_order
from printworks.store.images.images import list_images
from printworks.store.issues.issues import Issue, get_any_issue
from printworks.store.issues.reprints import Copies

LONGEST_COMMENT: Final = 5000


def take(visit: ConsoleVisit) -> str:
    """Begin to look into it."""
    comment = _read_comment(visit) or None
    issue = take_issue(visit.db, visit.number("id"), comment=comment, now=visit.real_now)
    return _note(visit, "issue-take", issue)


def answer(visit: ConsoleVisit) -> str:
    """Say something that the merchant reads."""
    issue = answer_issue(visit.db, visit.number("id"), _read_comment(visit), now=visit.real_now)
    return _note(visit, "issue-answer", issue)


def dismiss(visit: ConsoleVisit) -> str:
    """Do nothing about it, and say why."""
    issue = dismiss_issue(
        visit.db, visit.number("id"), comment=_read_comment(visit), now=visit.real_now
    )
    return _note(visit, "issue-dismiss", issue)


def refund(visit: ConsoleVisit) -> str:
    """Give some of the money back."""
    number = visit.number("id")
    order = get_any_order(visit.db, get_any_issue(visit.db, number).order_id)
    currency = order.currency or get_merchant(visit.db, order.merchant_id).currency
    amount = read_money(visit.sent.text("amount"), currency)
    comment = _read_comment(visit)
    issue = refund_issue(visit.db, number, amount, comment=comment, now=visit.real_now)
    return _note(visit, "issue-refund", issue, amount=format_money(amount, currency))


def reprint(visit: ConsoleVisit) -> str:
    """Print images again at no charge.

    The proofs are copied between two transactions; those of a reprint that does not come about
    are removed again.
    """
    database, number = visit.services.database, visit.number("id")
    chosen = _read_images(visit)
    comment = _read_comment(visit)
    if not comment:
        raise BadInput("Give a comment: a sentence for the merchant.")
    with database.writing() as db:
        copies = plan_reprint(db, number, only=chosen, now=visit.real_now)
    try:
        copy_proofs(visit.services.files, copies)
        with database.writing() as db:
            issue = reprint_issue(
                db,
                number,
                copies,
                catalogue=visit.services.catalogue,
                comment=comment,
                now=visit.real_now,
            )
            reprint_id = str(issue.reprint_order_id)
            return _note(visit.within(db), "issue-reprint", issue, reprint=reprint_id)
    except ServiceError:
        _drop(visit, copies)
        raise
    except (FileMissing, FilesUnavailable) as error:
        _drop(visit, copies)
        message = "The pictures cannot be read at the moment; try again, or give money back."
        raise ServiceUnavailable(message) from error


def _drop(visit: ConsoleVisit, copies: Copies) -> None:
    try:
        drop_proofs(visit.services.files, copies)
    except FilesUnavailable:
        # Files that nothing names are swept later.
        return


def _read_images(visit: ConsoleVisit) -> list[int]:
    chosen = visit.sent.texts("image")
    numbers = [number for text in chosen if (number := read_number(text)) is not None]
    if not numbers:
        raise BadInput("Choose at least one image to print again.")
    with visit.services.database.reading() as db:
        issue = get_any_issue(db, visit.number("id"))
        theirs = {image.id for image in list_images(db, issue.order_id)}
    if not theirs.issuperset(numbers):
        raise BadInput("Choose images of this order only.")
    return numbers


def _read_comment(visit: ConsoleVisit) -> str:
    comment = visit.sent.text("comment")
    if len(comment) > LONGEST_COMMENT:
        raise BadInput(f"A comment has at most {LONGEST_COMMENT} characters.")
    return comment


def _note(visit: ConsoleVisit, action: str, issue: Issue, **details: str) -> str:
    visit.note(action, f"issue {issue.id}", merchant_id=issue.merchant_id, **details)
    return visit.path


FORM_ACTIONS: Final[tuple[FormAction[ConsoleVisit], ...]] = (
    FormAction(name="issue-take", take=take, says="The issue is yours now.", duty=Duty.SUPPORT),
    FormAction(
        name="issue-answer", take=answer, says="The merchant can read it.", duty=Duty.SUPPORT
    ),
    FormAction(
        name="issue-reprint",
        take=reprint,
        says="It is printed again at no charge.",
        duty=Duty.SUPPORT,
        alone=True,
    ),
    FormAction(
        name="issue-refund",
        take=refund,
        says="The money went to the merchant's balance.",
        duty=Duty.SUPPORT,
    ),
    FormAction(name="issue-dismiss", take=dismiss, says="The issue is closed.", duty=Duty.SUPPORT),
)
