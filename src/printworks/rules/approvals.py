"""When money that operators post by hand needs a second look, and a second person."""

from enum import StrEnum

import msgspec

from printworks.errors import BadInput, WrongState


class ApprovalState(StrEnum):
    """What became of an entry that needs a second person."""

    WAITING = "waiting"
    APPROVED = "approved"
    REJECTED = "rejected"


class MoneyTerms(msgspec.Struct, frozen=True):
    """From which amounts on, in minor units, more is asked; None asks nothing."""

    approve_above: int | None = None
    confirm_above: int | None = None
    default_credit_limit: int | None = None

    def needs_approval(self, amount: int) -> bool:
        """Whether a second person must approve an amount."""
        return self.approve_above is not None and amount > self.approve_above

    def check_confirmed(self, amount: int, again: int | None) -> None:
        """Refuse a large amount that was not typed again."""
        if self.confirm_above is not None and amount > self.confirm_above and again != amount:
            raise BadInput("Type the amount again: it is a large one.", field="again")


def check_second_person(asked_by: str, approves: str) -> None:
    """Refuse to let somebody approve what they asked for themselves."""
    if asked_by == approves:
        raise WrongState("Somebody else must approve it: you asked for it yourself.")
