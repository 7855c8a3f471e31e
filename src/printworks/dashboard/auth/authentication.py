"""Check the password and the second factor of a person who signs in.

Whatever is sent, a known and an unknown address cost the same statements, the same hash and the
same answer; a try is counted in the database before its password is hashed.
"""

from datetime import timedelta
from typing import Final, NamedTuple

import structlog
from sqlalchemy import Connection
from starlette.requests import Request

from printworks.actions.accounts.sign_in import (
    count_known_browser,
    count_network,
    count_person,
    forget_person,
    look_at_network,
    note_failure,
    use_recovery_code,
)
from printworks.actions.work import Actor, SystemWork
from printworks.dashboard.auth.devices import Devices
from printworks.dashboard.auth.passkeys import REFUSED, UsedPasskey
from printworks.dashboard.auth.reauthentication import describe_block
from printworks.dashboard.auth.second_factor import has_any, is_required
from printworks.dashboard.site.forms import Sent
from printworks.dashboard.site.services import PageServices
from printworks.errors import BadInput
from printworks.rules.people import Realm, read_email
from printworks.rules.sign_in import Tries
from printworks.rules.totp import find_step
from printworks.store.accounts.passkeys import note_passkey_use, use_challenge
from printworks.store.accounts.people import Person, find_person, find_person_to_change, use_step
from printworks.store.accounts.secrets import about_totp

log = structlog.get_logger(__name__)

_WRONG: Final = "Wrong email address or password."
_WRONG_CODE: Final = "That code is wrong or was used before. Wait for the next one."
_WRONG_RECOVERY_CODE: Final = "That recovery code is wrong or was used before."
_ASK_FOR_CODE: Final = "Enter the code from your authenticator app, or a recovery code."
_ASK_FOR_PASSKEY: Final = (
    "Your role needs a second factor. Sign in with your passkey, or enter a recovery code as well."
)
_USED: Final = "The passkey was used from this page before. Try again."


class CodeNeeded(BadInput):
    """The password is right, and the second factor is still to be shown."""


class SignInBlocked(BadInput):
    """There were too many tries for this address; the page says what else can be done."""


class SignInCredentials(NamedTuple):
    """What somebody enters at the sign-in page."""

    realm: Realm
    email: str
    password: str
    code: str
    recovery_code: str

    @classmethod
    def of(cls, realm: Realm, sent: Sent) -> "SignInCredentials":
        """Read the form; what cannot be an address is one that nobody has."""
        try:
            email = read_email(sent.text("email"))
        except BadInput:
            email = ""
        code, recovery_code = sent.text("code"), sent.text("recovery_code")
        return cls(realm, email, sent.raw("password"), code, recovery_code)


class Authenticated(NamedTuple):
    """A person who entered the right password, and what else was right."""

    person: Person
    # Tries before this one, without a success.
    failures: int
    is_strong: bool = False
    # To be used up when the person is let in: the step of a code, or a recovery code.
    step: int | None = None
    recovery_code: str = ""


class _Allowed(NamedTuple):
    """A try that may be compared, with its number, and whether a recovery code has paid for it."""

    number: int
    is_recovered: bool = False


class Authentication:
    """Authenticates people who sign in."""

    def __init__(self, services: PageServices, devices: Devices) -> None:
        self._services = services
        self._devices = devices

    def count_network(self, network: str) -> timedelta | None:
        """Count a try from a network address; return how long to wait instead."""
        with self._services.database.reading() as db:
            wait = look_at_network(self._services.system_work(db), network)
        if wait is not None:
            # Whoever goes on trying costs no transaction.
            return wait
        with self._services.database.writing() as db:
            return count_network(self._services.system_work(db), network)

    def authenticate(self, request: Request, entered: SignInCredentials) -> Authenticated:
        """Return the person with this password; a failure takes the same time for any address."""
        with self._services.passwords.place() as hashing:
            with self._services.database.reading() as db:
                person = find_person(db, entered.realm, entered.email)
            allowed = self._count(request, person, entered)
            kept = person.password_hash if person else ""
            is_right = hashing.is_right(kept, entered.password)
        if person is None or not is_right:
            self._note_failure(request, person, entered, allowed)
            raise BadInput(_WRONG)
        try:
            return self._check_second_factor(person, entered, allowed)
        except CodeNeeded:
            raise
        except BadInput:
            self._note_failure(request, person, entered, allowed)
            raise

    def let_in(self, work: SystemWork, authenticated: Authenticated) -> None:
        """Use up the code and count anew; refuse what was changed or used meanwhile."""
        person, step = authenticated.person, authenticated.step
        # Nothing was locked while the password was hashed: whoever changes it ends all sessions, and
        # this one must not begin after that.
        kept = find_person_to_change(work.db, person.id)
        if kept is None or _proofs_of(kept) != _proofs_of(person):
            raise BadInput(_WRONG)
        if step is not None and not use_step(work.db, person.id, step):
            raise BadInput(_WRONG_CODE)
        code = authenticated.recovery_code
        if code and not use_recovery_code(work, person, code):
            raise BadInput(_WRONG_RECOVERY_CODE)
        forget_person(work, person.realm, person.email)

    def let_in_with_passkey(self, db: Connection, used: UsedPasskey) -> None:
        """Store that a passkey was used; refuse what it has signed before, or one that is gone."""
        # The person first, as whoever removes a passkey does: two that wait for each other would fail.
        find_person_to_change(db, used.person.id)
        if not use_challenge(db, used.challenge, expires_at=used.expires_at):
            raise BadInput(_USED)
        if not note_passkey_use(db, used.passkey, used.sign_count, now=self._services.clock()):
            raise BadInput(REFUSED)

    def log_failure(self, request: Request, realm: Realm, reason: str, **facts: object) -> None:
        """Log a failed sign-in: never what was entered."""
        address = request.client.host if request.client else ""
        log.warning("sign-in failed", reason=reason, realm=realm, address=address, **facts)

    def _count(
        self, request: Request, person: Person | None, entered: SignInCredentials
    ) -> _Allowed:
        """Count a try, or refuse it, for an address that is known or not."""
        with self._services.database.writing() as db:
            work = self._services.system_work(db)
            counted = count_person(work, entered.realm, entered.email)
            if isinstance(counted, Tries):
                return _Allowed(counted.number)
            browser = self._devices.find(request, person)
            if browser and count_known_browser(work, browser) is None:
                return _Allowed(0)
            # It is used up, right password or not: it is worth one try.
            code = entered.recovery_code
            if code and use_recovery_code(work, person, code):
                return _Allowed(0, is_recovered=True)
        return self._refuse(request, person, entered.realm, counted)

    def _refuse(
        self, request: Request, person: Person | None, realm: Realm, wait: timedelta
    ) -> _Allowed:
        self.log_failure(request, realm, "blocked", person=person.id if person else None)
        raise SignInBlocked(describe_block(wait))

    def _check_second_factor(
        self, person: Person, entered: SignInCredentials, allowed: _Allowed
    ) -> Authenticated:
        found = Authenticated(person, max(allowed.number - 1, 0))
        if allowed.is_recovered:
            return found._replace(is_strong=True)
        if not person.has_totp and not self._needs_passkey(person):
            return found
        if entered.recovery_code:
            return found._replace(is_strong=True, recovery_code=entered.recovery_code)
        if person.totp_secret is None:
            raise CodeNeeded(_ASK_FOR_PASSKEY)
        if not entered.code:
            # The form asks for it now, and nothing was wrong.
            raise CodeNeeded(_ASK_FOR_CODE)
        now = self._services.clock()
        secret = self._services.vault.open(person.totp_secret, about=about_totp(person.id))
        step = find_step(secret, entered.code, last_step=person.totp_step, now=now)
        if step is None:
            raise BadInput(_WRONG_CODE)
        return found._replace(is_strong=True, step=step)

    def _needs_passkey(self, person: Person) -> bool:
        if not is_required(self._services, person):
            return False
        with self._services.database.reading() as db:
            return has_any(db, person)

    def _note_failure(
        self, request: Request, person: Person | None, entered: SignInCredentials, allowed: _Allowed
    ) -> None:
        address = request.client.host if request.client else ""
        facts = {"person": person.id if person else None, "tries": allowed.number}
        self.log_failure(request, entered.realm, "wrong password or code", **facts)
        actor = Actor(entered.realm, entered.email, address)
        with self._services.database.writing() as db:
            work = self._services.system_work(db, actor, request.state.request_id)
            note_failure(work, person, allowed.number)


def _proofs_of(person: Person) -> tuple[str, str | None]:
    """Return what a person who signs in has to know or to have."""
    return person.password_hash, person.totp_secret
