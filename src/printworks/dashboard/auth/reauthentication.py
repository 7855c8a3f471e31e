"""Ask for the password again before sensitive changes, with growing waits after failures."""

import threading
from collections import OrderedDict
from datetime import datetime, timedelta

import msgspec

from printworks.dashboard.auth.devices import ATTEMPT_EVERY, ATTEMPTS
from printworks.dashboard.site.limits import MOST_KEYS, RateLimiter, describe_wait
from printworks.dashboard.site.services import PageServices
from printworks.rules.people import is_proved, wait_after
from printworks.store.accounts.people import Person, get_person, note_failure, reset_failures
from printworks.store.accounts.sessions import SignedIn, mark_reauthenticated


class Reauthentication:
    """Compares passwords, and counts failures."""

    def __init__(self, services: PageServices) -> None:
        self._services = services
        # Of browsers that are signed in: failures at the sign-in page must not keep people from
        # changes that ask for the password, such as revoking a stolen key.
        self._attempts = RateLimiter(burst=ATTEMPTS, every=ATTEMPT_EVERY)

    def prove(self, signed_in: SignedIn, password: str) -> tuple[str, SignedIn]:
        """Check the password of a person who is signed in, unless it was entered recently.

        Return what is wrong, or nothing, and the session with its proof.
        """
        now = self._services.clock()
        person, session = signed_in
        if is_proved(session.proved_at, now=now):
            return "", signed_in
        if not password:
            return "Enter your password to confirm this change.", signed_in
        with self._services.database.reading() as db:
            person = get_person(db, person.id)
        wait = find_wait(person, now=now)
        if wait and self._attempts.take(session.hash, now=now) is not None:
            return wait, signed_in
        if wrong := self.compare(person, password):
            return wrong, signed_in
        with self._services.database.writing() as db:
            reset_failures(db, person.id)
            mark_reauthenticated(db, session.hash, now=now)
        return "", SignedIn(person, msgspec.structs.replace(session, proved_at=now))

    def compare(self, person: Person, password: str) -> str:
        """Say what is wrong with a password, and count the failure; empty if it is right."""
        if self._services.passwords.is_right(person.password_hash, password):
            return ""
        with self._services.database.writing() as db:
            note_failure(db, person.id, now=self._services.clock())
        return "Wrong password."


class UnknownAddresses:
    """Slows down unknown addresses too: otherwise a wait would reveal that an address is known.

    Each process remembers for itself. Safe to use from many threads.
    """

    def __init__(self) -> None:
        self._mistakes: OrderedDict[str, tuple[int, datetime]] = OrderedDict()
        self._lock = threading.Lock()

    def find_wait(self, email: str, *, now: datetime) -> str:
        """Say how long an address has to wait; empty if it need not."""
        with self._lock:
            failures, failed_at = self._mistakes.get(email, (0, None))
        return _describe_wait_after(failures, failed_at, now=now)

    def note_failure(self, email: str, *, now: datetime) -> None:
        """Count a wrong password."""
        with self._lock:
            failures, _ = self._mistakes.pop(email, (0, now))
            self._mistakes[email] = (failures + 1, now)
            if len(self._mistakes) > MOST_KEYS:
                self._mistakes.popitem(last=False)


def find_wait(person: Person, *, now: datetime) -> str:
    """Say how long a person has to wait after failures; empty if the wait is over."""
    return _describe_wait_after(person.failures, person.failed_at, now=now)


def _describe_wait_after(failures: int, failed_at: datetime | None, *, now: datetime) -> str:
    if failed_at is None:
        return ""
    left = failed_at + wait_after(failures) - now
    if left <= timedelta():
        return ""
    return f"Too many wrong passwords or codes. Try again in {describe_wait(left)}."
