"""Whether somebody knows the password: with waits that grow, so that nobody can try them all."""

import threading
from collections import OrderedDict
from datetime import datetime, timedelta

import msgspec

from printworks.dashboard.auth.devices import TRIES, TRY_EVERY
from printworks.dashboard.site.limits import MOST_KEYS, RateLimiter, describe_wait
from printworks.dashboard.site.services import PageServices
from printworks.rules.people import is_proved, wait_after
from printworks.store.accounts.people import Person, forget_failures, get_person, note_failure
from printworks.store.accounts.sessions import SignedIn, prove_session


class Reauthentication:
    """Compares passwords, and remembers mistakes."""

    def __init__(self, services: PageServices) -> None:
        self._services = services
        # Of browsers in which somebody is signed in: strangers at the door must not keep them
        # from what asks for the password, such as ending a key that was stolen.
        self._tries = RateLimiter(burst=TRIES, every=TRY_EVERY)

    def prove(self, signed_in: SignedIn, password: str) -> tuple[str, SignedIn]:
        """Ask somebody who is signed in for the password, unless it was given lately.

        Return what is wrong, or nothing, and the session with its proof.
        """
        now = self._services.clock()
        person, session = signed_in
        if is_proved(session.proved_at, now=now):
            return "", signed_in
        if not password:
            return "Enter your password once more: this change asks for it.", signed_in
        with self._services.database.reading() as db:
            person = get_person(db, person.id)
        wait = find_wait(person, now=now)
        if wait and self._tries.take(session.hash, now=now) is not None:
            return wait, signed_in
        if wrong := self.compare(person, password):
            return wrong, signed_in
        with self._services.database.writing() as db:
            forget_failures(db, person.id)
            prove_session(db, session.hash, now=now)
        return "", SignedIn(person, msgspec.structs.replace(session, proved_at=now))

    def compare(self, person: Person, password: str) -> str:
        """Say what is wrong with a password, and count it; nothing if it is right."""
        if self._services.passwords.is_right(person.password_hash, password):
            return ""
        with self._services.database.writing() as db:
            note_failure(db, person.id, now=self._services.clock())
        return "That is not your password."


class Strangers:
    """Lets those wait as well whom nobody knows: who must wait would otherwise be known.

    Each process remembers for itself. Safe to use from many threads.
    """

    def __init__(self) -> None:
        self._mistakes: OrderedDict[str, tuple[int, datetime]] = OrderedDict()
        self._lock = threading.Lock()

    def find_wait(self, email: str, *, now: datetime) -> str:
        """Say how long this address has to wait; nothing if it need not."""
        with self._lock:
            failures, failed_at = self._mistakes.get(email, (0, None))
        return _tell_wait(failures, failed_at, now=now)

    def note_failure(self, email: str, *, now: datetime) -> None:
        """Count a wrong password."""
        with self._lock:
            failures, _ = self._mistakes.pop(email, (0, now))
            self._mistakes[email] = (failures + 1, now)
            if len(self._mistakes) > MOST_KEYS:
                self._mistakes.popitem(last=False)


def find_wait(person: Person, *, now: datetime) -> str:
    """Say how long somebody has to wait after mistakes; nothing if it is over."""
    return _tell_wait(person.failures, person.failed_at, now=now)


def _tell_wait(failures: int, failed_at: datetime | None, *, now: datetime) -> str:
    if failed_at is None:
        return ""
    left = failed_at + wait_after(failures) - now
    if left <= timedelta():
        return ""
    return f"Too many wrong passwords or codes. Try again in {describe_wait(left)}."
