"""From a whole request to a whole answer: who asks, what for, in one transaction."""

from collections.abc import Callable, Mapping
from typing import Final

import structlog
from sqlalchemy import Connection

from printworks.api.answers import render
from printworks.api.bodies import close_files, parse_body, parse_form
from printworks.api.credentials import Credentials
from printworks.api.endpoints import Call, Endpoint, Family
from printworks.api.exchange import Request, Response
from printworks.api.idempotency import answer_once
from printworks.clock import Clock
from printworks.errors import BadCredentials, ServiceError
from printworks.settings import Settings
from printworks.store.database import Database
from printworks.store.merchants import Merchant
from printworks.wire.reading import by_lower_name

log = structlog.get_logger(__name__)

_CHALLENGE: Final = ("WWW-Authenticate", 'ApiKey realm="Printworks"')


class Service:
    """Answers requests; safe to use from many threads."""

    def __init__(self, database: Database, settings: Settings, clock: Clock) -> None:
        self._database = database
        self._public_url = settings.public_url
        self._clock = clock
        self._credentials = Credentials(database, settings.header_prefix)

    def answer(
        self, family: Family, endpoint: Endpoint, path: Mapping[str, str], request: Request
    ) -> Response:
        """Do what is asked, or say why not."""

        def refuse(refusal: ServiceError) -> Response:
            return self._refuse_with(refusal, family, endpoint, request)

        try:
            perform = self._change if endpoint.writes else self._look
            return perform(endpoint, path, request, refuse)
        except ServiceError as refusal:
            return refuse(refusal)
        except Exception:
            log.exception("request failed", request_id=request.request_id, path=endpoint.path)
            message = f"Something went wrong here. Quote the request id {request.request_id}."
            return self.refuse(family, endpoint, request, 500, message)

    def refuse_stranger(
        self, family: Family, endpoint: Endpoint, request: Request
    ) -> Response | None:
        """Refuse wrong credentials before a large body is read; None if they are right."""
        try:
            shown = self._credentials.read(request.headers)
            self._credentials.verify_quickly(shown, now=self._clock())
        except ServiceError as refusal:
            return self._refuse_with(refusal, family, endpoint, request)
        return None

    def refuse(
        self,
        family: Family,
        endpoint: Endpoint | None,
        request: Request,
        status: int,
        message: str,
        *headers: tuple[str, str],
    ) -> Response:
        """Write a refusal as the family does."""
        shape = family.refuse(endpoint, status, message)
        return render(status, shape, request.headers.get("accept", ""), headers)

    def _refuse_with(
        self, refusal: ServiceError, family: Family, endpoint: Endpoint, request: Request
    ) -> Response:
        is_stranger = isinstance(refusal, BadCredentials)
        status = endpoint.status_of(refusal)
        headers = (_CHALLENGE,) if is_stranger else ()
        return self.refuse(family, endpoint, request, status, refusal.message, *headers)

    def _look(
        self,
        endpoint: Endpoint,
        path: Mapping[str, str],
        request: Request,
        _refuse: Callable[[ServiceError], Response],
    ) -> Response:
        now = self._clock()
        shown = self._credentials.read(request.headers)
        merchant = self._credentials.verify_quickly(shown, now=now)
        query = parse_form(request.query) if request.query else {}
        with self._database.reading() as db:
            return self._perform(db, merchant, endpoint, path, request, query, {})

    def _change(
        self,
        endpoint: Endpoint,
        path: Mapping[str, str],
        request: Request,
        refuse: Callable[[ServiceError], Response],
    ) -> Response:
        shown = self._credentials.read(request.headers)
        # Strangers must not queue for the writer's place.
        known = self._credentials.verify_quickly(shown, now=self._clock())
        query = parse_form(request.query) if request.query else {}
        body = self._read_body(request, query)

        def perform(db: Connection) -> Response:
            merchant = self._credentials.verify(db, shown, now=self._clock())
            return self._perform(db, merchant, endpoint, path, request, query, body)

        try:
            if "idempotency-key" in request.headers:
                now = self._clock()
                return answer_once(self._database, known, request, perform, refuse, now=now)
            with self._database.writing() as db:
                return perform(db)
        finally:
            close_files(body)

    def _read_body(self, request: Request, query: Mapping[str, object]) -> object:
        content_type = request.headers.get("content-type", "")
        body = parse_body(content_type, request.body, request.upload)
        # Some clients send the fields of a PUT in its query string, with an empty body.
        return query if request.method == "PUT" and not body else body

    def _perform(
        self,
        db: Connection,
        merchant: Merchant,
        endpoint: Endpoint,
        path: Mapping[str, str],
        request: Request,
        query: Mapping[str, object],
        body: object,
    ) -> Response:
        call = Call(
            db=db,
            merchant=merchant,
            now=self._clock() + merchant.clock_offset,
            path=path,
            query=by_lower_name(query),
            body=body,
            public_url=self._public_url,
            request_id=request.request_id,
        )
        return render(200, endpoint.handler(call), request.headers.get("accept", ""))
