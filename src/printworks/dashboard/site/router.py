"""Routes requests of people who are signed in to pages and form actions.

A page is a function with a path, and its form actions are functions with the name of a button. A
form action runs in one transaction and redirects the browser; if it is refused, nothing is changed,
and the same page is shown again with the reason.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import timedelta
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlencode

import anyio
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
from printworks.dashboard.shared.dates import read_for
from printworks.dashboard.site.duties import refuse_duty
from printworks.dashboard.site.forms import (
    FORM_TOKEN,
    ONCE,
    Sent,
    is_from_us,
    read_sent,
    refuse_form,
    refuse_unreadable,
)
from printworks.dashboard.site.kept_forms import FormKeeper, set_kept_cookie
from printworks.dashboard.site.limits import RateLimiter
from printworks.dashboard.site.once import (
    OnceOnly,
    SentAlready,
    SentBefore,
    add_done,
)
from printworks.dashboard.site.pages import Arrival, FormAction, Page, page_at
from printworks.dashboard.site.rate_limits import refuse_busy, refuse_too_many
from printworks.dashboard.site.rendering import send_on
from printworks.dashboard.site.services import PageServices
from printworks.dashboard.site.threads import Threads
from printworks.dashboard.site.visits import ConsoleVisit, MerchantVisit, NothingNew, Visit
from printworks.errors import BadInput, NotFound, ServiceError
from printworks.rules.people import MAY, USUAL_DUTY, Realm
from printworks.store.accounts.merchants import get_merchant
from printworks.store.accounts.sessions import SignedIn, end_session

__all__ = ["FormAction", "Page", "PageRouter", "next_parameter", "page_at"]

V = TypeVar("V", bound=Visit)

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
# How often, and how many seconds apart, to look whether a form is done that was sent twice.
_LOOKS: Final = 40
_LOOK_EVERY: Final = 0.5
_STILL_RUNNING: Final = (
    "Your form came twice, and the first one is still being worked on. Reload the page in a "
    "moment to see what became of it."
)
# In an address: the page is shown without what is kept for it.
KEPT: Final = "kept"
# What stands for the sign-in page.
_SIGN_IN: Final = Response()
_OLD_SESSION: Final = (
    "You have signed in again since this page was opened, so nothing was changed yet. Check what you "
    "typed, and send it once more."
)
_REFUSED_BEFORE: Final = "The form came twice, and was refused. Send it once more."


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
        self._once = OnceOnly(services)
        self._kept = FormKeeper(services)
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
                return await self._turn_away(request)
            if self._is_too_weak(signed_in):
                elsewhere = await self._threads.run(self._ask_for_factor, request, signed_in)
                if elsewhere is _SIGN_IN:
                    return await self._turn_away(request)
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
            try:
                received = await read_sent(request)
            except HTTPException:
                return refuse_unreadable(request.scope["path"])
            with closing(received) as sent:
                arrival = await self._threads.run(self._check, page, request, signed_in, sent)
                if isinstance(arrival, Response):
                    return arrival
                threads = self._waiting if arrival.form_action.alone else self._threads
                answer = await threads.run(self._take, arrival)
                return answer or await self._wait(arrival)
        finally:
            self._forms[person] -= 1
            if not self._forms[person]:
                del self._forms[person]

    async def _wait(self, arrival: Arrival[V]) -> Response:
        """Wait for a form that came twice and is worked on, and answer as it was answered."""
        for _ in range(_LOOKS):
            await anyio.sleep(_LOOK_EVERY)
            answer = await self._threads.run(self._look, arrival)
            if answer is not None:
                return answer
        return refuse_busy(arrival.request.scope["path"], _STILL_RUNNING)

    def _find(self, request: Request) -> SignedIn | None:
        token = request.cookies.get(COOKIES[self._realm])
        # A page that refreshes itself is no activity of a person.
        is_there = "hx-request" not in request.headers
        return find_signed_in(self._services, self._realm, token, is_there=is_there)

    def _is_too_weak(self, signed_in: SignedIn) -> bool:
        is_strong = signed_in.session.is_strong
        return not is_strong and is_required(self._services, signed_in.person)

    def _ask_for_factor(self, request: Request, signed_in: SignedIn) -> Response | None:
        """Send somebody who needs a second factor to where it is set up, or to sign in with it."""
        settings = SETTINGS_PATHS[self._realm]
        with self._services.database.reading() as db:
            has_one = has_any(db, signed_in.person)
        if not has_one:
            return None if request.scope["path"] == settings else send_on(f"{settings}#totp")
        # Whoever knows the password alone must not be able to add a factor of their own.
        with self._services.database.writing() as db:
            end_session(db, signed_in.person.id, signed_in.session.hash)
        return _SIGN_IN

    async def _turn_away(self, request: Request) -> Response:
        """Send somebody to the sign-in page, and keep what was typed until they are back."""
        address = f"{SIGN_IN_PATHS[self._realm]}?{next_parameter(request)}"
        if request.method == "POST":
            cookie = await self._kept.keep(request)
            answer = send_on(f"{address}&{ENDED}={'kept' if cookie else 'lost'}")
            if cookie:
                set_kept_cookie(answer, cookie)
            return answer
        if "bell" in request.query_params:
            # The bell asks on every page, also on one where somebody is typing: it stays there.
            return Response(status_code=204)
        if "hx-request" in request.headers:
            # A page that refreshes itself would show the sign-in page inside itself.
            return Response(status_code=204, headers={"HX-Redirect": address})
        return send_on(address)

    def _show(self, page: Page[V], request: Request, signed_in: SignedIn) -> Response:
        wait = self._views.take(signed_in.session.hash, now=self._services.clock())
        if wait is not None:
            return refuse_too_many(request.scope["path"], wait)
        if page.duty not in MAY[signed_in.person.role]:
            return refuse_duty(self._realm, page.duty)
        done = self._says.get(request.query_params.get("done", ""), "")
        kept = None
        if "hx-request" not in request.headers and KEPT not in request.query_params:
            kept = self._kept.find(request, signed_in.person)
        if kept is None:
            return self._show_again(page, request, signed_in, done=done)
        return self._show_again(page, request, signed_in, sent=kept.as_sent(), kept=kept)

    def _show_again(
        self, page: Page[V], request: Request, signed_in: SignedIn, **said: Any
    ) -> Response:
        with self._services.database.reading() as db:
            visit = self._visit(db, request, signed_in, **said)
            try:
                return page.show(visit)
            except NotFound:
                return _show_nothing(visit)
            except HTTPException as refusal:
                if refusal.status_code != 404:
                    raise
                return _show_nothing(visit)
            except NothingNew:
                return Response(status_code=204)

    def _check(
        self, page: Page[V], request: Request, signed_in: SignedIn, sent: Sent
    ) -> Response | Arrival[V]:
        """Refuse a form that is not ours, comes too often, or is for somebody else to send."""
        refused = self._refuse(page, request, signed_in, sent)
        if refused is not None:
            return refused
        form_action = page.find_action(sent.text("do"))
        if form_action is None:
            raise HTTPException(400)
        needed = self._duties[form_action.name]
        if not {page.duty, needed} <= MAY[signed_in.person.role]:
            return refuse_duty(self._realm, needed)
        submission = None
        if not form_action.only_shows:
            submission = self._once.identify(request, signed_in.person, sent, done=form_action.done)
        return Arrival(page, request, signed_in, sent, form_action, submission)

    def _take(self, arrival: Arrival[V]) -> Response | None:
        """Run the action of a form; return None if that is being done for the same form already."""
        if self._once.find(arrival.submission) is not None:
            return self._look(arrival)
        form_action, signed_in = arrival.form_action, arrival.signed_in
        try:
            if form_action.needs_password:
                unproved, signed_in = self._reauthentication.prove(
                    signed_in,
                    arrival.sent.raw("current_password"),
                    is_always_asked=form_action.always_asks,
                )
                arrival = msgspec.structs.replace(arrival, signed_in=signed_in)
                if unproved:
                    wrong = {"current_password": unproved}
                    said = {"problem": unproved, "wrong_fields": wrong, "is_proof_wrong": True}
                    return self._refuse_arrival(arrival, **said)
            answer = self._do(arrival)
            self._kept.drop(arrival.request, arrival.request.scope["path"])
            return answer
        except SentBefore:
            return self._look(arrival)
        except NotFound:
            with self._services.database.reading() as db:
                return _show_nothing(self._visit(db, arrival.request, arrival.signed_in))
        except ServiceError as refusal:
            fields = refusal.fields if isinstance(refusal, BadInput) else {}
            return self._refuse_arrival(arrival, problem=refusal.message, wrong_fields=fields)

    def _refuse_arrival(self, arrival: Arrival[V], **said: Any) -> Response:
        """Show the page again with what was sent, and why that was refused."""
        said = {"sent": arrival.sent, **said}
        return self._show_again(arrival.page, arrival.request, arrival.signed_in, **said)

    def _look(self, arrival: Arrival[V]) -> Response | None:
        """Answer a form that came before; return None while it is still being worked on."""
        first = self._once.find(arrival.submission)
        if arrival.submission is None or first is None:
            return self._refuse_arrival(arrival, problem=_REFUSED_BEFORE)
        try:
            return self._once.answer_again(arrival.submission, first)
        except SentAlready as already:
            return self._refuse_arrival(
                arrival,
                # Sent once more, it is another one.
                sent=arrival.sent.without(ONCE),
                problem=already.message,
                problem_link=already.link,
            )

    def _refuse(
        self, page: Page[V], request: Request, signed_in: SignedIn, sent: Sent
    ) -> Response | None:
        session, path, forms = signed_in.session.hash, request.scope["path"], self._services.forms
        is_ours = forms.is_from(f"session {session}", request, sent.text(FORM_TOKEN))
        # They may have signed in again since the page was opened.
        is_older = is_from_us(request) and forms.read_once(sent.text(ONCE)) == signed_in.person.id
        if not is_ours and not is_older:
            return refuse_form(path)
        wait = self._sends.take(session, now=self._services.clock())
        if wait is not None:
            return refuse_too_many(path, wait)
        if is_ours or page.duty not in MAY[signed_in.person.role]:
            return None if is_ours else refuse_duty(self._realm, page.duty)
        said = {"problem": _OLD_SESSION, "is_proof_wrong": True}
        return self._show_again(page, request, signed_in, sent=sent, **said)

    def _do(self, arrival: Arrival[V]) -> Response:
        """Run an action and write down what it came to, in its transaction if it has only one."""
        database, submission = self._services.database, arrival.submission
        said = {"sent": arrival.sent, "submission": submission}
        if not arrival.form_action.alone:
            with database.writing() as db:
                self._once.begin(db, submission)
                answer = _perform(
                    arrival, self._visit(db, arrival.request, arrival.signed_in, **said)
                )
                self._once.finish(db, submission, answer)
                return answer
        with database.reading() as db:
            visit = self._visit(db, arrival.request, arrival.signed_in, **said)
        with self._once.alone(submission):
            answer = _perform(arrival, msgspec.structs.replace(visit, connection=None))
            if submission is not None:
                with database.writing() as db:
                    self._once.finish(db, submission, answer)
        return answer

    def _visit(self, db: Any, request: Request, signed_in: SignedIn, **said: Any) -> Any:
        read_for(request.headers.get("accept-language", ""))
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


def _perform(arrival: Arrival[V], visit: Any) -> Response:
    onward = arrival.form_action.take(visit)
    if isinstance(onward, Response):
        return onward
    return send_on(add_done(onward or arrival.request.scope["path"], arrival.form_action.done))


def _show_nothing(visit: Any) -> Response:
    """Say that there is nothing here, with the menu beside it."""
    answer: Response = visit.render("not_found.html", status=404)
    return answer


def next_parameter(request: Request) -> str:
    """Return the parameter that tells the sign-in page where to continue."""
    # Neither the tag of a refresh nor a message concerns the next page.
    lasting = [one for one in request.query_params.multi_items() if one[0] not in {"seen", "done"}]
    path = request.scope["path"]
    return urlencode({"next": f"{path}?{urlencode(lasting)}" if lasting else path})
