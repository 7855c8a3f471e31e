"""Every form is done once, however often it is sent.

A form has a token from when it was shown. The first one that comes with it writes down, in the
transaction of its action, where it led; whoever sends it again is led there, too. One that was
refused leaves nothing behind, and may be corrected and sent again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Final

import msgspec
from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from printworks.dashboard.site.forms import FORM_TOKEN, ONCE, Sent
from printworks.dashboard.site.rendering import send_on
from printworks.dashboard.site.services import PageServices
from printworks.errors import WrongState
from printworks.store.accounts.forms import (
    KEEP_ANSWERS,
    FormClaim,
    SentForm,
    about_answer,
    claim_form,
    find_form,
    finish_form,
    note_location,
    release_form,
)
from printworks.store.accounts.people import Person
from printworks.store.accounts.secrets import seal

# No form action runs longer: one without an end by then died with its process.
_RUNS_AT_MOST: Final = timedelta(minutes=2)
_LARGEST_ANSWER: Final = 200_000
# What may differ between two forms that are the same.
_NOT_COMPARED: Final = frozenset({FORM_TOKEN, ONCE, "username", "current_password"})


class Submission(msgspec.Struct, frozen=True):
    """One sending of a form that has a token."""

    claim: FormClaim
    # What is added to where it leads, so that the next page says what was done.
    done: str = ""

    def leads_to(self, address: str) -> str:
        """Return where the browser goes, so that the page there says what was done."""
        return add_done(address, self.done)


class SentBefore(Exception):
    """The form came before; what became of it may not be known yet."""

    def __init__(self, first: SentForm) -> None:
        super().__init__()
        self.first = first


class SentAlready(WrongState):
    """The form was done before, and cannot simply be answered again; `link` shows what it did."""

    def __init__(self, message: str, link: str = "") -> None:
        super().__init__(message)
        self.link = link


class _StoredAnswer(msgspec.Struct, frozen=True):
    """A page that a form showed, as it is sealed."""

    status: int
    headers: dict[str, str]
    body: str


_read_answer: Final = msgspec.json.Decoder(_StoredAnswer).decode


def add_done(address: str, done: str) -> str:
    """Return an address with the name of a form action that its page tells of."""
    return f"{address}{'&' if '?' in address else '?'}done={done}" if done else address


class OnceOnly:
    """Lets each form be done once."""

    def __init__(self, services: PageServices) -> None:
        self._services = services

    def identify(
        self, request: Request, person: Person, sent: Sent, *, done: str
    ) -> Submission | None:
        """Return which form this is; None for one without a token, such as that of an old page."""
        token = sent.text(ONCE)
        if self._services.forms.read_once(token) != person.id:
            return None
        fingerprint = self._services.forms.digest(*_list_contents(request, sent))
        return Submission(FormClaim(person.id, token, fingerprint), done)

    def find(self, submission: Submission | None) -> SentForm | None:
        """Return what became of the form if it came before."""
        if submission is None:
            return None
        with self._services.database.reading() as db:
            return find_form(db, submission.claim)

    def begin(self, db: Connection, submission: Submission | None) -> None:
        """Claim a form in the transaction of its action; raise `SentBefore` if it came before."""
        if submission is None:
            return
        now = self._services.clock()
        if claim_form(db, submission.claim, now=now, until=now + _RUNS_AT_MOST):
            return
        first = find_form(db, submission.claim)
        if first is not None:
            raise SentBefore(first)

    @contextmanager
    def alone(self, submission: Submission | None) -> Iterator[None]:
        """Claim a form whose action makes its own transactions; let it come again if it is refused."""
        if submission is None:
            yield
            return
        with self._services.database.writing() as db:
            self.begin(db, submission)
        try:
            yield
        except BaseException:
            with self._services.database.writing() as db:
                release_form(db, submission.claim, now=self._services.clock())
            raise

    def finish(self, db: Connection, submission: Submission | None, answer: Response) -> None:
        """Write down what a form came to."""
        if submission is None:
            return
        now, claim = self._services.clock(), submission.claim
        location = answer.headers.get("location", "")
        page = "" if location else _write_page(answer)
        if not location and not page:
            # A file, which can be made again.
            release_form(db, claim, now=now)
            return
        sealed = seal(db, self._services.vault, page, about=about_answer(claim)) if page else None
        finish_form(db, claim, location=location, answer=sealed, now=now)

    def answer_again(self, submission: Submission, first: SentForm) -> Response | None:
        """Answer a form as it was answered before; return None while it is still being worked on.

        Raise `SentAlready` if somebody has to look first.
        """
        now = self._services.clock()
        if first.finished_at is None and now < first.claimed_until:
            return None
        at = f"{first.created_at:%H:%M}"
        if first.fingerprint != submission.claim.fingerprint:
            raise SentAlready(_CHANGED.format(at=at), first.location or "")
        if first.location:
            return send_on(first.location)
        if first.finished_at is None:
            raise SentAlready(_INTERRUPTED.format(at=at))
        answer, about = first.answer, about_answer(submission.claim)
        is_late = now >= first.finished_at + KEEP_ANSWERS
        # A key that was replaced since may be gone.
        if is_late or not answer or not self._services.vault.can_open(answer, about=about):
            raise SentAlready(_SHOWN.format(at=at))
        page = _read_answer(self._services.vault.open(answer, about=about))
        return HTMLResponse(page.body, page.status, page.headers)


def remember(db: Connection, submission: Submission | None, location: str) -> None:
    """Write down where a form leads, in the transaction of an action that makes several."""
    if submission is not None:
        note_location(db, submission.claim, submission.leads_to(location))


def _list_contents(request: Request, sent: Sent) -> list[str]:
    contents = [request.scope["path"], request.url.query]
    for name in sorted(sent.fields):
        if name not in _NOT_COMPARED:
            contents += [name, *sent.fields[name]]
    for name in sorted(sent.files):
        contents.append(name)
        contents += [f"{file.filename} {file.size}" for file in sent.files[name]]
    return contents


def _write_page(answer: Response) -> str:
    """Return a page as it can be stored; empty if it is none, or too large."""
    is_page = answer.headers.get("content-type", "").startswith("text/html")
    body = bytes(getattr(answer, "body", b""))
    if not is_page or not body or len(body) > _LARGEST_ANSWER:
        return ""
    headers = {
        name: value
        for name, value in answer.headers.items()
        if name not in {"content-length", "set-cookie"}
    }
    return msgspec.json.encode(_StoredAnswer(answer.status_code, headers, body.decode())).decode()


_CHANGED: Final = (
    "You sent this form at {at} UTC already, with something else in it, and that was done. To do it "
    "again with what is in the form now, send it once more."
)
_INTERRUPTED: Final = (
    "You sent this form at {at} UTC already, and the service was interrupted before it answered. Look "
    "whether it was done; if not, send the form once more."
)
_SHOWN: Final = "You sent this form at {at} UTC already, and it was done. What it showed then is not shown again."
