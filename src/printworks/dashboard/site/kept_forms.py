"""Forms that came after their session had ended: kept until the same person has signed in.

What was typed is sealed in the database for an hour, and the browser that sent it has a cookie for
it. Whoever signs in there sees it if it is theirs, on the same page, and sends it again by hand:
nothing is done that nobody has asked for while signed in.
"""

import re
import secrets
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Final

import msgspec
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.responses import Response

from printworks.dashboard.site.forms import (
    FORM_TOKEN,
    LARGEST_FIELD,
    MOST_FIELDS,
    MOST_FILES,
    ONCE,
    Sent,
    clean,
    gather,
    is_from_us,
    read_sent,
)
from printworks.dashboard.site.services import PageServices
from printworks.dashboard.site.threads import Threads
from printworks.store.accounts.forms import (
    KeptForm,
    drop_kept_forms,
    find_kept_form,
    keep_form,
)
from printworks.store.accounts.people import Person, is_person
from printworks.store.accounts.secrets import seal
from printworks.store.accounts.sessions import hash_token

KEPT_COOKIE: Final = "__Host-printworks-form"
KEPT_FOR: Final = timedelta(hours=1)
_COOKIE: Final = re.compile(r"[0-9a-f]{32}")
_LARGEST: Final = 200_000
# Forms of nobody in particular that are read at the same time.
_AT_ONCE: Final = 8
# What is never kept: passwords, and what is as good as one.
_SECRET: Final = re.compile("password|passkey|secret|card|^(code|recovery_code|username)$")


class KeptContent(msgspec.Struct, frozen=True):
    """What somebody had typed, and the names of the files that they had chosen."""

    fields: dict[str, list[str]]
    files: list[str] = []

    def as_sent(self) -> Sent:
        """Return it as a form of which the files are missing."""
        return Sent(self.fields)


_read_content: Final = msgspec.json.Decoder(KeptContent).decode


class _TextParser(MultiPartParser):
    """Reads the fields of a form with files, and lets the files pass by."""

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._current_part.file is None:
            super().on_part_data(data, start, end)


class FormKeeper:
    """Keeps forms whose session has ended."""

    def __init__(self, services: PageServices) -> None:
        self._services = services
        self._threads = Threads(_AT_ONCE)
        self._reading = 0

    async def keep(self, request: Request) -> str:
        """Keep a form that was shown to a person; return the cookie for it, or nothing."""
        if self._reading >= _AT_ONCE or not is_from_us(request):
            return ""
        self._reading += 1
        try:
            content = await _read(request)
            return await self._threads.run(self._store, request, content)
        finally:
            self._reading -= 1

    def _store(self, request: Request, content: KeptContent) -> str:
        sent = content.as_sent()
        person_id = self._services.forms.read_once(sent.text(ONCE))
        written = msgspec.json.encode(_without_secrets(content)).decode()
        if person_id is None or len(written) > _LARGEST:
            return ""
        cookie = _find_cookie(request) or secrets.token_hex(16)
        page, cookie_hash = request.scope["path"], hash_token(cookie)
        with self._services.database.writing() as db:
            if not is_person(db, person_id):
                return ""
            about = _about(cookie_hash, page, person_id)
            kept = KeptForm(
                hash=cookie_hash,
                page=page,
                person_id=person_id,
                content=seal(db, self._services.vault, written, about=about),
                expires_at=self._services.clock() + KEPT_FOR,
            )
            keep_form(db, kept)
        return cookie

    def find(self, request: Request, person: Person) -> KeptContent | None:
        """Return what this person had typed on this page in this browser."""
        cookie = _find_cookie(request)
        if not cookie:
            return None
        page, cookie_hash = request.scope["path"], hash_token(cookie)
        with self._services.database.reading() as db:
            now = self._services.clock()
            kept = find_kept_form(db, cookie_hash, page, person.id, now=now)
        about = _about(cookie_hash, page, person.id)
        # A key that was replaced since may be gone.
        if kept is None or not self._services.vault.can_open(kept.content, about=about):
            return None
        return _read_content(self._services.vault.open(kept.content, about=about))

    def drop(self, request: Request, page: str | None = None) -> None:
        """Forget the form of a page, or all forms, of this browser."""
        cookie = _find_cookie(request)
        if cookie:
            with self._services.database.writing() as db:
                drop_kept_forms(db, hash_token(cookie), page)


def set_kept_cookie(answer: Response, cookie: str) -> None:
    """Give the browser what it needs to get its form back."""
    answer.set_cookie(
        KEPT_COOKIE,
        cookie,
        max_age=int(KEPT_FOR.total_seconds()),
        path="/",
        secure=True,
        httponly=True,
        samesite="lax",
    )


async def _read(request: Request) -> KeptContent:
    if not request.headers.get("content-type", "").lower().startswith("multipart/"):
        sent = await read_sent(request)
        return KeptContent({name: list(values) for name, values in sent.fields.items()})
    stream: AsyncGenerator[bytes, None] = request.stream()
    parser = _TextParser(
        request.headers,
        stream,
        max_files=MOST_FILES,
        max_fields=MOST_FIELDS,
        max_part_size=LARGEST_FIELD,
    )
    try:
        form = await parser.parse()
    except (MultiPartException, UnicodeError, KeyError):
        return KeptContent({})
    fields, files = [], []
    for name, value in form.multi_items():
        if isinstance(value, str):
            fields.append((name, value))
        else:
            value.file.close()
            files.append(clean(value.filename or ""))
    return KeptContent(gather(fields), [name for name in files if name])


def _without_secrets(content: KeptContent) -> KeptContent:
    fields = {
        name: values
        for name, values in content.fields.items()
        if name != FORM_TOKEN and not _SECRET.search(name)
    }
    return KeptContent(fields, content.files)


def _find_cookie(request: Request) -> str:
    cookie = request.cookies.get(KEPT_COOKIE, "")
    return cookie if _COOKIE.fullmatch(cookie) else ""


def _about(cookie_hash: str, page: str, person_id: int) -> str:
    """Name a form, for the seal."""
    return f"kept form {cookie_hash} {page} {person_id}"
