"""Session cookies, and the people they belong to."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response

from printworks.dashboard.site.services import PageServices
from printworks.rules.people import LONGEST, Realm
from printworks.store.accounts.people import Person
from printworks.store.accounts.sessions import (
    NewSession,
    SignedIn,
    begin_session,
    find_session,
    touch_session,
)

# Browsers take a cookie of such a name only over HTTPS, from this host and for all of it.
COOKIES: Final[Mapping[Realm, str]] = {
    Realm.MERCHANT: "__Host-printworks",
    Realm.OPERATOR: "__Host-printworks-console",
}
SIGN_IN_PATHS: Final[Mapping[Realm, str]] = {
    Realm.MERCHANT: "/sign-in",
    Realm.OPERATOR: "/console/sign-in",
}
# In the address of the sign-in page: a form was sent after its session had ended.
ENDED: Final = "ended"
SETTINGS_PATHS: Final[Mapping[Realm, str]] = {
    Realm.MERCHANT: "/settings",
    Realm.OPERATOR: "/console/settings",
}
HOMES: Final[Mapping[Realm, str]] = {Realm.MERCHANT: "/home", Realm.OPERATOR: "/console"}
# How often the last activity of a session is written.
_TOUCH_EVERY: Final = timedelta(minutes=5)
_LONGEST_TOKEN: Final = 100
_LONGEST_AGENT: Final = 300


def find_signed_in(
    services: PageServices, realm: Realm, token: str | None, *, is_there: bool = True
) -> SignedIn | None:
    """Return the person of a session cookie; activity extends the session."""
    if not token or len(token) > _LONGEST_TOKEN:
        return None
    now = services.clock()
    with services.database.reading() as db:
        found = find_session(db, realm, token, now=now)
    if is_there and found is not None and now - found.session.seen_at >= _TOUCH_EVERY:
        with services.database.writing() as db:
            touch_session(db, found, now=now)
    return found


def sign_in_here(
    db: Connection, request: Request, person: Person, *, is_strong: bool, now: datetime
) -> str:
    """Begin a session for this browser, and return the value of its cookie."""
    client = request.client
    new = NewSession(
        address=client.host if client else "",
        user_agent=request.headers.get("user-agent", "")[:_LONGEST_AGENT],
        is_strong=is_strong,
    )
    return begin_session(db, person, new, now=now)


def set_session_cookie(response: Response, realm: Realm, token: str) -> None:
    response.set_cookie(
        COOKIES[realm],
        token,
        max_age=int(LONGEST.total_seconds()),
        path="/",
        secure=True,
        httponly=True,
        samesite="lax",
    )


def delete_session_cookie(response: Response, realm: Realm) -> None:
    response.delete_cookie(COOKIES[realm], path="/", secure=True, httponly=True, samesite="lax")


def find_next_page(request: Request, realm: Realm) -> str:
    """Return the page that was asked for before signing in, if it is one of this area."""
    wanted = request.query_params.get("next", "")
    is_ours = wanted.startswith("/") and not wanted.startswith(("//", "/\\"))
    path = wanted.partition("?")[0].partition("#")[0]
    is_console = path == "/console" or path.startswith("/console/")
    fits = is_ours and wanted.isprintable() and is_console == (realm is Realm.OPERATOR)
    return wanted if fits else HOMES[realm]
