"""The doors: sign up, sign in, accept an invitation, sign out."""

import re
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import timedelta
from secrets import token_hex
from typing import Any, Final

import anyio.to_thread
import msgspec
from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.actions.accounts.people import accept_invitation, sign_up
from printworks.catalogue.products import Currency
from printworks.dashboard.auth.authentication import Authentication
from printworks.dashboard.auth.devices import Devices
from printworks.dashboard.auth.sessions import (
    COOKIES,
    ENDED,
    HOMES,
    SIGN_IN_PATHS,
    find_signed_in,
    give_cookie,
    sign_in_here,
    take_cookie,
    way_on,
)
from printworks.dashboard.site.forms import FORM_TOKEN, Sent, read_sent, refuse_form
from printworks.dashboard.site.limits import RateLimiter, network_of
from printworks.dashboard.site.rate_limits import refuse_haste
from printworks.dashboard.site.rendering import Link, Message, render, render_message, send_on
from printworks.dashboard.site.services import PageServices
from printworks.errors import BadInput, ServiceError
from printworks.rules.people import Realm, check_password, read_email
from printworks.store.accounts.audit import record
from printworks.store.accounts.invitations import Invitation, find_invitation
from printworks.store.accounts.merchants import get_merchant
from printworks.store.accounts.people import Person
from printworks.store.accounts.sessions import end_session, end_session_of, hash_token

# Before somebody is known, a cookie ties a form to the browser that asked for it.
DOOR: Final = "__Host-printworks-door"
_DOOR_BYTES: Final = 16
_GIVEN: Final = re.compile(f"[0-9a-f]{{{2 * _DOOR_BYTES}}}")
# Tries from one address, whoever they are for.
_TRIES: Final = 20
_TRY_EVERY: Final = timedelta(seconds=5)
_AT_ONCE: Final = 8


class _Try(msgspec.Struct, frozen=True):
    """Somebody at a door: what was sent, and what was wrong with it."""

    request: Request
    sent: Sent = Sent()
    problem: str = ""
    status: int = 200


class SignInPages:
    """Lets people in and out."""

    def __init__(self, services: PageServices) -> None:
        self._services = services
        self._devices = Devices(services)
        self._authentication = Authentication(services, self._devices)
        self._tries = RateLimiter(burst=_TRIES, every=_TRY_EVERY)
        self._threads: anyio.CapacityLimiter | None = None

    def routes(self) -> Sequence[BaseRoute]:
        """Return the pages; only a sandbox lets everybody sign up."""
        doors: list[tuple[str, Callable[[_Try], Response], Callable[[_Try], Response]]] = [
            ("/sign-in", self._sign_in_page(Realm.MERCHANT), self._signing_in(Realm.MERCHANT)),
            (
                "/console/sign-in",
                self._sign_in_page(Realm.OPERATOR),
                self._signing_in(Realm.OPERATOR),
            ),
            ("/invitations/{token}", self._show_invitation, self._accept),
            ("/sign-up", self._show_sign_up, self._sign_up),
        ]
        outs = [("/sign-out", Realm.MERCHANT), ("/console/sign-out", Realm.OPERATOR)]
        return [
            *(
                Route(path, self._door(show, take), methods=["GET", "POST"])
                for path, show, take in doors
            ),
            *(Route(path, self._way_out(realm), methods=["POST"]) for path, realm in outs),
        ]

    def _door(
        self, show: Callable[[_Try], Response], take: Callable[[_Try], Response]
    ) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            if request.method != "POST":
                return await self._run(show, _Try(request))
            with closing(await read_sent(request)) as sent:
                return await self._run(self._take, show, take, _Try(request, sent))

        return answer

    async def _run(self, call: Callable[..., Response], *args: object) -> Response:
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(_AT_ONCE)
        return await anyio.to_thread.run_sync(lambda: call(*args), limiter=self._threads)

    def _take(
        self,
        show: Callable[[_Try], Response],
        take: Callable[[_Try], Response],
        attempt: _Try,
    ) -> Response:
        request = attempt.request
        page = request.scope["path"]
        door = _find_door(request)
        token = attempt.sent.text(FORM_TOKEN)
        if not door or not self._services.forms.is_from(f"door {door}", request, token):
            return refuse_form(page)
        wait = self._tries.take(network_of(_address(request)), now=self._services.clock())
        if wait is not None:
            return refuse_haste(page, wait)
        try:
            return take(attempt)
        except ServiceError as refusal:
            status = 400 if isinstance(refusal, BadInput) else 403
            return show(msgspec.structs.replace(attempt, problem=refusal.message, status=status))

    def _page(self, attempt: _Try, template: str, **facts: Any) -> Response:
        door = _find_door(attempt.request) or token_hex(_DOOR_BYTES)
        answer = render(
            template,
            status=attempt.status,
            problem=attempt.problem,
            sent=attempt.sent,
            form_token=self._services.forms.make_token(f"door {door}"),
            environment=self._services.settings.environment,
            **facts,
        )
        answer.set_cookie(DOOR, door, path="/", secure=True, httponly=True, samesite="strict")
        return answer

    # Signing in

    def _sign_in_page(self, realm: Realm) -> Callable[[_Try], Response]:
        def show(attempt: _Try) -> Response:
            known = attempt.request.cookies.get(COOKIES[realm])
            if not attempt.problem and find_signed_in(self._services, realm, known) is not None:
                return send_on(way_on(attempt.request, realm))
            return self._page(
                attempt,
                "sign_in.html",
                is_console=realm is Realm.OPERATOR,
                may_sign_up=self._services.is_sandbox and realm is Realm.MERCHANT,
                was_ended=ENDED in attempt.request.query_params,
            )

        return show

    def _signing_in(self, realm: Realm) -> Callable[[_Try], Response]:
        def take(attempt: _Try) -> Response:
            recognised = self._authentication.recognise(realm, attempt.request, attempt.sent)
            with self._services.database.writing() as db:
                self._authentication.let_in(db, recognised)
                return self._let_in(db, attempt.request, recognised.person, "sign-in")

        return take

    def _let_in(
        self,
        db: Connection,
        request: Request,
        person: Person,
        action: str,
        onwards: str | None = None,
    ) -> Response:
        # Whoever was signed in with this browser before is not any more, wherever its cookie is.
        end_session_of(db, request.cookies.get(COOKIES[person.realm], ""))
        token = sign_in_here(self._services, request, person, db)
        self._note(db, request, person, action)
        answer = send_on(onwards or way_on(request, person.realm))
        self._devices.remember(answer, person)
        give_cookie(answer, person.realm, token)
        return answer

    def _note(self, db: Connection, request: Request, person: Person, action: str) -> None:
        record(
            db,
            at=self._services.clock(),
            merchant_id=person.merchant_id,
            realm=person.realm,
            who=person.email,
            action=action,
            address=_address(request),
            request_id=request.state.request_id,
        )

    # Coming in for the first time

    def _show_sign_up(self, attempt: _Try) -> Response:
        if not self._services.is_sandbox:
            return render_message(_BY_INVITATION, status=403)
        return self._page(attempt, "sign_up.html", invitation=None, currencies=list(Currency))

    def _sign_up(self, attempt: _Try) -> Response:
        if not self._services.is_sandbox:
            raise HTTPException(404)
        sent = attempt.sent
        email = read_email(sent.text("email"))
        check_password(sent.raw("password"), email=email)
        shop, currency = _read_shop(sent)
        password_hash = self._services.passwords.hash(sent.raw("password"))
        with self._services.database.writing() as db:
            person, _ = sign_up(
                db,
                email=email,
                shop=shop,
                password_hash=password_hash,
                currency=currency,
                environment=self._services.settings.environment,
                now=self._services.clock(),
            )
            return self._let_in(db, attempt.request, person, "sign-up", "/orders")

    def _find_invitation(self, attempt: _Try) -> Invitation | None:
        token = attempt.request.path_params["token"]
        with self._services.database.reading() as db:
            return find_invitation(db, token, now=self._services.clock())

    def _show_invitation(self, attempt: _Try) -> Response:
        invitation = self._find_invitation(attempt)
        if invitation is None:
            return render_message(_NO_INVITATION, status=404)
        shop = ""
        if invitation.merchant_id is not None:
            with self._services.database.reading() as db:
                shop = get_merchant(db, invitation.merchant_id).name
        return self._page(
            attempt,
            "sign_up.html",
            invitation=invitation,
            shop=shop,
            currencies=list(Currency),
        )

    def _accept(self, attempt: _Try) -> Response:
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
                db,
                attempt.request.path_params["token"],
                shop=shop,
                password_hash=password_hash,
                currency=currency,
                environment=self._services.settings.environment,
                now=self._services.clock(),
            )
            if person.has_totp:
                # Whoever has the link need not have the telephone.
                self._note(db, attempt.request, person, "accept-invitation")
                return send_on(SIGN_IN_PATHS[person.realm])
            return self._let_in(
                db, attempt.request, person, "accept-invitation", HOMES[person.realm]
            )

    # Going

    def _way_out(self, realm: Realm) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            with closing(await read_sent(request)) as sent:
                return await self._run(self._sign_out, realm, request, sent)

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
        take_cookie(answer, realm)
        return answer


def _read_shop(sent: Sent) -> tuple[str, Currency]:
    shop = sent.text("shop")
    if not shop:
        raise BadInput("Enter the name of your shop.")
    try:
        return shop, Currency(sent.text("currency") or Currency.GBP)
    except ValueError:
        raise BadInput("Choose one of the currencies.") from None


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _find_door(request: Request) -> str:
    """Return the cookie that a door gave to this browser; nothing for any other text."""
    door = request.cookies.get(DOOR, "")
    return door if _GIVEN.fullmatch(door) else ""


_BY_INVITATION: Final = Message(
    tone="warn",
    title="By invitation",
    sentences=("Here orders are printed and charged, so merchants are let in by the operator.",),
    link=Link("Sign in", "/sign-in"),
)
_NO_INVITATION: Final = Message(
    tone="warn",
    title="This link does not work any more",
    sentences=(
        "It was used before, or is older than a week.",
        "Ask whoever sent it for another one.",
    ),
    link=Link("Sign in", "/sign-in"),
)
