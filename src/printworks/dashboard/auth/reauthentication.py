"""Ask for the password again before sensitive changes, with growing waits after failures."""

from datetime import timedelta

import msgspec
import structlog

from printworks.actions.accounts.sign_in import count_proof, forget_proof
from printworks.dashboard.site.limits import describe_wait
from printworks.dashboard.site.services import PageServices
from printworks.rules.people import is_proved
from printworks.store.accounts.people import get_person
from printworks.store.accounts.sessions import SignedIn, mark_reauthenticated

log = structlog.get_logger(__name__)


class Reauthentication:
    """Compares passwords, and counts tries.

    They are counted by the session: failures at the sign-in page must not keep people from changes
    that ask for the password, such as revoking a stolen key.
    """

    def __init__(self, services: PageServices) -> None:
        self._services = services

    def prove(
        self, signed_in: SignedIn, password: str, *, is_always_asked: bool = False
    ) -> tuple[str, SignedIn]:
        """Check the password of a person who is signed in, unless it was entered recently.

        Return what is wrong, or nothing, and the session with its proof.
        """
        now = self._services.clock()
        person, session = signed_in
        if is_proved(session.proved_at, now=now) and not is_always_asked:
            return "", signed_in
        if not password:
            return "Enter your password to confirm this change.", signed_in
        if wrong := self._compare(signed_in, password):
            return wrong, signed_in
        with self._services.database.writing() as db:
            forget_proof(self._services.system_work(db), session.hash)
            mark_reauthenticated(db, session.hash, now=now)
        return "", SignedIn(person, msgspec.structs.replace(session, proved_at=now))

    def _compare(self, signed_in: SignedIn, password: str) -> str:
        """Say what is wrong with a password; empty if it is right."""
        person, session = signed_in
        with self._services.database.reading() as db:
            person = get_person(db, person.id)
        with self._services.passwords.place() as hashing:
            with self._services.database.writing() as db:
                wait = count_proof(self._services.system_work(db), session.hash)
            if wait is not None:
                return describe_block(wait)
            if hashing.is_right(person.password_hash, password):
                return ""
        log.warning("password not confirmed", person=person.id, address=session.address)
        return "Wrong password."


def describe_block(wait: timedelta) -> str:
    """Say how long somebody has to wait after failures."""
    return f"Too many wrong passwords or codes. Try again in {describe_wait(wait)}."
