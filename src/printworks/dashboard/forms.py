"""Forms that only our own pages can send."""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from printworks.dashboard.rendering import Link, Message, render_message
from printworks.store.database import Database
from printworks.store.secrets import LINKS, get_secret

# The name of the hidden field.
FORM_TOKEN: Final = "form_token"  # noqa: S105  (a name, not a secret)
_MOST_FIELDS: Final = 50
# Where a browser says that a form came from: our own page, or the address line.
_OUR_OWN: Final = frozenset({"same-origin", "none"})

Form = Mapping[str, str]


class FormKey:
    """Makes the hidden token of each page's forms, and recognises it."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database
        self._key: bytes | None = None

    def make_token(self, page: str) -> str:
        """Return the token for the forms of a page, by its path."""
        return hmac.digest(self._get(), f"form {page}".encode(), hashlib.sha256).hex()

    def is_from(self, page: str, request: Request, form: Form) -> bool:
        """Say whether a form was sent by our page at this path."""
        site = request.headers.get("sec-fetch-site")
        if site is not None and site not in _OUR_OWN:
            return False
        token = form.get(FORM_TOKEN, "")
        # Text that is not ASCII cannot be compared, and is not ours.
        return token.isascii() and hmac.compare_digest(token, self.make_token(page))

    def _get(self) -> bytes:
        # Read when first needed: a start need not wait for it.
        if self._key is None:
            with self._database().reading() as db:
                self._key = get_secret(db, LINKS).encode()
        return self._key


async def read_form(request: Request) -> Form:
    """Return the fields of a form; of a name that came twice, the last one."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        fields = parse_qsl(body, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise HTTPException(400) from None
    # No database takes a zero byte.
    return {name: value.replace("\0", "") for name, value in fields}


def refuse_form(page: str) -> Response:
    """Return the page for a form that did not come from ours."""
    message = Message(
        tone="error",
        title="This form could not be accepted",
        sentences=(
            "It did not come from this page, or the page had been open for very long. "
            "Nothing was changed and nothing was paid.",
            "Open the page again and send the form from there.",
        ),
        link=Link("Open the page again", page),
    )
    return render_message(message, status=403)
