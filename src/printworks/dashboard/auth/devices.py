"""Browsers that signed in before: failures elsewhere do not lock them out.

Anyone who knows an email address could lock its owner out with a wrong password every few
minutes. A browser with a cookie of an earlier sign-in has attempts of its own.
"""

from collections.abc import Mapping
from datetime import timedelta
from hmac import compare_digest
from secrets import token_hex
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from printworks.dashboard.site.services import PageServices
from printworks.rules.people import Realm
from printworks.store.accounts.people import Person

KNOWN: Final[Mapping[Realm, str]] = {
    Realm.MERCHANT: "__Host-printworks-known",
    Realm.OPERATOR: "__Host-printworks-console-known",
}
_LASTS: Final = timedelta(days=180)


class Devices:
    """Issues and checks the cookies of browsers that signed in before."""

    def __init__(self, services: PageServices) -> None:
        self._services = services

    def remember(self, answer: Response, person: Person) -> None:
        """Set the cookie that shows that a person has signed in with this browser."""
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

    def find(self, request: Request, person: Person | None) -> str:
        """Return the number of a browser in which a person signed in before; empty if it is none."""
        if person is None:
            return ""
        shown = request.cookies.get(KNOWN[person.realm], "")
        number, _, signature = shown.partition(".")
        if not shown.isascii() or not compare_digest(signature, self._sign(number, person)):
            return ""
        return number

    def _sign(self, number: str, person: Person) -> str:
        # A new password invalidates the cookies of all browsers.
        return self._services.forms.make_token(
            f"device {number} {person.id} {person.password_hash}"
        )
