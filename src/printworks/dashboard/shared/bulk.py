"""The same action for many: each in a transaction of its own, with a report."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from printworks.dashboard.site.forms import Sent, read_number
from printworks.dashboard.site.visits import Visit
from printworks.errors import BadInput, ServiceError

# As many as a page lists.
MOST_CHOSEN: Final = 50


class BulkReport(msgspec.Struct, frozen=True):
    """What was done, and what was refused and why, in sentences."""

    done: list[str]
    refused: list[str]


def is_choosing(visit: Visit) -> bool:
    """Say whether a list is shown with boxes, and does not refresh itself."""
    return bool(visit.query.get("choose"))


def read_chosen(sent: Sent) -> list[int]:
    """Return the rows that were ticked."""
    numbers = [read_number(text) for text in sent.texts("chosen")]
    chosen = list(dict.fromkeys(number for number in numbers if number is not None))
    if not chosen:
        raise BadInput("Choose at least one line of the list.", field="chosen")
    if len(chosen) > MOST_CHOSEN:
        raise BadInput(f"Choose at most {MOST_CHOSEN} lines at a time.", field="chosen")
    return chosen


def do_each(chosen: Sequence[int], do: Callable[[int], str], *, named: str) -> BulkReport:
    """Do something to each; one that is refused does not stop the others.

    What is done says what became of it, in a sentence.
    """
    report = BulkReport([], [])
    for number in chosen:
        try:
            report.done.append(do(number))
        except ServiceError as refusal:
            report.refused.append(f"{named} {number}: {refusal.message}")
    return report
