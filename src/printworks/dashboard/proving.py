"""Whether somebody knows the password: with waits that grow, so that nobody can try them all."""

import math
from datetime import datetime, timedelta

import msgspec

from printworks.dashboard.office import Office
from printworks.rules.people import is_proved, wait_after
from printworks.store.people import Person, forget_failures, get_person, note_failure
from printworks.store.sessions import SignedIn, prove_session


class Proving:
    """Compares passwords, and remembers mistakes."""

    def __init__(self, office: Office) -> None:
        self._office = office

    def prove(self, signed_in: SignedIn, password: str) -> tuple[str, SignedIn]:
        """Ask somebody who is signed in for the password, unless it was given lately.

        Return what is wrong, or nothing, and the session with its proof.
        """
        now = self._office.clock()
        person, session = signed_in
        if is_proved(session.proved_at, now=now):
            return "", signed_in
        if not password:
            return "Enter your password once more: this change asks for it.", signed_in
        with self._office.database.reading() as db:
            person = get_person(db, person.id)
        if wrong := find_wait(person, now=now) or self.compare(person, password):
            return wrong, signed_in
        with self._office.database.writing() as db:
            forget_failures(db, person.id)
            prove_session(db, session.hash, now=now)
        return "", SignedIn(person, msgspec.structs.replace(session, proved_at=now))

    def compare(self, person: Person, password: str) -> str:
        """Say what is wrong with a password, and count it; nothing if it is right."""
        if self._office.passwords.is_right(person.password_hash, password):
            return ""
        with self._office.database.writing() as db:
            note_failure(db, person.id, now=self._office.clock())
        return "That is not your password."


def find_wait(person: Person, *, now: datetime) -> str:
    """Say how long somebody has to wait after mistakes; nothing if it is over."""
    if person.failed_at is None:
        return ""
    left = person.failed_at + wait_after(person.failures) - now
    if left <= timedelta():
        return ""
    return f"Too many wrong passwords or codes. Try again in {describe_wait(left)}."


def describe_wait(wait: timedelta) -> str:
    """Write a wait as people say it."""
    seconds = max(math.ceil(wait.total_seconds()), 1)
    if seconds < 90:
        return f"{seconds} seconds" if seconds > 1 else "a second"
    return f"{math.ceil(seconds / 60)} minutes"
