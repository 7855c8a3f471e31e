"""Sign up, sign in, accept an invitation, sign out."""

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from secrets import token_hex
from typing import Any, Final

import msgspec
import structlog
from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.actions.accounts.people import accept_invitation, sign_up, work_for_person
from printworks.actions.accounts.sign_in import forget_person
from printworks.actions.mail.accounts import tell_new_device
from printworks.actions.work import Actor, SystemWork
from printworks.catalogue.products import Currency
from printworks.dashboard.auth.attempts import SignInAttempt
from printworks.dashboard.auth.authentication import (
    Authentication,
    CodeNeeded,
    SignInBlocked,
    SignInCredentials,
)
from printworks.dashboard.auth.devices import Devices
from printworks.dashboard.auth.forgotten_passwords import FORGOTTEN_PATHS, ForgottenPasswords
from printworks.dashboard.auth.new_passwords import check_new_password
from printworks.dashboard.auth.passkeys import Passkeys
from printworks.dashboard.auth.passwords import TooManySignIns
from printworks.dashboard.auth.second_factor import has_any, is_required
from printworks.dashboard.auth.sessions import (
    COOKIES,
    ENDED,
    HOMES,
    SIGN_IN_PATHS,
    delete_session_cookie,
    find_next_page,
    find_signed_in,
    set_session_cookie,
    sign_in_here,
)
from printworks.dashboard.site.forms import FORM_TOKEN, Sent, read_choice, read_sent, refuse_form
from printworks.dashboard.site.kept_forms import FormKeeper
from printworks.dashboard.site.limits import network_of
from printworks.dashboard.site.rate_limits import refuse_busy, refuse_too_many
from printworks.dashboard.site.rendering import Link, Message, render, render_message, send_on
from printworks.dashboard.site.services import PageServices
from printworks.dashboard.site.threads import Threads
from printworks.errors import BadInput, ServiceError
from printworks.rules.merchants import check_not_closed
from printworks.rules.people import Realm, read_email
from printworks.store.accounts.invitations import Invitation, find_invitation
from printworks.store.accounts.merchants import get_merchant
from printworks.store.accounts.people import Person, get_person
from printworks.store.accounts.sessions import end_session, end_session_of, hash_token

log = structlog.get_logger(__name__)

# Before a session begins, this cookie ties a form to the browser that asked for it.
SIGN_IN_COOKIE: Final = "__Host-printworks-sign-in"
_COOKIE_BYTES: Final = 16
_GIVEN: Final = re.compile(f"[0-9a-f]{{{2 * _COOKIE_BYTES}}}")
# Pages that are shown at the same time; and forms, most of which wait for their turn to be hashed.
_AT_ONCE: Final = 8
_FORMS_AT_ONCE: Final = 24


class _LetIn(msgspec.Struct, frozen=True):
    """Who is let in, and how."""

    person: Person
    # As the audit log names it.
    action: str
    onwards: str = ""
    is_strong: bool = False
    failures: int = 0


# As opposed to the first time that somebody is let in.
_SIGN_INS: Final = frozenset({"sign-in", "sign-in-with-passkey"})
_Answer = Callable[[SignInAttempt], Response]


class SignInPages:
    """Serves the pages on which people sign in and out."""

    def __init__(self, services: PageServices) -> None:
        self._services = services
        self._devices = Devices(services)
        self._authentication = Authentication(services, self._devices)
        self._passkeys = Passkeys(services)
        self._kept = FormKeeper(services)
        self._threads = Threads(_AT_ONCE)
        self._form_threads = Threads(_FORMS_AT_ONCE)

    def routes(self) -> Sequence[BaseRoute]:
        """Return the pages; only a sandbox lets anyone sign up."""
        forgotten = ForgottenPasswords(self._services, self._page)
        pages: list[tuple[str, _Answer, _Answer]] = [
            *(
                (path, partial(self._show_sign_in, realm), partial(self._sign_in, realm))
                for realm, path in SIGN_IN_PATHS.items()
            ),
            *(
                (path, partial(forgotten.show, realm), partial(forgotten.take, realm))
                for realm, path in FORGOTTEN_PATHS.items()
            ),
            ("/invitations/{token}", self._show_invitation, self._accept),
            ("/sign-up", self._show_sign_up, self._sign_up),
        ]
        outs = [("/sign-out", Realm.MERCHANT), ("/console/sign-out", Realm.OPERATOR)]
        return [
            *(
                Route(path, self._sign_in_endpoint(show, take), methods=["GET", "POST"])
                for path, show, take in pages
            ),
            *(
                Route(path, self._sign_out_endpoint(realm), methods=["POST"])
                for path, realm in outs
            ),
        ]

    def _sign_in_endpoint(self, show: _Answer, take: _Answer) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            if request.method != "POST":
                return await self._threads.run(show, SignInAttempt(request))
            with closing(await read_sent(request)) as sent:
                attempt = SignInAttempt(request, sent)
                return await self._form_threads.run(self._take, show, take, attempt)

        return answer

    def _take(self, show: _Answer, take: _Answer, attempt: SignInAttempt) -> Response:
        request = attempt.request
        page = request.scope["path"]
        cookie = _find_form_cookie(request)
        token = attempt.sent.text(FORM_TOKEN)
        if not cookie or not self._services.forms.is_from(f"sign-in {cookie}", request, token):
            _log_refused(attempt, "form not from this browser")
            return refuse_form(page)
        try:
            if attempt.sent.raw("password"):
                # Most of a crowd are refused for this, and nothing has to be written for them.
                self._services.passwords.check_room()
            wait = self._authentication.count_network(network_of(attempt.address))
            if wait is not None:
                _log_refused(attempt, "too many from this network")
                return refuse_too_many(page, wait)
            return take(attempt)
        except TooManySignIns as refusal:
            return refuse_busy(page, refusal.message)
        except ServiceError as refusal:
            return show(_refused(attempt, refusal))

    def _page(
        self, attempt: SignInAttempt, template: str, *, with_passkeys: bool = False, **facts: Any
    ) -> Response:
        cookie = _find_form_cookie(attempt.request) or token_hex(_COOKIE_BYTES)
        if with_passkeys:
            facts["passkey_options"] = self._passkeys.ask_to_sign(f"sign-in {cookie}")
        answer = render(
            template,
            status=attempt.status,
            with_script=with_passkeys,
            problem=attempt.problem,
            problem_tone=attempt.tone,
            sent=attempt.sent,
            form_token=self._services.forms.make_token(f"sign-in {cookie}"),
            environment=self._services.settings.environment,
            **facts,
        )
        answer.set_cookie(
            SIGN_IN_COOKIE, cookie, path="/", secure=True, httponly=True, samesite="strict"
        )
        return answer

    def _show_sign_in(self, realm: Realm, attempt: SignInAttempt) -> Response:
        known = attempt.request.cookies.get(COOKIES[realm])
        if not attempt.problem and find_signed_in(self._services, realm, known) is not None:
            return send_on(find_next_page(attempt.request, realm))
        return self._page(
            attempt,
            "sign_in.html",
            is_console=realm is Realm.OPERATOR,
            may_sign_up=self._services.is_sandbox and realm is Realm.MERCHANT,
            forgotten=FORGOTTEN_PATHS[realm] if self._services.mail_terms else "",
            was_ended=attempt.request.query_params.get(ENDED, ""),
            is_blocked=attempt.is_blocked,
            with_passkeys=True,
        )

    def _sign_in(self, realm: Realm, attempt: SignInAttempt) -> Response:
        if attempt.sent.text("passkey"):
            return self._sign_in_with_passkey(realm, attempt)
        entered = SignInCredentials.of(realm, attempt.sent)
        found = self._authentication.authenticate(attempt.request, entered)
        entry = _LetIn(found.person, "sign-in", is_strong=found.is_strong, failures=found.failures)
        try:
            with self._services.database.writing() as db:
                self._authentication.let_in(self._services.system_work(db), found)
                return self._let_in(db, attempt, entry)
        except BadInput:
            self._authentication.log_failure(
                attempt.request, realm, "changed or used meanwhile", person=found.person.id
            )
            raise

    def _sign_in_with_passkey(self, realm: Realm, attempt: SignInAttempt) -> Response:
        whose = f"sign-in {_find_form_cookie(attempt.request)}"
        try:
            used = self._passkeys.read_sign_in(realm, whose, attempt.sent.text("passkey"))
            with self._services.database.writing() as db:
                self._authentication.let_in_with_passkey(db, used)
                entry = _LetIn(used.person, "sign-in-with-passkey", is_strong=True)
                return self._let_in(db, attempt, entry)
        except BadInput:
            self._authentication.log_failure(attempt.request, realm, "passkey refused")
            raise

    def _let_in(self, db: Connection, attempt: SignInAttempt, entry: _LetIn) -> Response:
        request, person = attempt.request, entry.person
        if person.merchant_id is not None:
            check_not_closed(get_merchant(db, person.merchant_id).state)
        # End the session that this browser had before, even if its cookie was copied.
        end_session_of(db, request.cookies.get(COOKIES[person.realm], ""))
        now = self._services.clock()
        token = sign_in_here(db, request, person, is_strong=entry.is_strong, now=now)
        details: dict[str, Any] = {"failuresBefore": entry.failures} if entry.failures else {}
        work = self._work_of(db, attempt, person)
        work.audit(entry.action, **details)
        if entry.action in _SIGN_INS and not self._devices.find(request, person):
            tell_new_device(work, person, browser=request.headers.get("user-agent", ""))
        answer = send_on(entry.onwards or find_next_page(request, person.realm))
        self._devices.remember(answer, person)
        set_session_cookie(answer, person.realm, token)
        return answer

    def _work_of(self, db: Connection, attempt: SignInAttempt, person: Person) -> SystemWork:
        actor = Actor(person.realm, person.email, attempt.address)
        work = self._services.system_work(db, actor, attempt.request.state.request_id)
        return work_for_person(work, person)

    def _show_sign_up(self, attempt: SignInAttempt) -> Response:
        if not self._services.is_sandbox:
            return render_message(_BY_INVITATION, status=403)
        return self._page(
            attempt, "sign_up.html", invitation=None, currencies=self._services.catalogue.currencies
        )

    def _sign_up(self, attempt: SignInAttempt) -> Response:
        if not self._services.is_sandbox:
            raise HTTPException(404)
        sent = attempt.sent
        email = read_email(sent.text("email"))
        shop, currency = _read_shop(sent)
        check_new_password(sent.raw("password"), email, shop)
        password_hash = self._services.passwords.hash(sent.raw("password"))
        with self._services.database.writing() as db:
            person = sign_up(
                self._services.system_work(db),
                email=email,
                shop=shop,
                password_hash=password_hash,
                currency=currency,
            )
            return self._let_in(db, attempt, _LetIn(person, "sign-up", onwards=HOMES[person.realm]))

    def _find_invitation(self, attempt: SignInAttempt) -> Invitation | None:
        token = attempt.request.path_params["token"]
        with self._services.database.reading() as db:
            return find_invitation(db, token, now=self._services.clock())

    def _show_invitation(self, attempt: SignInAttempt) -> Response:
        invitation = self._find_invitation(attempt)
        if invitation is None:
            return render_message(_NO_INVITATION, status=404)
        shop = self._find_shop(invitation)
        return self._page(
            attempt,
            "sign_up.html",
            invitation=invitation,
            shop=shop,
            currencies=self._services.catalogue.currencies,
        )

    def _find_shop(self, invitation: Invitation) -> str:
        """Return the name of the merchant that an invitation is about; empty if there is none yet."""
        with self._services.database.reading() as db:
            merchant_id = invitation.merchant_id
            if invitation.person_id is not None:
                merchant_id = get_person(db, invitation.person_id).merchant_id
            return "" if merchant_id is None else get_merchant(db, merchant_id).name

    def _accept(self, attempt: SignInAttempt) -> Response:
        invitation = self._find_invitation(attempt)
        if invitation is None:
            return render_message(_NO_INVITATION, status=404)
        sent = attempt.sent
        is_new = invitation.realm is Realm.MERCHANT and not (
            invitation.merchant_id or invitation.person_id
        )
        shop, currency = _read_shop(sent) if is_new else ("", None)
        of_merchant = shop or self._find_shop(invitation)
        check_new_password(sent.raw("password"), invitation.email, of_merchant)
        password_hash = self._services.passwords.hash(sent.raw("password"))
        with self._services.database.writing() as db:
            person = accept_invitation(
                self._services.system_work(db),
                attempt.request.path_params["token"],
                shop=shop,
                password_hash=password_hash,
                currency=currency,
            )
            forget_person(self._services.system_work(db), person.realm, person.email)
            if person.has_totp or (is_required(self._services, person) and has_any(db, person)):
                # Having the link does not prove having the second factor.
                self._work_of(db, attempt, person).audit("accept-invitation")
                return send_on(SIGN_IN_PATHS[person.realm])
            entry = _LetIn(person, "accept-invitation", onwards=HOMES[person.realm])
            return self._let_in(db, attempt, entry)

    def _sign_out_endpoint(self, realm: Realm) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            with closing(await read_sent(request)) as sent:
                return await self._threads.run(self._sign_out, realm, request, sent)

        return answer

    def _sign_out(self, realm: Realm, request: Request, sent: Sent) -> Response:
        token = request.cookies.get(COOKIES[realm], "")
        whose = f"session {hash_token(token)}"
        if not self._services.forms.is_from(whose, request, sent.text(FORM_TOKEN)):
            return refuse_form(HOMES[realm])
        found = find_signed_in(self._services, realm, token)
        if found is not None:
            with self._services.database.writing() as db:
                end_session(db, found.person.id, found.session.hash)
        self._kept.drop(request)
        answer = send_on("/" if realm is Realm.MERCHANT else "/console/sign-in")
        delete_session_cookie(answer, realm)
        return answer


def _read_shop(sent: Sent) -> tuple[str, Currency | None]:
    shop = sent.text("shop")
    if not shop:
        raise BadInput("Enter the name of your shop.")
    currency = sent.text("currency")
    if not currency:
        return shop, None
    return shop, read_choice(Currency, currency, "Choose one of the currencies.")


def _refused(attempt: SignInAttempt, refusal: ServiceError) -> SignInAttempt:
    return msgspec.structs.replace(
        attempt,
        problem=refusal.message,
        tone="warn" if isinstance(refusal, CodeNeeded) else "error",
        status=400 if isinstance(refusal, BadInput) else 403,
        is_blocked=isinstance(refusal, SignInBlocked),
    )


def _log_refused(attempt: SignInAttempt, reason: str) -> None:
    """Log an attempt that was refused before anything that was entered was looked at."""
    # Of an invitation, the rest is its secret.
    page = attempt.request.scope["path"].strip("/").partition("/")[0]
    log.warning("sign-in failed", reason=reason, page=page, address=attempt.address)


def _find_form_cookie(request: Request) -> str:
    """Return the sign-in cookie of this browser; empty if it is not one of ours."""
    cookie = request.cookies.get(SIGN_IN_COOKIE, "")
    return cookie if _GIVEN.fullmatch(cookie) else ""


_BY_INVITATION: Final = Message(
    tone="warn",
    title="Invitation only",
    sentences=("Merchants can only join by invitation from the operator.",),
    link=Link("Sign in", "/sign-in"),
)
_NO_INVITATION: Final = Message(
    tone="warn",
    title="This link no longer works",
    sentences=("It was used before, or has expired.", "Ask for a new one."),
    link=Link("Sign in", "/sign-in"),
)
