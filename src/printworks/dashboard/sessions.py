"""The cookie by which a browser is recognised, and whom it belongs to."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from printworks.dashboard.office import Office
from printworks.rules.people import LONGEST, Realm
from printworks.store.people import Person
from printworks.store.sessions import SignedIn, begin_session, find_session, touch_session

# Browsers take a cookie of such a name only over HTTPS, from this host and for all of it.
COOKIES: Final[Mapping[Realm, str]] = {
    Realm.MERCHANT: "__Host-printworks",
    Realm.OPERATOR: "__Host-printworks-console",
}
ENTRANCES: Final[Mapping[Realm, str]] = {
    Realm.MERCHANT: "/sign-in",
    Realm.OPERATOR: "/console/sign-in",
}
HOMES: Final[Mapping[Realm, str]] = {Realm.MERCHANT: "/orders", Realm.OPERATOR: "/console"}
# A page need not write that somebody was there if one before it has lately.
_TOUCH_EVERY: Final = timedelta(minutes=5)
_LONGEST_TOKEN: Final = 100
_LONGEST_AGENT: Final = 300


def find_signed_in(office: Office, realm: Realm, token: str | None) -> SignedIn | None:
    """Return who shows this cookie, and let their session last longer."""
    if not token or len(token) > _LONGEST_TOKEN:
        return None
    now = office.clock()
    with office.database.reading() as db:
        found = find_session(db, realm, token, now=now)
    if found is not None and now - found.session.seen_at >= _TOUCH_EVERY:
        with office.database.writing() as db:
            touch_session(db, found, now=now)
    return found


def sign_in_here(office: Office, request: Request, person: Person, db: object) -> str:
    """Begin a session for the browser that asks, and return what its cookie holds."""
    client = request.client
    return begin_session(
        db,  # type: ignore[arg-type]
        person,
        address=client.host if client else "",
        user_agent=request.headers.get("user-agent", "")[:_LONGEST_AGENT],
        now=office.clock(),
    )


def give_cookie(response: Response, realm: Realm, token: str) -> None:
    """Let a browser show who it belongs to from now on."""
    response.set_cookie(
        COOKIES[realm],
        token,
        max_age=int(LONGEST.total_seconds()),
        path="/",
        secure=True,
        httponly=True,
        samesite="lax",
    )


def take_cookie(response: Response, realm: Realm) -> None:
    """Let a browser forget."""
    response.delete_cookie(COOKIES[realm], path="/", secure=True, httponly=True, samesite="lax")
