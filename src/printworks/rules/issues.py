"""Issues, which are complaints about orders: what they are about, and how they come to an end."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from printworks.errors import WrongState
from printworks.rules.orders import OrderStatus

# The most issues that one order may have, and remarks that one issue may have: whoever shows
# them shows all of them.
MOST_ON_ORDER: Final = 50
MOST_REMARKS: Final = 100


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

# Read a line as: an issue here ... may move to any of these.
ISSUE_MOVES: Final[Mapping[IssueState, frozenset[IssueState]]] = {
    _S.OPEN: frozenset({_S.IN_PROGRESS, _S.CANCELLED}),
    _S.IN_PROGRESS: frozenset({_S.CLOSED_RESOLVED, _S.CANCELLED}),
    # What was done about it stays done.
    _S.CLOSED_RESOLVED: frozenset({_S.CANCELLED}),
    _S.CANCELLED: frozenset(),
}

# What somebody still has to look into.
UNSETTLED: Final = frozenset({_S.OPEN, _S.IN_PROGRESS})

# An order that was never handed in can only have failed to be.
_HANDED_IN: Final = frozenset({OrderStatus.SUBMITTED, OrderStatus.COMPLETE, OrderStatus.CANCELLED})
# While these last, something is printed, and the merchant pays for it.
CHARGED: Final = frozenset({OrderStatus.SUBMITTED, OrderStatus.COMPLETE})


def check_issue_move(now_at: IssueState, wanted: IssueState) -> None:
    """Refuse a move the table does not list."""
    if wanted is now_at:
        raise WrongState(f"The issue is {now_at} already.")
    if wanted not in ISSUE_MOVES[now_at]:
        raise WrongState(f"An issue that is {now_at} cannot become {wanted}.")


def check_settling(now_at: IssueState) -> None:
    """Refuse to do something about an issue that has come to its end."""
    if now_at not in UNSETTLED:
        check_issue_move(now_at, IssueState.CLOSED_RESOLVED)


def check_opening(kind: IssueKind, status: OrderStatus, *, present: int) -> None:
    """Refuse an issue that an order in this status cannot have, or one too many."""
    if kind is not IssueKind.SUBMISSION_ERRORS and status not in _HANDED_IN:
        message = (
            f"An order that is {status} can only have the issue {IssueKind.SUBMISSION_ERRORS}, "
            f"not {kind}: nothing was printed yet."
        )
        raise WrongState(message)
    if present >= MOST_ON_ORDER:
        raise WrongState(f"The order has {present} issues already; add a comment to one of them.")


def check_comment(present: int) -> None:
    """Refuse one comment too many."""
    if present >= MOST_REMARKS:
        raise WrongState(f"The issue has {present} remarks already and can have no more.")


class Remark(msgspec.Struct, frozen=True):
    """What was said or done about an issue at one moment."""

    at: datetime
    author: Author
    # Where it went from and to; the first has no state before.
    was: IssueState | None
    state: IssueState | None
    comment: str | None


_NAMES: Final[Mapping[Author, str]] = {
    Author.MERCHANT: "Merchant",
    Author.SERVICE: "Service",
}


def write_commentary(remarks: Iterable[Remark]) -> str:
    """Write all that was said and done about an issue as one text, oldest first."""
    return "\n".join(line for remark in remarks for line in _write_lines(remark))


def _write_lines(remark: Remark) -> list[str]:
    begin = f"{remark.at:%Y-%m-%d %H:%M:%S} {_NAMES[remark.author]}:"
    lines = []
    if remark.state is not None:
        origin = "" if remark.was is None else f"from {remark.was} "
        lines.append(f"{begin} State changed {origin}to {remark.state}.")
    if remark.comment:
        # In one line, so that nobody writes lines of somebody else's.
        lines.append(f"{begin} {' '.join(remark.comment.split())}")
    return lines


def check_not_compensated(*, is_compensated: bool) -> None:
    """Refuse to charge otherwise for what was made good: it would be given back once more."""
    if is_compensated:
        message = (
            "Money was given back for an issue of this order, or it is printed again; "
            "it can no longer be cancelled, or travel otherwise."
        )
        raise WrongState(message)


def check_refund(amount: int, *, left: int, currency: str) -> None:
    """Refuse to give back nothing, or more than is left of what was charged."""
    if left <= 0:
        message = "Nothing is left of what was charged for the order, so nothing can be given back."
        raise WrongState(message)
    if not 1 <= amount <= left:
        message = f"Between 0.01 and {left / 100:,.2f} {currency} can be given back for the order."
        raise WrongState(message)


def tell_outcome(
    *, refund: int | None = None, currency: str = "", reprint: int | None = None
) -> str:
    """Say to the merchant what was done about an issue."""
    if reprint is not None:
        return f"Order {reprint} prints it again at no charge."
    if refund is not None:
        return f"{refund / 100:,.2f} {currency} went to the balance."
    return "Nothing was done."
