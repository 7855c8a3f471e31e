"""Routes requests of people who are signed in to pages and form actions.

A page is a function with a path, and its form actions are functions with the name of a button. A
form action runs in one transaction and redirects the browser; if it is refused, nothing is changed,
and the same page is shown again with the reason.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from functools import partial
from typing import Any, Concatenate, Final, Generic, TypeVar
from urllib.parse import urlencode

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.dashboard.auth.reauthentication import Reauthentication
from printworks.dashboard.auth.second_factor import has_any, is_required
from printworks.dashboard.auth.sessions import (
    COOKIES,
    ENDED,
    SETTINGS_PATHS,
    SIGN_IN_PATHS,
    find_signed_in,
)
from printworks.dashboard.site.forms import FORM_TOKEN, Sent, read_sent, refuse_form
from printworks.dashboard.site.limits import RateLimiter
from printworks.dashboard.site.rate_limits import refuse_too_many
from printworks.dashboard.site.rendering import Link, Message, render_message, send_on
from printworks.dashboard.site.services import PageServices
from printworks.dashboard.site.threads import Threads
from printworks.dashboard.site.visits import ConsoleVisit, MerchantVisit, NothingNew, Visit
from printworks.errors import NotFound, ServiceError
from printworks.rules.people import MAY, USUAL_DUTY, Duty, Realm
from printworks.store.accounts.merchants import get_merchant
from printworks.store.accounts.sessions import SignedIn, end_session

V = TypeVar("V", bound=Visit)
# What a form action returns: where the browser goes next, a page, or None to stay where it is.
Onward = str | Response | None
# It may take more than the visit when form actions show the page, such as a key to be shown once.
Show = Callable[Concatenate[V, ...], Response]
Take = Callable[[V], Onward]

# Pages that are made at the same time, and form actions that wait for something: those of one
# merchant must not block the pages of all others.
_AT_ONCE: Final = 16
_ALONE_AT_ONCE: Final = 8
# Forms of one person that are received or worked on: each may have pictures, which lie on the disk.
_FORMS_AT_ONCE: Final = 4
_VIEWS: Final = 120
_VIEW_EVERY: Final = timedelta(seconds=0.25)
_SENDS: Final = 30
_SEND_EVERY: Final = timedelta(seconds=1)


class FormAction(msgspec.Struct, Generic[V], frozen=True):
    """What a form of a page does, by the name of its button."""

    # Unique among all form actions.
    name: str
    take: Take[V]
    # What the next page says.
    says: str = ""
    # Whether the password must have been entered recently.
    needs_password: bool = False
    # Whether it must be entered with this very form.
    always_asks: bool = False
    # What the person's role must include; None is what is usual in the area.
    duty: Duty | None = None
    # Whether it makes its own transactions, since it waits for something between them.
    alone: bool = False


class Page(msgspec.Struct, Generic[V], frozen=True):
    """One page: where it is, who shows it, and what its forms ask for."""

    path: str
    show: Show[V]
    form_actions: list[FormAction[V]] = []
    duty: Duty = Duty.LOOK
    sandbox_only: bool = False
    # The duty of its forms, where it is another than that of the page.
    forms: Duty | None = None

    def __call__(self, visit: V, *more: object) -> Response:
        return self.show(visit, *more)

    def action(
        self,
        name: str,
        says: str = "",
        *,
        needs_password: bool = False,
        always_asks: bool = False,
        duty: Duty | None = None,
        alone: bool = False,
    ) -> Callable[[Take[V]], Take[V]]:
        """Make a function a form action of this page, with the duty of its forms unless it has one."""
        of_page = None if self.duty is Duty.LOOK else self.duty
        needed = duty or self.forms or of_page

        def register(take: Take[V]) -> Take[V]:
            action = FormAction(name, take, says, needs_password, always_asks, needed, alone)
            self.form_actions.append(action)
            return take

        return register

    def find_action(self, name: str) -> FormAction[V] | None:
        return next((action for action in self.form_actions if action.name == name), None)


def page_at(
    path: str, *, duty: Duty = Duty.LOOK, sandbox_only: bool = False, forms: Duty | None = None
) -> Callable[[Show[V]], Page[V]]:
    """Make a function the page at a path, which is served once it is in the table of its area."""
    return lambda show: Page(path, show, duty=duty, sandbox_only=sandbox_only, forms=forms)


class PageRouter(Generic[V]):
    """Serves the pages of one realm to those who are signed in there."""

    def __init__(self, services: PageServices, realm: Realm, pages: Sequence[Page[V]]) -> None:
        self._services = services
        self._realm = realm
        self._pages = [page for page in pages if services.is_sandbox or not page.sandbox_only]
        self._says = {
            form_action.name: form_action.says
            for page in pages
            for form_action in page.form_actions
        }
        self._duties = {
            form_action.name: form_action.duty or USUAL_DUTY[realm]
            for page in pages
            for form_action in page.form_actions
        }
        self._reauthentication = Reauthentication(services)
        self._views = RateLimiter(burst=_VIEWS, every=_VIEW_EVERY)
        self._sends = RateLimiter(burst=_SENDS, every=_SEND_EVERY)
        self._forms: Counter[int] = Counter()
        self._threads = Threads(_AT_ONCE)
        self._waiting = Threads(_ALONE_AT_ONCE)

    def routes(self) -> Sequence[BaseRoute]:
        return [
            Route(page.path, self._answering(page), methods=["GET", "POST"]) for page in self._pages
        ]

    def _answering(self, page: Page[V]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            signed_in: SignedIn | None = await self._threads.run(self._find, request)
            if signed_in is None:
                return self._send_to_sign_in(request)
            if self._is_too_weak(signed_in):
                elsewhere = await self._threads.run(self._ask_for_factor, request, signed_in)
                if elsewhere is not None:
                    return elsewhere
            if request.method != "POST":
                return await self._threads.run(self._show, page, request, signed_in)
            return await self._receive(page, request, signed_in)

        return answer

    async def _receive(self, page: Page[V], request: Request, signed_in: SignedIn) -> Response:
        """Read a form, only after authentication, and run its action."""
        person = signed_in.person.id
        if self._forms[person] >= _FORMS_AT_ONCE:
            return refuse_too_many(request.scope["path"], _SEND_EVERY)
        self._forms[person] += 1
        try:
            with closing(await read_sent(request)) as sent:
                action = page.find_action(sent.text("do"))
                threads = self._waiting if action and action.alone else self._threads
                return await threads.run(self._take, page, request, signed_in, sent)
        finally:
            self._forms[person] -= 1
            if not self._forms[person]:
                del self._forms[person]

    def _find(self, request: Request) -> SignedIn | None:
        token = request.cookies.get(COOKIES[self._realm])
        # A page that refreshes itself is no activity of a person.
        is_there = "hx-request" not in request.headers
        return find_signed_in(self._services, self._realm, token, is_there=is_there)

    def _is_too_weak(self, signed_in: SignedIn) -> bool:
        is_strong = signed_in.session.is_strong
        return not is_strong and is_required(self._services, signed_in.person)

    def _ask_for_factor(self, request: Request, signed_in: SignedIn) -> Response | None:
        """Send somebody who needs a second factor to where it is set up, or shown."""
        settings = SETTINGS_PATHS[self._realm]
        with self._services.database.reading() as db:
            has_one = has_any(db, signed_in.person)
        if not has_one:
            return None if request.scope["path"] == settings else send_on(f"{settings}#totp")
        # Whoever knows the password alone must not be able to add a factor of their own.
        with self._services.database.writing() as db:
            end_session(db, signed_in.person.id, signed_in.session.hash)
        return self._send_to_sign_in(request)

    def _send_to_sign_in(self, request: Request) -> Response:
        sign_in_path = SIGN_IN_PATHS[self._realm]
        if request.method != "GET":
            # The form was not read, so the sign-in page says that nothing was changed.
            back = urlencode({"next": request.scope["path"], ENDED: "1"})
            return send_on(f"{sign_in_path}?{back}")
        if "bell" in request.query_params:
            # The bell asks on every page, also on one where somebody is typing: it stays there.
            return Response(status_code=204)
        address = f"{sign_in_path}?{next_parameter(request)}"
        if "hx-request" in request.headers:
            # A page that refreshes itself would show the sign-in page inside itself.
            return Response(status_code=204, headers={"HX-Redirect": address})
        return send_on(address)

    def _show(self, page: Page[V], request: Request, signed_in: SignedIn) -> Response:
        wait = self._views.take(signed_in.session.hash, now=self._services.clock())
        if wait is not None:
            return refuse_too_many(request.scope["path"], wait)
        if page.duty not in MAY[signed_in.person.role]:
            return _refuse_duty(self._realm, page.duty)
        done = self._says.get(request.query_params.get("done", ""), "")
        return self._show_again(page, request, signed_in, done=done)

    def _show_again(
        self, page: Page[V], request: Request, signed_in: SignedIn, **said: Any
    ) -> Response:
        with self._services.database.reading() as db:
            visit = self._visit(db, request, signed_in, **said)
            try:
                return page.show(visit)
            except NotFound:
                raise HTTPException(404) from None
            except NothingNew:
                return Response(status_code=204)

    def _take(self, page: Page[V], request: Request, signed_in: SignedIn, sent: Sent) -> Response:
        refused = self._refuse(request, signed_in, sent)
        if refused is not None:
            return refused
        form_action = page.find_action(sent.text("do"))
        if form_action is None:
            raise HTTPException(400)
        needed = self._duties[form_action.name]
        if not {page.duty, needed} <= MAY[signed_in.person.role]:
            return _refuse_duty(self._realm, needed)
        show_again = partial(self._show_again, page, request, sent=sent)
        try:
            if form_action.needs_password:
                wrong, signed_in = self._reauthentication.prove(
                    signed_in,
                    sent.raw("current_password"),
                    is_always_asked=form_action.always_asks,
                )
                if wrong:
                    return show_again(signed_in, problem=wrong, is_proof_wrong=True)
            onward = self._do(form_action, request, signed_in, sent)
        except NotFound:
            raise HTTPException(404) from None
        except ServiceError as refusal:
            return show_again(signed_in, problem=refusal.message)
        return _send_on(form_action, onward, request.scope["path"])

    def _refuse(self, request: Request, signed_in: SignedIn, sent: Sent) -> Response | None:
        session, page = signed_in.session.hash, request.scope["path"]
        if not self._services.forms.is_from(f"session {session}", request, sent.text(FORM_TOKEN)):
            return refuse_form(page)
        wait = self._sends.take(session, now=self._services.clock())
        return None if wait is None else refuse_too_many(page, wait)

    def _do(
        self, form_action: FormAction[V], request: Request, signed_in: SignedIn, sent: Sent
    ) -> Onward:
        if not form_action.alone:
            with self._services.database.writing() as db:
                return form_action.take(self._visit(db, request, signed_in, sent=sent))
        with self._services.database.reading() as db:
            visit = self._visit(db, request, signed_in, sent=sent)
        return form_action.take(msgspec.structs.replace(visit, connection=None))

    def _visit(self, db: Any, request: Request, signed_in: SignedIn, **said: Any) -> Any:
        known = {
            "services": self._services,
            "request": request,
            "person": signed_in.person,
            "session": signed_in.session,
            "real_now": self._services.clock(),
            "connection": db,
            "duties": self._duties,
            **said,
        }
        if signed_in.person.merchant_id is None:
            return ConsoleVisit(**known)
        return MerchantVisit(merchant=get_merchant(db, signed_in.person.merchant_id), **known)


def _send_on(form_action: FormAction[V], onward: Onward, page: str) -> Response:
    if isinstance(onward, Response):
        return onward
    address = onward or page
    if not form_action.says:
        return send_on(address)
    return send_on(f"{address}{'&' if '?' in address else '?'}done={form_action.name}")


def next_parameter(request: Request) -> str:
    """Return the parameter that tells the sign-in page where to continue."""
    # Neither the tag of a refresh nor a message concerns the next page.
    lasting = [one for one in request.query_params.multi_items() if one[0] not in {"seen", "done"}]
    path = request.scope["path"]
    return urlencode({"next": f"{path}?{urlencode(lasting)}" if lasting else path})


# Whom to ask for another role, and where to go on.
_ELSEWHERE: Final[Mapping[Realm, tuple[str, Link]]] = {
    Realm.MERCHANT: (
        "Ask an owner of the shop for access.",
        Link("Back to your home page", "/home"),
    ),
    Realm.OPERATOR: ("Ask an administrator for access.", Link("Back to the overview", "/console")),
}


def _refuse_duty(realm: Realm, duty: Duty) -> Response:
    whom_to_ask, link = _ELSEWHERE[realm]
    message = Message(
        tone="warn",
        title="Not allowed",
        sentences=(
            f"Your role does not allow you to {duty}. Nothing was changed.",
            whom_to_ask,
        ),
        link=link,
    )
    return render_message(message, status=403)
