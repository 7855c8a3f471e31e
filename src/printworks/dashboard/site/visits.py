"""Somebody who is signed in, at a page: what the page gets to know, and how it answers."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, NoReturn, Self
from urllib.parse import urlencode

import msgspec
from sqlalchemy import Connection
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from printworks.dashboard.site.forms import Sent, read_number
from printworks.dashboard.site.navigation import list_places
from printworks.dashboard.site.rendering import render
from printworks.dashboard.site.services import PageServices
from printworks.rules.people import MAY, Duty, is_proved
from printworks.store.accounts.audit import record
from printworks.store.accounts.merchants import Merchant
from printworks.store.accounts.people import Person
from printworks.store.accounts.sessions import Session
from printworks.wire.links import Links


class PageLinks(NamedTuple):
    """Where else a list can be seen: from its beginning, and from where it goes on; else empty."""

    first: str
    next: str


class Visit(msgspec.Struct, frozen=True, kw_only=True):
    """All that a page gets to know: who asks, for what, and what it may reach."""

    services: PageServices
    request: Request
    person: Person
    session: Session
    # The real time. A merchant may have another one: see `MerchantVisit.now`.
    real_now: datetime
    # None for a deed that makes its own transactions.
    connection: Connection | None
    sent: Sent = Sent()
    # Why what was asked was not done, and what was done before this page.
    problem: str = ""
    done: str = ""
    # Whether this page is one of somebody who has just given a wrong password.
    is_proof_wrong: bool = False

    @property
    def db(self) -> Connection:
        """The transaction of this visit."""
        if self.connection is None:
            message = "This deed makes its own transactions."
            raise RuntimeError(message)
        return self.connection

    @property
    def path(self) -> str:
        """Where the page is."""
        return str(self.request.scope["path"])

    @property
    def query(self) -> Mapping[str, str]:
        """What stands behind the question mark."""
        return self.request.query_params

    @property
    def form_token(self) -> str:
        """What forms of this session carry."""
        return self.services.forms.make_token(f"session {self.session.hash}")

    @property
    def needs_proof(self) -> bool:
        """Whether the password must be given once more for what asks for it."""
        return not is_proved(self.session.proved_at, now=self.real_now)

    @property
    def links(self) -> Links:
        """Addresses of pictures, from wherever the page was asked for."""
        return self.services.links(self.db)

    def within(self, db: Connection) -> Self:
        """Return this visit in a transaction that its deed has made."""
        return msgspec.structs.replace(self, connection=db)

    def number(self, name: str) -> int:
        """Return a number from the path; what cannot be one is nobody's."""
        number = read_number(str(self.request.path_params[name]))
        return refuse_unknown() if number is None else number

    def cursor(self, name: str = "before") -> int | None:
        """Return where a list goes on, or None for its beginning."""
        return read_number(self.query.get(name, ""))

    def pages(self, following: object, *, by: str = "before", **kept: object) -> PageLinks:
        """Return where else a list can be seen, of which the next page has this parameter."""
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

    def is_unchanged(self, etag: object) -> bool:
        """Say whether a page that looks again by itself has shown all of this already."""
        return "hx-request" in self.request.headers and self.query.get("seen") == str(etag)

    def note(
        self, action: str, subject: str = "", *, merchant_id: int | None = None, **details: Any
    ) -> None:
        """Write down who did this, in the same transaction; perhaps to whose affairs."""
        client = self.request.client
        record(
            self.db,
            at=self.real_now,
            merchant_id=merchant_id or self.person.merchant_id,
            realm=self.person.realm,
            who=self.person.email,
            action=action,
            subject=subject,
            details=details,
            address=client.host if client else "",
            request_id=self.request.state.request_id,
        )

    def may(self, duty: Duty) -> bool:
        """Say whether it is this person's duty."""
        return duty in MAY[self.person.role]

    def render(self, template: str, *, status: int = 200, **facts: Any) -> Response:
        """Return a page with everything around it."""
        if self.problem and status == 200:
            status = 403 if self.is_proof_wrong else 400
        return render(
            template,
            status=status,
            with_script=True,
            visit=self,
            places=list_places(self.person, self.path, is_sandbox=self.services.is_sandbox),
            environment=self.services.settings.environment,
            **facts,
        )


class MerchantVisit(Visit, frozen=True, kw_only=True):
    """Somebody at a page of a merchant."""

    merchant: Merchant

    @property
    def now(self) -> datetime:
        """The merchant's time."""
        return self.real_now + self.merchant.clock_offset


class ConsoleVisit(Visit, frozen=True, kw_only=True):
    """Somebody at a page of the operator."""


def refuse_unknown() -> NoReturn:
    """Answer that there is nothing at this address, or nothing of this merchant."""
    raise HTTPException(404)
