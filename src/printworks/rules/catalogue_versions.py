"""Versions of the catalogue: which one is in use, and what can be done with the others."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from printworks.errors import BadInput, WrongState

LONGEST_TITLE: Final = 200
# What lies further ahead is a mistake.
LONGEST_AHEAD: Final = timedelta(days=366)


class VersionState(StrEnum):
    """What a version is at a time; it follows from when versions are published."""

    DRAFT = "draft"
    SCHEDULED = "scheduled"
    PUBLISHED = "published"
    SUPERSEDED = "superseded"


def find_state(publish_at: datetime | None, *, is_current: bool, now: datetime) -> VersionState:
    """Return the state of a version."""
    if publish_at is None:
        return VersionState.DRAFT
    if publish_at > now:
        return VersionState.SCHEDULED
    return VersionState.PUBLISHED if is_current else VersionState.SUPERSEDED


def read_title(text: str) -> str:
    """Return what a version is called."""
    title = " ".join(text.split())
    if not 1 <= len(title) <= LONGEST_TITLE or not title.isprintable():
        raise BadInput(f"`title` must be 1 to {LONGEST_TITLE} printable characters.")
    return title


def check_editing(state: VersionState) -> None:
    """Refuse to change a version that was published, or will be: somebody has looked at it."""
    if state is VersionState.SCHEDULED:
        raise WrongState("This version waits to be published. Withdraw it to change it.")
    if state is not VersionState.DRAFT:
        raise WrongState("What was published stays as it is. Make a draft of it to change it.")


def check_publishing(state: VersionState, at: datetime, *, now: datetime) -> None:
    """Refuse to publish a version that was published before, or at a time that makes no sense."""
    if state is VersionState.PUBLISHED:
        raise WrongState("This version is in use already.")
    if state is VersionState.SUPERSEDED:
        raise WrongState("This version was in use before. Roll back to it instead.")
    if at > now + LONGEST_AHEAD:
        raise BadInput(f"A version can be published at most {LONGEST_AHEAD.days} days ahead.")


def check_withdrawing(state: VersionState) -> None:
    """Refuse to take back a version that is not waiting for its time."""
    if state is not VersionState.SCHEDULED:
        raise WrongState(f"Only a scheduled version can be withdrawn; this one is {state}.")


def check_deleting(state: VersionState) -> None:
    """Refuse to delete a version that was ever published: orders were priced by it."""
    if state is not VersionState.DRAFT:
        raise WrongState(f"Only a draft can be deleted; this version is {state}.")


def check_rolling_back(state: VersionState) -> None:
    """Refuse to return to a version that was never in use, or still is."""
    if state is not VersionState.SUPERSEDED:
        raise WrongState(f"Only a version that was in use before can return; this one is {state}.")
