"""A request of a person who is signed in: what the page knows, and how it answers."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple, NoReturn, Self
from urllib.parse import urlencode

import msgspec
from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from printworks.actions.work import Actor, SystemWork, Work
from printworks.dashboard.site.bell import Bell, read_bell
from printworks.dashboard.site.forms import Sent, read_number
from printworks.dashboard.site.kept_forms import KeptContent
from printworks.dashboard.site.navigation import list_links
from printworks.dashboard.site.once import Submission, remember
from printworks.dashboard.site.refilling import refill
from printworks.dashboard.site.rendering import render
from printworks.dashboard.site.services import PageServices
from printworks.rules.people import MAY, Duty, is_proved
from printworks.rules.shops import UTC_ZONE
from printworks.store.accounts.merchants import Merchant
from printworks.store.accounts.people import Person
from printworks.store.accounts.sessions import Session
from printworks.store.accounts.shops import read_time_zone
from printworks.wire.links import Links

LONGEST_SEARCH: Final = 200


class NothingNew(Exception):
    """The page that refreshes itself shows everything already; the answer is empty."""


class PageLinks(NamedTuple):
    """The addresses of the first and the next page of a list; empty where there is none."""

    first: str
    next: str


class Visit(msgspec.Struct, frozen=True, kw_only=True):
    """What a page knows: the person, the request and the services."""

    services: PageServices
    request: Request
    person: Person
    session: Session
    # The real time. A merchant may have another one: see `MerchantVisit.now`.
    real_now: datetime
    # None for a form action that makes its own transactions.
    connection: Connection | None
    sent: Sent = Sent()
    # Why a form action was refused, and what was done before this page.
    problem: str = ""
    done: str = ""
    # What is wrong with which field; an empty name is the only field that the form has.
    wrong_fields: Mapping[str, str] = {}
    # Where to look instead of sending the form again.
    problem_link: str = ""
    # What was typed before the session ended, if it is shown again.
    kept: KeptContent | None = None
    # The form that was sent, if it has a token.
    submission: Submission | None = None
    # Whether a wrong password was just entered on this page.
    is_proof_wrong: bool = False
    # What each form action of the area requires, by its name.
    duties: Mapping[str, Duty] = {}

    @property
    def db(self) -> Connection:
        """The transaction of this visit."""
        if self.connection is None:
            message = "This form action makes its own transactions."
            raise RuntimeError(message)
        return self.connection

    @property
    def path(self) -> str:
        """Where the page is."""
        return str(self.request.scope["path"])

    @property
    def query(self) -> Mapping[str, str]:
        return self.request.query_params

    @property
    def form_token(self) -> str:
        """The token of this session's forms."""
        return self.services.forms.make_token(f"session {self.session.hash}")

    def make_once(self) -> str:
        """Return the token of one form, by which it is done once however often it is sent."""
        return self.services.forms.make_once(self.person.id)

    def remember(self, db: Connection, location: str = "") -> None:
        """Write down where a form leads, in the transaction of an action that makes its own.

        Whoever sends the form again is led there, even if this process dies now.
        """
        remember(db, self.submission, location or self.path)

    @property
    def needs_proof(self) -> bool:
        """Whether sensitive changes ask for the password again."""
        return not is_proved(self.session.proved_at, now=self.real_now)

    @property
    def links(self) -> Links:
        """Makes the addresses of pictures."""
        return self.services.links(self.db)

    def within(self, db: Connection) -> Self:
        """Return this visit in a transaction that its form action has made."""
        return msgspec.structs.replace(self, connection=db)

    def number(self, name: str) -> int:
        """Return a number from the path; answer 404 if it is none."""
        number = read_number(str(self.request.path_params[name]))
        return refuse_unknown() if number is None else number

    def cursor(self, name: str = "before") -> int | None:
        """Return where a page of a list begins, or None for the first page."""
        return read_number(self.query.get(name, ""))

    def pages(self, following: object, *, by: str = "before", **kept: object) -> PageLinks:
        """Return the links of a list, of which the next page has this parameter."""
        is_first = not self.query.get(by)
        return PageLinks(
            "" if is_first else self.here(**{by: None}),
            "" if following is None else self.here(**{by: following}, **kept),
        )

    def here(self, **changes: object) -> str:
        """Return the address of this page with some of its parameters changed or, if None, gone."""
        lasting = {name: self.query[name] for name in self.query if name not in {"seen", "done"}}
        wanted = {**lasting, **changes}
        kept = {name: value for name, value in wanted.items() if value not in {None, ""}}
        return f"{self.path}?{urlencode(kept)}" if kept else self.path

    @property
    def search_text(self) -> str:
        """What is searched for, without what no database takes."""
        text = self.query.get("q", "").replace("\0", "").encode("utf-8", "ignore").decode()
        return text.strip()[:LONGEST_SEARCH]

    def etag(self, *shown: object) -> str:
        """Return a tag that changes with what is shown; stop a refresh that would show nothing new."""
        etag = hashlib.blake2s(msgspec.json.encode(shown), digest_size=8).hexdigest()
        is_refresh = self.request.method == "GET" and "hx-request" in self.request.headers
        if is_refresh and self.query.get("seen") == etag:
            raise NothingNew
        return etag

    @property
    def actor(self) -> Actor:
        """Who acts, as the audit log names them."""
        client = self.request.client
        return Actor(self.person.realm, self.person.email, client.host if client else "")

    @property
    def system_work(self) -> SystemWork:
        """Work in the transaction of this visit that belongs to no merchant in particular."""
        return self.system_work_in(self.db)

    def system_work_in(self, db: Connection) -> SystemWork:
        """Begin work that belongs to no merchant in particular, in a transaction of its own."""
        return self.services.system_work(db, self.actor, self.request.state.request_id)

    def work_for(self, merchant: Merchant) -> Work:
        """Work in the transaction of this visit for a merchant."""
        return self.system_work.for_merchant(merchant)

    @property
    def own_work(self) -> SystemWork:
        """Work on this person's own settings, in the transaction of this visit."""
        return self.system_work

    @property
    def is_quarantined(self) -> bool:
        """Whether the person should know that nothing leaves the service."""
        return False

    @property
    def bell(self) -> Bell | None:
        """How much the person has not seen; None where there is no bell."""
        return None

    @property
    def time_zone(self) -> str:
        """The time zone of the dates that the person sees."""
        return UTC_ZONE

    @property
    def time_zone_name(self) -> str:
        """The time zone as people read it."""
        return self.time_zone.replace("_", " ")

    def may(self, duty: Duty) -> bool:
        """Say whether the person's role includes a duty."""
        return duty in MAY[self.person.role]

    def may_do(self, form_action: str) -> bool:
        """Say whether the person's role includes what a form action requires."""
        return self.may(self.duties.get(form_action, Duty.LOOK))

    def render(self, template: str, *, status: int = 200, **facts: Any) -> Response:
        """Return a page with everything around it."""
        if self.problem and status == 200:
            status = 403 if self.is_proof_wrong else 400
        answer = render(
            template,
            status=status,
            with_script=True,
            time_zone=self.time_zone,
            visit=self,
            places=list_links(self.person, self.path, is_sandbox=self.services.is_sandbox),
            environment=self.services.settings.environment,
            bell=self.bell,
            **facts,
        )
        if self.problem or self.kept:
            self._refill(answer)
        return answer

    def _refill(self, answer: Response) -> None:
        """Fill the form in again that was sent, and say at the field what is wrong with it."""
        page = refill(bytes(answer.body).decode(), self.sent, self.wrong_fields)
        answer.body = page.encode()
        answer.headers["content-length"] = str(len(answer.body))


class MerchantVisit(Visit, frozen=True, kw_only=True):
    """A visit to the merchant area."""

    merchant: Merchant

    @property
    def time_zone(self) -> str:
        """The time zone of the merchant, also for a form action that makes its own transactions."""
        if self.connection is not None:
            return read_time_zone(self.connection, self.merchant.id)
        with self.services.database.reading() as db:
            return read_time_zone(db, self.merchant.id)

    @property
    def now(self) -> datetime:
        """The merchant's time."""
        return self.real_now + self.merchant.clock_offset

    @property
    def work(self) -> Work:
        """Work in the transaction of this visit."""
        return self.work_for(self.merchant)

    @property
    def bell(self) -> Bell | None:
        """How much the person has not seen."""
        return read_bell(self.db, self.person, self.merchant.id)

    @property
    def own_work(self) -> Work:
        """Work on this person's own settings, audited for their merchant."""
        return self.work

    def work_in(self, db: Connection) -> Work:
        """Begin work in a transaction of its own."""
        return self.system_work_in(db).for_merchant(self.merchant)


class ConsoleVisit(Visit, frozen=True, kw_only=True):
    """A visit to the operator area."""

    @property
    def is_quarantined(self) -> bool:
        """Whether nothing leaves the service; the page about it says so itself."""
        return self.path != "/console/quarantine" and self.services.quarantine.is_on()


def refuse_unknown() -> NoReturn:
    """Answer 404: there is nothing at this address, or nothing of this merchant."""
    raise HTTPException(404)
