"""Issues (complaints about orders): their kinds, states and resolutions."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from printworks.errors import WrongState
from printworks.rules.orders import OrderStatus

# The most issues of an order, and remarks of an issue: they are always shown together.
MOST_ON_ORDER: Final = 50
MOST_REMARKS: Final = 100
# The most images that one issue may name.
MOST_IMAGES: Final = 1000


class IssueKind(StrEnum):
    """What is wrong."""

    DAMAGED_ORDER = "DamagedOrder"
    WRONG_FRAME_COLOUR = "WrongFrameColour"
    INCOMPLETE_ORDER = "IncompleteOrder"
    LOST_IN_POST = "LostInPost"
    INCORRECT_ORIENTATION = "IncorrectOrientation"
    INCORRECT_PRINTS = "IncorrectPrints"
    PRINT_DEFECTS = "PrintDefects"
    SLOW_ARRIVAL = "SlowArrival"
    SLOW_DISPATCH = "SlowDispatch"
    SUBMISSION_ERRORS = "SubmissionErrors"
    WRONG_ADDRESS = "WrongAddress"
    UNSPECIFIED = "Unspecified"


class IssueAction(StrEnum):
    """What the merchant wants done about it."""

    REFUND = "Refund"
    REPRINT = "Reprint"
    NO_ACTION = "NoAction"
    OTHER = "Other"


class IssueState(StrEnum):
    """How far an issue has come."""

    OPEN = "Open"
    IN_PROGRESS = "InProgress"
    CLOSED_RESOLVED = "ClosedResolved"
    # The only spelling of it in the contract.
    CANCELLED = "cancelled"


class Resolution(StrEnum):
    """What was done about it."""

    REPRINT = "reprint"
    REFUND = "refund"
    NO_ACTION = "no-action"


class Author(StrEnum):
    """Who says something about an issue."""

    MERCHANT = "merchant"
    SERVICE = "service"


DESCRIPTIONS: Final[Mapping[IssueKind, str]] = {
    IssueKind.DAMAGED_ORDER: "The order arrived damaged.",
    IssueKind.WRONG_FRAME_COLOUR: "The frame has the wrong colour.",
    IssueKind.INCOMPLETE_ORDER: "Something is missing from the order.",
    IssueKind.LOST_IN_POST: "The order was lost in the post.",
    IssueKind.INCORRECT_ORIENTATION: "A picture was printed the wrong way round.",
    IssueKind.INCORRECT_PRINTS: "The prints are not those that were ordered.",
    IssueKind.PRINT_DEFECTS: "The prints have defects.",
    IssueKind.SLOW_ARRIVAL: "The order arrived late.",
    IssueKind.SLOW_DISPATCH: "The order was sent late.",
    IssueKind.SUBMISSION_ERRORS: "The order could not be submitted as it should.",
    IssueKind.WRONG_ADDRESS: "The order went to the wrong address.",
    IssueKind.UNSPECIFIED: "Something else is wrong.",
}

ACTION_DESCRIPTIONS: Final[Mapping[IssueAction, str]] = {
    IssueAction.REFUND: "The merchant wants money back.",
    IssueAction.REPRINT: "The merchant wants it printed again.",
    IssueAction.NO_ACTION: "Nothing needs to be done.",
    IssueAction.OTHER: "The merchant wants something else.",
}

_S = IssueState

ISSUE_MOVES: Final[Mapping[IssueState, frozenset[IssueState]]] = {
    _S.OPEN: frozenset({_S.IN_PROGRESS, _S.CANCELLED}),
    _S.IN_PROGRESS: frozenset({_S.CLOSED_RESOLVED, _S.CANCELLED}),
    # The resolution is not undone.
    _S.CLOSED_RESOLVED: frozenset({_S.CANCELLED}),
    _S.CANCELLED: frozenset(),
}

# Issues that an operator still has to resolve.
UNSETTLED: Final = frozenset({_S.OPEN, _S.IN_PROGRESS})

# While these last, something is printed, and the merchant pays for it.
CHARGED: Final = frozenset({OrderStatus.SUBMITTED, OrderStatus.COMPLETE})


def check_issue_move(now_at: IssueState, wanted: IssueState) -> None:
    """Refuse a move that the table does not have."""
    if wanted is now_at:
        raise WrongState(f"The issue is {now_at} already.")
    if wanted not in ISSUE_MOVES[now_at]:
        raise WrongState(f"An issue that is {now_at} cannot become {wanted}.")


def check_settling(now_at: IssueState) -> None:
    """Refuse to resolve an issue that is closed."""
    if now_at not in UNSETTLED:
        check_issue_move(now_at, IssueState.CLOSED_RESOLVED)


def check_opening(present: int) -> None:
    """Refuse one issue too many; the status of the order does not matter."""
    if present >= MOST_ON_ORDER:
        raise WrongState(f"The order has {present} issues already; add a comment to one of them.")


def check_comment(present: int) -> None:
    """Refuse one comment too many."""
    if present >= MOST_REMARKS:
        raise WrongState(f"The issue has {present} remarks already and can have no more.")


class Remark(msgspec.Struct, frozen=True):
    """A comment on an issue, a change of its state, or both."""

    at: datetime
    author: Author
    # The state before and after; the first remark has none before.
    was: IssueState | None
    state: IssueState | None
    comment: str | None


_NAMES: Final[Mapping[Author, str]] = {Author.MERCHANT: "Merchant", Author.SERVICE: "Service"}


def write_commentary(remarks: Iterable[Remark]) -> str:
    """Format all remarks on an issue as one text, oldest first."""
    return "\n".join(line for remark in remarks for line in _write_lines(remark))


def _write_lines(remark: Remark) -> list[str]:
    begin = f"{remark.at:%Y-%m-%d %H:%M:%S} {_NAMES[remark.author]}:"
    lines = []
    if remark.state is not None and remark.was is None:
        lines.append(f"{begin} Issue created.")
    elif remark.state is not None:
        lines.append(f"{begin} State changed from {remark.was} to {remark.state}.")
    if remark.comment:
        # On one line, so that a comment cannot imitate remarks of others.
        lines.append(f"{begin} {' '.join(remark.comment.split())}")
    return lines


def check_not_compensated(*, is_compensated: bool) -> None:
    """Refuse to change the charge of a compensated order: it would be refunded twice."""
    if is_compensated:
        raise WrongState(
            "This order was refunded or reprinted for an issue, so it can no longer be cancelled "
            "and its shipping can no longer be changed."
        )


def check_charged(status: OrderStatus) -> None:
    """Refuse to compensate for an order that costs the merchant nothing in this status."""
    if status not in CHARGED:
        raise WrongState(
            f"The order is {status}: nothing is charged or printed for it, so there is nothing "
            "to refund and nothing to print again."
        )


def check_refund(amount: int, *, left: int, currency: str) -> None:
    """Refuse a refund of nothing, or of more than is left of what was charged."""
    if left <= 0:
        message = "Nothing is left of what was charged for the order, so nothing can be refunded."
        raise WrongState(message)
    if not 1 <= amount <= left:
        message = f"Between 0.01 and {left / 100:,.2f} {currency} can be refunded for the order."
        raise WrongState(message)


def check_account_currency(charged_in: str, kept_in: str) -> None:
    """Refuse to credit an amount of one currency to an account that is kept in another by now."""
    if charged_in != kept_in:
        raise WrongState(
            f"The order was charged in {charged_in}, and the account is kept in {kept_in} by now. "
            f"Post a credit in {kept_in} by hand, and close the issue without action."
        )


def describe_outcome(
    *, refund: int | None = None, currency: str = "", reprint: int | None = None
) -> str:
    """Return what was done about an issue, for the merchant."""
    if reprint is not None:
        return f"Order {reprint} prints it again at no charge."
    if refund is not None:
        return f"{refund / 100:,.2f} {currency} went to the balance."
    return "Nothing was done."
