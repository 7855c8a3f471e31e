"""Check the password and the code of a person who signs in."""

from typing import Final, NamedTuple

import structlog
from sqlalchemy import Connection
from starlette.requests import Request

from printworks.dashboard.auth.devices import Devices
from printworks.dashboard.auth.reauthentication import UnknownAddresses, find_wait
from printworks.dashboard.site.forms import Sent
from printworks.dashboard.site.services import PageServices
from printworks.errors import BadInput
from printworks.rules.people import Realm, read_email
from printworks.rules.totp import find_step
from printworks.store.accounts.people import (
    Person,
    find_person,
    note_failure,
    reset_failures,
    use_step,
)
from printworks.store.accounts.secrets import about_totp

log = structlog.get_logger(__name__)

_WRONG: Final = "Wrong e-mail address or password."
_WRONG_CODE: Final = "That code is wrong or was used before. Wait for the next one."
_ASK_FOR_CODE: Final = "Enter the code from your authenticator app."


class CodeNeeded(BadInput):
    """The password is right, and the code of the second factor is still to be entered."""


class Authenticated(NamedTuple):
    """A person who entered the right password."""

    person: Person
    # Of the code that was right as well; None where none is asked for.
    step: int | None


class Authentication:
    """Authenticates people who sign in, and slows down repeated failures."""

    def __init__(self, services: PageServices, devices: Devices) -> None:
        self._services = services
        self._devices = devices
        self._unknown = UnknownAddresses()

    def authenticate(self, realm: Realm, request: Request, sent: Sent) -> Authenticated:
        """Return the person with this password; a failure takes the same time for any address."""
        try:
            email = read_email(sent.text("email"))
        except BadInput:
            email = ""
        with self._services.database.reading() as db:
            person = find_person(db, realm, email)
        self._let_wait(request, person, email)
        kept = None if person is None else person.password_hash
        is_right = self._services.passwords.is_right(kept, sent.raw("password"))
        if person is None or not is_right:
            self._note_failure(person, email)
            raise BadInput(_WRONG)
        return Authenticated(person, self._find_step(person, sent.text("code")))

    def let_in(self, db: Connection, authenticated: Authenticated) -> None:
        """Mark the code as used and reset the failures; refuse a code that was used meanwhile."""
        person, step = authenticated
        if step is not None and not use_step(db, person.id, step):
            raise BadInput(_WRONG_CODE)
        reset_failures(db, person.id)

    def _let_wait(self, request: Request, person: Person | None, email: str) -> None:
        """Refuse an address with too many failures for a while, known or not."""
        now = self._services.clock()
        if person is None:
            wait = self._unknown.find_wait(email, now=now)
        else:
            wait = find_wait(person, now=now)
        if wait and not (person and self._devices.may_attempt(request, person)):
            raise BadInput(wait)

    def _find_step(self, person: Person, code: str) -> int | None:
        if person.totp_secret is None:
            return None
        if not code:
            # The form asks for it now, and nothing was wrong.
            raise CodeNeeded(_ASK_FOR_CODE)
        now = self._services.clock()
        secret = self._services.vault.open(person.totp_secret, about=about_totp(person.id))
        step = find_step(secret, code, last_step=person.totp_step, now=now)
        if step is None:
            self._note_failure(person, person.email)
            raise BadInput(_WRONG_CODE)
        return step

    def _note_failure(self, person: Person | None, email: str) -> None:
        now = self._services.clock()
        if person is None:
            self._unknown.note_failure(email, now=now)
            return
        log.warning("sign-in failed", person=person.id)
        with self._services.database.writing() as db:
            note_failure(db, person.id, now=now)
