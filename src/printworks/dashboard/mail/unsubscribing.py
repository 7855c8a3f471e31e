"""Ends mails of one kind for whoever has the link of one: with one click, without signing in.

Mail programs send the form themselves when their button is pressed (RFC 8058): without a cookie and
without the page, so that there is no form token. The signature in the address is the permission. Opening
the address changes nothing: scanners of mail open every link.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.actions.mail.choices import stop_mails
from printworks.dashboard.shared.mail_words import MAIL_NAMES
from printworks.dashboard.site.forms import find_choice
from printworks.dashboard.site.limits import RateLimiter
from printworks.dashboard.site.rate_limits import refuse_too_many
from printworks.dashboard.site.rendering import Message, render, render_message
from printworks.dashboard.site.services import PageServices
from printworks.dashboard.site.threads import Threads
from printworks.errors import NotFound
from printworks.mail.unsubscribing import PATH, is_unsubscribe_signed
from printworks.rules.mail import NOTICES, MailKind
from printworks.store.accounts.secrets import get_link_key

_AT_ONCE: Final = 4
_TIMES: Final = 10
_EVERY: Final = timedelta(seconds=10)
_BAD_LINK: Final = Message(
    tone="warn",
    title="This link does not work",
    sentences=(
        "It is not complete, or the account is gone. Open it from the mail once more.",
        "If you have an account, you can choose your mails after signing in.",
    ),
)
_STOPPED: Final = Message(
    tone="ok",
    title="You get no more mails of this kind",
    sentences=("If one is on its way already, it may still arrive.",),
)


class UnsubscribePage:
    """Serves the page, and takes its form and that of mail programs."""

    def __init__(self, services: PageServices) -> None:
        self._services = services
        self._threads = Threads(_AT_ONCE)
        self._limiter = RateLimiter(burst=_TIMES, every=_EVERY)

    async def answer(self, request: Request) -> Response:
        """Show the page, or end the mails."""
        return await self._threads.run(
            self._take if request.method == "POST" else self._show, request
        )

    def _show(self, request: Request) -> Response:
        kind = self._find_kind(request)
        if kind is None:
            return render_message(_BAD_LINK, status=404)
        return render("unsubscribe.html", what=MAIL_NAMES[kind].text)

    def _take(self, request: Request) -> Response:
        kind, reader = self._find_kind(request), request.path_params["reader"]
        if kind is None:
            return render_message(_BAD_LINK, status=404)
        wait = self._limiter.take(reader, now=self._services.clock())
        if wait is not None:
            return refuse_too_many(request.scope["path"], wait)
        try:
            with self._services.database.writing() as db:
                stop_mails(self._services.system_work(db), kind, reader)
        except NotFound:
            return render_message(_BAD_LINK, status=404)
        return render_message(_STOPPED)

    def _find_kind(self, request: Request) -> MailKind | None:
        """Return what the link is about; None if we did not make it."""
        words = request.path_params
        with self._services.database.reading() as db:
            key = get_link_key(db, self._services.vault)
        if not is_unsubscribe_signed(key, words["reader"], words["kind"], words["signature"]):
            return None
        kind = find_choice(MailKind, words["kind"])
        return kind if kind in NOTICES or kind is MailKind.PARCEL_SENT else None


def unsubscribe_routes(services: PageServices) -> Sequence[BaseRoute]:
    """Return the page that ends mails."""
    page = UnsubscribePage(services)
    path = f"{PATH}/{{kind}}/{{reader}}/{{signature}}"
    return [Route(path, page.answer, methods=["GET", "POST"])]
