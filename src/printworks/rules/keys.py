"""API keys: what a restricted one may do."""

from collections.abc import Collection
from enum import StrEnum
from typing import Final

import msgspec

from printworks.errors import BadInput, Restricted

LONGEST_NAME: Final = 80
# Keys of one merchant that are valid at the same time.
MOST_KEYS: Final = 20
_ADVICE: Final = "Use another key, or create one on the API keys page of the dashboard."


class KeyAccess(StrEnum):
    """How much a key may do."""

    FULL = "full"
    # Everything but what costs money: submitting orders, and letting recipients pay.
    NO_MONEY = "no-money"
    READ_ONLY = "read-only"


class KeyLimits(msgspec.Struct, frozen=True):
    """What a key is called, and what it may do. A key keeps its limits until its end."""

    name: str = ""
    access: KeyAccess = KeyAccess.FULL
    # The code of the only lab whose orders it may submit, cancel, hold or redirect.
    lab: str | None = None

    @property
    def label(self) -> str:
        """The key as refusals and the audit log call it."""
        return f"API key “{self.name}”" if self.name else "API key"


def read_key_name(text: str) -> str:
    """Return the name of a key; it may be empty."""
    name = text.strip()
    if len(name) > LONGEST_NAME or not name.isprintable():
        message = f"The name of a key must be at most {LONGEST_NAME} printable characters."
        raise BadInput(message, field="name")
    return name


def check_may_change(limits: KeyLimits) -> None:
    """Refuse a key that may only read."""
    if limits.access is KeyAccess.READ_ONLY:
        raise Restricted(
            f"This {limits.label} is read-only: it cannot create or change anything. {_ADVICE}"
        )


def check_may_spend(limits: KeyLimits) -> None:
    """Refuse a key that must not cost money."""
    if limits.access is not KeyAccess.FULL:
        raise Restricted(
            f"This {limits.label} cannot spend money: it cannot submit orders, let recipients pay "
            f"or change what was charged. {_ADVICE}"
        )


def check_labs(limits: KeyLimits, labs: Collection[str]) -> None:
    """Refuse a key that is for one lab if others make part of an order."""
    if limits.lab is not None and {*labs} - {limits.lab}:
        # Without names: merchants may not be told which labs there are.
        raise Restricted(
            f"This {limits.label} is restricted to one lab, and others make part of this order. "
            f"{_ADVICE}"
        )
