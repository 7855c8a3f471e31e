"""Work in lots: many orders made from a file, or the same done to many orders."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from printworks.errors import WrongState


class LotKind(StrEnum):
    """What a lot does with its lines."""

    IMPORT = "import"
    SUBMIT = "submit"
    CANCEL = "cancel"


class LotState(StrEnum):
    """How far a lot has come: looked at → under way → done."""

    CHECKED = "checked"
    RUNNING = "running"
    DONE = "done"


class LineState(StrEnum):
    """What became of a line of a lot."""

    READY = "ready"
    # Something in the file is wrong: nothing is done with it.
    BAD = "bad"
    # Its order exists, and is still to be submitted.
    CREATED = "created"
    DONE = "done"
    REFUSED = "refused"


# Something is still to be done with these.
UNFINISHED: Final = (LineState.READY, LineState.CREATED)
# Few enough that a worker that stops need not wait long for the end of a step.
LINES_AT_ONCE: Final = 25


class LineProblem(msgspec.Struct, frozen=True):
    """What is wrong with a line: the row of the spreadsheet, the column, and a sentence."""

    row: int
    column: str
    sentence: str


class LotTotals(msgspec.Struct, frozen=True):
    """What the good orders of a file come to, without shipping."""

    images: int = 0
    copies: int = 0
    amount: int = 0


class LotProgress(msgspec.Struct, frozen=True):
    """How many lines of a lot are in which state."""

    counts: Mapping[LineState, int]

    def count(self, *states: LineState) -> int:
        """Return how many lines are in one of these states."""
        return sum(self.counts.get(state, 0) for state in states)

    @property
    def total(self) -> int:
        """All lines with which something is, or was, to be done."""
        return sum(self.counts.values()) - self.count(LineState.BAD)

    @property
    def finished(self) -> int:
        """Those of them with which nothing more happens."""
        return self.count(LineState.DONE, LineState.REFUSED)


def may_start(state: LotState, *, good: int) -> bool:
    """Say whether a lot is still to be started; refuse one with nothing to do."""
    if state is not LotState.CHECKED:
        return False
    if not good:
        raise WrongState(
            "No order of the file can be created. Correct its rows, and upload it again."
        )
    return True
