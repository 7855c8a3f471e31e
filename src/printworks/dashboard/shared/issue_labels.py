"""The labels of issues, for merchants and operators."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from printworks.dashboard.shared.labels import Label
from printworks.rules.issues import Author, IssueAction, IssueKind, IssueState, Remark

KINDS: Final[Mapping[IssueKind, str]] = {
    IssueKind.DAMAGED_ORDER: "Arrived damaged",
    IssueKind.WRONG_FRAME_COLOUR: "Wrong frame colour",
    IssueKind.INCOMPLETE_ORDER: "Incomplete order",
    IssueKind.LOST_IN_POST: "Lost in transit",
    IssueKind.INCORRECT_ORIENTATION: "Printed the wrong way round",
    IssueKind.INCORRECT_PRINTS: "Not what was ordered",
    IssueKind.PRINT_DEFECTS: "Defects in the print",
    IssueKind.SLOW_ARRIVAL: "Arrived late",
    IssueKind.SLOW_DISPATCH: "Dispatched late",
    IssueKind.SUBMISSION_ERRORS: "Could not be submitted",
    IssueKind.WRONG_ADDRESS: "Sent to the wrong address",
    IssueKind.UNSPECIFIED: "Something else",
}

ACTIONS: Final[Mapping[IssueAction, str]] = {
    IssueAction.REPRINT: "A reprint",
    IssueAction.REFUND: "Refund",
    IssueAction.OTHER: "Something else",
    IssueAction.NO_ACTION: "Nothing (for your information)",
}

STATES: Final[Mapping[IssueState, Label]] = {
    IssueState.OPEN: Label("Open", "warn"),
    IssueState.IN_PROGRESS: Label("In progress", "warn"),
    IssueState.CLOSED_RESOLVED: Label("Resolved", "ok"),
    IssueState.CANCELLED: Label("Cancelled"),
}

_MOVES: Final[Mapping[IssueState, str]] = {
    IssueState.OPEN: "opened the issue",
    IssueState.IN_PROGRESS: "started working on it",
    IssueState.CLOSED_RESOLVED: "resolved the issue",
    IssueState.CANCELLED: "cancelled the issue",
}


def describe_remark(remark: Remark, *, names: Mapping[Author, str]) -> str:
    """Say who did what, such as `You opened the issue`."""
    what = "said" if remark.state is None else _MOVES[remark.state]
    return f"{names[remark.author]} {what}"


def describe_age(age: timedelta) -> str:
    """Say how long ago something was, in one or two words."""
    if age.days < 1:
        return "Today" if age < timedelta(hours=12) else "Since yesterday"
    return "1 day" if age.days == 1 else f"{age.days} days"
