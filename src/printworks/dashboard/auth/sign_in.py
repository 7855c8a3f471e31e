"""Sign up, sign in, accept an invitation, sign out."""

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import timedelta
from functools import partial
from hashlib import sha256
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
from printworks.actions.work import Actor
from printworks.catalogue.products import Currency
from printworks.dashboard.auth.authentication import Authentication, CodeNeeded
from printworks.dashboard.auth.devices import Devices
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
from printworks.dashboard.shared.labels import Tone
from printworks.dashboard.site.forms import FORM_TOKEN, Sent, read_choice, read_sent, refuse_form
from printworks.dashboard.site.limits import RateLimiter, network_of
from printworks.dashboard.site.rate_limits import refuse_too_many
from printworks.dashboard.site.rendering import Link, Message, render, render_message, send_on
from printworks.dashboard.site.services import PageServices
from printworks.dashboard.site.threads import Threads
from printworks.errors import BadInput, ServiceError
from printworks.rules.people import Realm, check_password, read_email
from printworks.store.accounts.invitations import Invitation, find_invitation
from printworks.store.accounts.merchants import get_merchant
from printworks.store.accounts.people import Person
from printworks.store.accounts.sessions import end_session, end_session_of, hash_token

log = structlog.get_logger(__name__)

# Before a session begins, this cookie ties a form to the browser that asked for it.
SIGN_IN_COOKIE: Final = "__Host-printworks-sign-in"
_COOKIE_BYTES: Final = 16
_GIVEN: Final = re.compile(f"[0-9a-f]{{{2 * _COOKIE_BYTES}}}")
# Attempts from one network address, for any account.
_ATTEMPTS_AT_ONCE: Final = 20
_ATTEMPT_EVERY: Final = timedelta(seconds=5)
_AT_ONCE: Final = 8


class _SignInAttempt(msgspec.Struct, frozen=True):
    """An attempt to sign in: what was sent, and what was wrong with it."""

    request: Request
    sent: Sent = Sent()
    problem: str = ""
    tone: Tone = "error"
    status: int = 200


_Answer = Callable[[_SignInAttempt], Response]


class SignInPages:
    """Serves the pages on which people sign in and out."""

    def __init__(self, services: PageServices) -> None:
        self._services = services
        self._devices = Devices(services)
        self._authentication = Authentication(services, self._devices)
        self._attempts = RateLimiter(burst=_ATTEMPTS_AT_ONCE, every=_ATTEMPT_EVERY)
        self._threads = Threads(_AT_ONCE)

    def routes(self) -> Sequence[BaseRoute]:
        """Return the pages; only a sandbox lets anyone sign up."""
        pages: list[tuple[str, _Answer, _Answer]] = [
            *(
                (path, partial(self._show_sign_in, realm), partial(self._sign_in, realm))
                for realm, path in SIGN_IN_PATHS.items()
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
                return await self._threads.run(show, _SignInAttempt(request))
            with closing(await read_sent(request)) as sent:
                attempt = _SignInAttempt(request, sent)
                return await self._threads.run(self._take, show, take, attempt)

        return answer

    def _take(self, show: _Answer, take: _Answer, attempt: _SignInAttempt) -> Response:
        request = attempt.request
        page = request.scope["path"]
        cookie = _find_form_cookie(request)
        token = attempt.sent.text(FORM_TOKEN)
        if not cookie or not self._services.forms.is_from(f"sign-in {cookie}", request, token):
            _log_refused(attempt, "form")
            return refuse_form(page)
        wait = self._attempts.take(network_of(_address(request)), now=self._services.clock())
        if wait is not None:
            _log_refused(attempt, "rate")
            return refuse_too_many(page, wait)
        try:
            return take(attempt)
        except ServiceError as refusal:
            _log_refused(attempt, type(refusal).__name__)
            status = 400 if isinstance(refusal, BadInput) else 403
            tone: Tone = "warn" if isinstance(refusal, CodeNeeded) else "error"
            refused = msgspec.structs.replace(
                attempt, problem=refusal.message, tone=tone, status=status
            )
            return show(refused)

    def _page(self, attempt: _SignInAttempt, template: str, **facts: Any) -> Response:
        cookie = _find_form_cookie(attempt.request) or token_hex(_COOKIE_BYTES)
        answer = render(
            template,
            status=attempt.status,
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

    def _show_sign_in(self, realm: Realm, attempt: _SignInAttempt) -> Response:
        known = attempt.request.cookies.get(COOKIES[realm])
        if not attempt.problem and find_signed_in(self._services, realm, known) is not None:
            return send_on(find_next_page(attempt.request, realm))
        return self._page(
            attempt,
            "sign_in.html",
            is_console=realm is Realm.OPERATOR,
            may_sign_up=self._services.is_sandbox and realm is Realm.MERCHANT,
            was_ended=ENDED in attempt.request.query_params,
        )

    def _sign_in(self, realm: Realm, attempt: _SignInAttempt) -> Response:
        authenticated = self._authentication.authenticate(realm, attempt.request, attempt.sent)
        with self._services.database.writing() as db:
            self._authentication.let_in(db, authenticated)
            return self._let_in(db, attempt.request, authenticated.person, "sign-in")

    def _let_in(
        self,
        db: Connection,
        request: Request,
        person: Person,
        action: str,
        onwards: str | None = None,
    ) -> Response:
        # End the session that this browser had before, even if its cookie was copied.
        end_session_of(db, request.cookies.get(COOKIES[person.realm], ""))
        token = sign_in_here(self._services, request, person, db)
        self._audit(db, request, person, action)
        answer = send_on(onwards or find_next_page(request, person.realm))
        self._devices.remember(answer, person)
        set_session_cookie(answer, person.realm, token)
        return answer

    def _audit(self, db: Connection, request: Request, person: Person, action: str) -> None:
        actor = Actor(person.realm, person.email, _address(request))
        work = self._services.system_work(db, actor, request.state.request_id)
        work_for_person(work, person).audit(action)

    def _show_sign_up(self, attempt: _SignInAttempt) -> Response:
        if not self._services.is_sandbox:
            return render_message(_BY_INVITATION, status=403)
        return self._page(attempt, "sign_up.html", invitation=None, currencies=list(Currency))

    def _sign_up(self, attempt: _SignInAttempt) -> Response:
        if not self._services.is_sandbox:
            raise HTTPException(404)
        sent = attempt.sent
        email = read_email(sent.text("email"))
        check_password(sent.raw("password"), email=email)
        shop, currency = _read_shop(sent)
        password_hash = self._services.passwords.hash(sent.raw("password"))
        with self._services.database.writing() as db:
            person, _ = sign_up(
                self._services.system_work(db),
                email=email,
                shop=shop,
                password_hash=password_hash,
                currency=currency,
            )
            return self._let_in(db, attempt.request, person, "sign-up", "/orders")

    def _find_invitation(self, attempt: _SignInAttempt) -> Invitation | None:
        token = attempt.request.path_params["token"]
        with self._services.database.reading() as db:
            return find_invitation(db, token, now=self._services.clock())

    def _show_invitation(self, attempt: _SignInAttempt) -> Response:
        invitation = self._find_invitation(attempt)
        if invitation is None:
            return render_message(_NO_INVITATION, status=404)
        shop = ""
        if invitation.merchant_id is not None:
            with self._services.database.reading() as db:
                shop = get_merchant(db, invitation.merchant_id).name
        return self._page(
            attempt, "sign_up.html", invitation=invitation, shop=shop, currencies=list(Currency)
        )

    def _accept(self, attempt: _SignInAttempt) -> Response:
        invitation = self._find_invitation(attempt)
        if invitation is None:
            return render_message(_NO_INVITATION, status=404)
        sent = attempt.sent
        check_password(sent.raw("password"), email=invitation.email)
        is_new = invitation.realm is Realm.MERCHANT and not (
            invitation.merchant_id or invitation.person_id
        )
        shop, currency = _read_shop(sent) if is_new else ("", Currency.GBP)
        password_hash = self._services.passwords.hash(sent.raw("password"))
        with self._services.database.writing() as db:
            person, _ = accept_invitation(
                self._services.system_work(db),
                attempt.request.path_params["token"],
                shop=shop,
                password_hash=password_hash,
                currency=currency,
            )
            if person.has_totp:
                # Having the link does not prove having the second factor.
                self._audit(db, attempt.request, person, "accept-invitation")
                return send_on(SIGN_IN_PATHS[person.realm])
            return self._let_in(
                db, attempt.request, person, "accept-invitation", HOMES[person.realm]
            )

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
        answer = send_on("/" if realm is Realm.MERCHANT else "/console/sign-in")
        delete_session_cookie(answer, realm)
        return answer


def _read_shop(sent: Sent) -> tuple[str, Currency]:
    shop = sent.text("shop")
    if not shop:
        raise BadInput("Enter the name of your shop.")
    currency = sent.text("currency") or Currency.GBP
    return shop, read_choice(Currency, currency, "Choose one of the currencies.")


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _log_refused(attempt: _SignInAttempt, why: str) -> None:
    """Log a failed attempt: from where, and a fingerprint of the account that was named."""
    request = attempt.request
    email = attempt.sent.text("email").lower()
    log.warning(
        "sign-in refused",
        # Of an invitation, the rest is its secret.
        page=request.scope["path"].strip("/").partition("/")[0],
        why=why,
        client=_address(request),
        account=sha256(email.encode("utf-8", "replace")).hexdigest()[:8] if email else None,
        request_id=request.state.request_id,
    )


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
    sentences=("It was used before or is more than a week old.", "Ask the sender for a new one."),
    link=Link("Sign in", "/sign-in"),
)
