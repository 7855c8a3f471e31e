"""Browsers in which somebody has signed in before: strangers' mistakes do not keep them out.

Whoever knows an e-mail address can let its owner wait, with one wrong password every few minutes.
A browser that has a cookie from an earlier visit has tries of its own.
"""

from collections.abc import Mapping
from datetime import timedelta
from hmac import compare_digest
from secrets import token_hex
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from printworks.dashboard.site.limits import RateLimiter
from printworks.dashboard.site.services import PageServices
from printworks.rules.people import Realm
from printworks.store.accounts.people import Person

KNOWN: Final[Mapping[Realm, str]] = {
    Realm.MERCHANT: "__Host-printworks-known",
    Realm.OPERATOR: "__Host-printworks-console-known",
}
_LASTS: Final = timedelta(days=180)
# What a browser may try while others have to wait, also if its cookie was copied.
TRIES: Final = 5
TRY_EVERY: Final = timedelta(minutes=5)


class Devices:
    """Gives browsers a cookie by which they are known to somebody, and recognises it."""

    def __init__(self, services: PageServices) -> None:
        self._services = services
        self._tries = RateLimiter(burst=TRIES, every=TRY_EVERY)

    def remember(self, answer: Response, person: Person) -> None:
        """Let a browser show that somebody has signed in with it."""
        number = token_hex(16)
        answer.set_cookie(
            KNOWN[person.realm],
            f"{number}.{self._sign(number, person)}",
            max_age=int(_LASTS.total_seconds()),
            path="/",
            secure=True,
            httponly=True,
            samesite="strict",
        )

    def may_try(self, request: Request, person: Person) -> bool:
        """Say whether a browser may try a password although strangers have to wait."""
        shown = request.cookies.get(KNOWN[person.realm], "")
        number, _, signature = shown.partition(".")
        if not shown.isascii() or not compare_digest(signature, self._sign(number, person)):
            return False
        return self._tries.take(number, now=self._services.clock()) is None

    def _sign(self, number: str, person: Person) -> str:
        # With another password every browser is a stranger again.
        return self._services.forms.make_token(
            f"device {number} {person.id} {person.password_hash}"
        )
