"""Forgotten passwords: somebody asks for a link by mail, and is told nothing about who has an account."""

from collections.abc import Mapping
from typing import Any, Final, Protocol

from starlette.responses import Response

from printworks.actions.mail.accounts import ask_for_reset
from printworks.dashboard.auth.attempts import SignInAttempt
from printworks.dashboard.auth.sessions import SIGN_IN_PATHS
from printworks.dashboard.site.rate_limits import refuse_too_many
from printworks.dashboard.site.rendering import Link, Message, render_message, send_on
from printworks.dashboard.site.services import PageServices
from printworks.rules.people import Realm, read_email

FORGOTTEN_PATHS: Final[Mapping[Realm, str]] = {
    Realm.MERCHANT: "/forgotten-password",
    Realm.OPERATOR: "/console/forgotten-password",
}
# In the address of the page: the form was sent.
_SENT: Final = "sent"


class RenderPage(Protocol):
    """Renders a page with a form for somebody who is not signed in."""

    def __call__(self, attempt: SignInAttempt, template: str, **facts: Any) -> Response:
        """Return the page."""


class ForgottenPasswords:
    """Serves the pages on which people ask for a link to choose a new password."""

    def __init__(self, services: PageServices, page: RenderPage) -> None:
        self._services = services
        self._page = page

    def show(self, realm: Realm, attempt: SignInAttempt) -> Response:
        """Show the form, or that it was sent."""
        if self._services.mail_terms is None:
            return render_message(_no_mail(realm), status=404)
        if _SENT in attempt.request.query_params and not attempt.problem:
            return render_message(_on_its_way(realm))
        return self._page(attempt, "forgotten_password.html", is_console=realm is Realm.OPERATOR)

    def take(self, realm: Realm, attempt: SignInAttempt) -> Response:
        """Let a worker send a link, if somebody signs in with the address; say the same if not."""
        if self._services.mail_terms is None:
            return render_message(_no_mail(realm), status=404)
        email, path = read_email(attempt.sent.text("email")), FORGOTTEN_PATHS[realm]
        with self._services.database.writing() as db:
            work = self._services.system_work(db, request_id=attempt.request.state.request_id)
            wait = ask_for_reset(work, realm, email)
        return send_on(f"{path}?{_SENT}=1") if wait is None else refuse_too_many(path, wait)


def _no_mail(realm: Realm) -> Message:
    return Message(
        tone="warn",
        title="Ask for a reset link",
        sentences=("This service sends no mail.", "The operator can give you a reset link."),
        link=Link("Sign in", SIGN_IN_PATHS[realm]),
    )


def _on_its_way(realm: Realm) -> Message:
    return Message(
        title="Check your email",
        sentences=(
            "If somebody signs in with that address, a link to choose a new password is on its way.",
            "It works once, within an hour. Look into the folder for spam, too.",
        ),
        link=Link("Sign in", SIGN_IN_PATHS[realm]),
    )
