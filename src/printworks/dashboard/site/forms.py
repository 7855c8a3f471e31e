"""Forms that only our own pages can send."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Final, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from printworks.dashboard.site.rendering import ENGLISH, Link, Message, render_message
from printworks.errors import BadInput
from printworks.language.words import Words
from printworks.store.accounts.secrets import get_link_key
from printworks.store.engine.database import Database
from printworks.vault import Vault

# The name of the hidden field.
FORM_TOKEN: Final = "form_token"  # noqa: S105  (a name, not a secret)
# The name of the hidden field by which a form is done once, however often it is sent.
ONCE: Final = "once"
_ONCE_BYTES: Final = 12
_ONCE_MAC_BYTES: Final = 16
_LONGEST_ONCE: Final = 100
# A tariff has nine for each shipping band.
MOST_FIELDS: Final = 400
LARGEST_FIELD: Final = 100_000
# More than any form takes, so that the form can say how many it does.
MOST_FILES: Final = 100
# No row has a number of more digits, and with a few more added it still fits into a column.
_MOST_DIGITS: Final = 18
# Where a browser says that a form came from: our own page, or the address line.
_OUR_OWN: Final = frozenset({"same-origin", "none"})

E = TypeVar("E", bound=StrEnum)
Form = Mapping[str, str]


class Sent(msgspec.Struct, frozen=True):
    """The fields and files of a form."""

    fields: Mapping[str, Sequence[str]] = {}
    files: Mapping[str, Sequence[UploadFile]] = {}

    def text(self, name: str) -> str:
        """Return a field without the spaces around it; of a name that came twice, the last one."""
        values = self.fields.get(name)
        return values[-1].strip() if values else ""

    def raw(self, name: str) -> str:
        """Return a field with every space in it: a password."""
        values = self.fields.get(name)
        return values[-1] if values else ""

    def number(self, name: str) -> int | None:
        """Return a field that names a row by its number; None if it cannot be one."""
        return read_number(self.text(name))

    def texts(self, name: str) -> Sequence[str]:
        """Return everything that came with this name, such as boxes that were ticked."""
        return self.fields.get(name, ())

    def without(self, name: str) -> "Sent":
        """Return the form without a field."""
        kept = {each: values for each, values in self.fields.items() if each != name}
        return Sent(kept, self.files)

    def close(self) -> None:
        """Let go of the files."""
        for files in self.files.values():
            for file in files:
                file.file.close()


def read_number(text: str) -> int | None:
    """Return the whole number that a text is; None for any other, and for what no row can have."""
    is_number = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return int(text) if is_number else None


def find_choice(kind: type[E], text: str) -> E | None:
    """Return the member of an enumeration that a text names; None for any other text."""
    try:
        return kind(text)
    except ValueError:
        return None


def read_choice(kind: type[E], text: str, refusal: str, *, field: str = "") -> E:
    """Return the member of an enumeration that a text names; refuse any other text, at its field."""
    found = find_choice(kind, text)
    if found is None:
        raise BadInput(refusal, field=field)
    return found


@contextmanager
def at_field(name: str) -> Iterator[None]:
    """Say of whatever is refused within which field it is about, if that is not known yet."""
    try:
        yield
    except BadInput as refusal:
        if "" in refusal.fields:
            refusal.fields = {name: refusal.message}
        raise


class FormKey:
    """Makes and checks the hidden tokens of forms."""

    def __init__(self, database: Callable[[], Database], vault: Vault) -> None:
        self._database = database
        self._vault = vault
        self._key: bytes | None = None

    def make_token(self, whose: str) -> str:
        """Return the token for the forms of a page, by its path, or of a session, by its hash."""
        return hmac.digest(self._get(), f"form {whose}".encode(), hashlib.sha256).hex()

    def is_from(self, whose: str, request: Request, token: str) -> bool:
        """Say whether a form with this token was sent by our page, or from this session."""
        if not is_from_us(request):
            return False
        # Text that is not ASCII cannot be compared, and is not ours.
        return token.isascii() and hmac.compare_digest(token, self.make_token(whose))

    def make_once(self, person_id: int) -> str:
        """Return a token for one form that is shown to a person."""
        head = f"{person_id}.{secrets.token_urlsafe(_ONCE_BYTES)}"
        return f"{head}.{self._sign_once(head)}"

    def read_once(self, token: str) -> int | None:
        """Return the person to whom the form with this token was shown; None if it is not ours."""
        head, _, mac = token.rpartition(".")
        if len(token) > _LONGEST_ONCE or not token.isascii():
            return None
        if not hmac.compare_digest(mac, self._sign_once(head)):
            return None
        return read_number(head.partition(".")[0])

    def digest(self, *parts: str) -> str:
        """Return a hash of texts that tells nothing about them without the key."""
        whole = hmac.new(self._get(), b"contents", hashlib.sha256)
        for part in parts:
            text = part.encode()
            whole.update(len(text).to_bytes(8, "big") + text)
        return whole.hexdigest()

    def _sign_once(self, head: str) -> str:
        mac = hmac.digest(self._get(), f"once {head}".encode(), hashlib.sha256)
        return base64.urlsafe_b64encode(mac[:_ONCE_MAC_BYTES]).decode().rstrip("=")

    def _get(self) -> bytes:
        # Read when first needed, so that the start does not wait for it.
        if self._key is None:
            with self._database().reading() as db:
                self._key = get_link_key(db, self._vault).encode()
        return self._key


def is_from_us(request: Request) -> bool:
    """Say whether a browser sent a form from one of our own pages, as far as it tells."""
    site = request.headers.get("sec-fetch-site")
    return site is None or site in _OUR_OWN


async def read_form(request: Request) -> Form:
    """Return the fields of a form; of a name that came twice, the last one."""
    return {name: values[-1] for name, values in gather(await _read_pairs(request)).items()}


async def read_sent(request: Request) -> Sent:
    """Read a form of either kind; its files lie on the disk until it is closed."""
    if not request.headers.get("content-type", "").lower().startswith("multipart/"):
        return Sent(fields=gather(await _read_pairs(request)))
    try:
        form = await request.form(
            max_files=MOST_FILES, max_fields=MOST_FIELDS, max_part_size=LARGEST_FIELD
        )
    except UnicodeError:
        # It names an alphabet that cannot be read.
        raise HTTPException(400) from None
    fields = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    files: dict[str, list[UploadFile]] = {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            continue
        # A browser sends an empty file without a name where none was chosen.
        if not value.filename and not value.size:
            value.file.close()
            continue
        value.filename = clean(value.filename or "")
        files.setdefault(name, []).append(value)
    return Sent(fields=gather(fields), files=files)


async def _read_pairs(request: Request) -> list[tuple[str, str]]:
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return parse_qsl(body, keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise HTTPException(400) from None


def gather(pairs: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the fields of a form by their names."""
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name, []).append(clean(value))
    return fields


def clean(text: str) -> str:
    """Return a text without what no database takes: zero bytes, and halves of characters."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def refuse_unreadable(page: str) -> Response:
    """Return the page for a form that cannot be read, such as one with hundreds of files."""
    message = Message(
        tone="warn",
        title="The form cannot be read",
        sentences=(
            f"If it had more than {MOST_FILES} files, choose fewer of them. Nothing was changed.",
            "Go back in your browser: what you typed is still there.",
        ),
        link=Link("Open the page again", page),
    )
    return render_message(message, status=400)


def refuse_form(page: str, words: Words = ENGLISH) -> Response:
    """Return the page for a form that did not come from ours."""
    say = words.say
    message = Message(
        tone="error",
        title=say("This form could not be accepted"),
        sentences=(
            say(
                "It did not come from this page, or the page was open for too long. "
                "Nothing was changed or paid."
            ),
            say("Reload the page and send the form again."),
        ),
        link=Link(say("Reload the page"), page),
    )
    return render_message(message, status=403, words=words)
