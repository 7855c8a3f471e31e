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
from printworks.dashboard.site.forms import find_choice
from printworks.dashboard.site.limits import RateLimiter
from printworks.dashboard.site.rate_limits import refuse_too_many
from printworks.dashboard.site.rendering import Message, render
from printworks.dashboard.site.services import PageServices
from printworks.dashboard.site.threads import Threads
from printworks.errors import NotFound
from printworks.language.words import Words
from printworks.mail.unsubscribing import (
    LANGUAGE,
    PATH,
    UnsubscribeWords,
    describe_unsubscribing,
    is_unsubscribe_signed,
)
from printworks.rules.languages import Language
from printworks.rules.mail import NOTICES, MailKind
from printworks.store.accounts.secrets import get_link_key

_AT_ONCE: Final = 4
_TIMES: Final = 10
_EVERY: Final = timedelta(seconds=10)


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
        if self._find_kind(request) is None:
            return _refuse(request)
        language, words = _find_words(request)
        return render("unsubscribe.html", words=words, language=language, say=Words(language).say)

    def _take(self, request: Request) -> Response:
        kind, reader = self._find_kind(request), request.path_params["reader"]
        if kind is None:
            return _refuse(request)
        wait = self._limiter.take(reader, now=self._services.clock())
        if wait is not None:
            return refuse_too_many(request.scope["path"], wait)
        try:
            with self._services.database.writing() as db:
                stop_mails(self._services.system_work(db), kind, reader)
        except NotFound:
            return _refuse(request)
        language, words = _find_words(request)
        done = Message(tone="ok", title=words.done, sentences=(words.afterwards,))
        return render("message.html", message=done, language=language, say=Words(language).say)

    def _find_kind(self, request: Request) -> MailKind | None:
        """Return what the link is about; None if we did not make it."""
        words = request.path_params
        with self._services.database.reading() as db:
            key = get_link_key(db, self._services.vault)
        if not is_unsubscribe_signed(key, words["reader"], words["kind"], words["signature"]):
            return None
        kind = find_choice(MailKind, words["kind"])
        return kind if kind in NOTICES or kind is MailKind.PARCEL_SENT else None


def _find_words(request: Request) -> tuple[Language, UnsubscribeWords]:
    """Return the language of the mail, and what the page says in it."""
    language = find_choice(Language, request.query_params.get(LANGUAGE, "")) or Language.EN
    return language, describe_unsubscribing(Words(language))


def _refuse(request: Request) -> Response:
    language, words = _find_words(request)
    message = Message(tone="warn", title=words.not_ours, sentences=(words.instead,))
    return render(
        "message.html", status=404, message=message, language=language, say=Words(language).say
    )


def unsubscribe_routes(services: PageServices) -> Sequence[BaseRoute]:
    """Return the page that ends mails."""
    page = UnsubscribePage(services)
    path = f"{PATH}/{{kind}}/{{reader}}/{{signature}}"
    return [Route(path, page.answer, methods=["GET", "POST"])]
